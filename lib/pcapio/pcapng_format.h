/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Constants of pcapng files (draft-ietf-opsawg-pcapng): block types and options. A block is type,
 * length, body, length; an option is code, length, value. Body and value are padded to 4 bytes.
 */
#ifndef IPOIB_PCAPIO_PCAPNG_FORMAT_H
#define IPOIB_PCAPIO_PCAPNG_FORMAT_H

/*
 * Blocks with packets or their description, section 4: Section Header, Interface Description,
 * Simple Packet, Interface Statistics, Enhanced Packet; appendix A: the obsolete Packet.
 */
enum {
    BLOCK_IDB = 1,
    BLOCK_PB = 2,
    BLOCK_SPB = 3,
    BLOCK_ISB = 5,
    BLOCK_EPB = 6,
    BLOCK_SHB = 0x0a0d0d0a
};
/*
 * Other blocks that have a frame number in Wireshark: journal entry (11.1) and both kinds of custom
 * block (4.6).
 */
enum { BLOCK_JOURNAL = 9, BLOCK_CUSTOM = 0x00000bad };
#define BLOCK_CUSTOM_UNCOPIED 0x40000badu

/* bytes of a block besides its body; bytes of an option before its value */
enum { BLOCK_OVERHEAD = 12, OPTION_HEAD = 4 };

enum { OPT_END = 0, OPT_COMMENT = 1, SHB_USERAPPL = 4, EPB_FLAGS = 2, EPB_DROPCOUNT = 4 };
/* the link-layer errors in epb_flags (section 4.3.1) */
#define EPB_FLAGS_ERRORS 0xff000000u
enum { IF_NAME = 2, IF_DESCRIPTION = 3, IF_TSRESOL = 9, IF_TSOFFSET = 14 };
enum { ISB_IFRECV = 4, ISB_IFDROP = 5, ISB_FILTERACCEPT = 6, ISB_OSDROP = 7 };

#define PCAPNG_BYTE_ORDER 0x1a2b3c4du

#endif
