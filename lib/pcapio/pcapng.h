/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds blocks of pcapng files (draft-ietf-opsawg-pcapng), always little-endian. The functions do
 * no input or output, so each writer can buffer blocks in its own way.
 */
#ifndef IPOIB_PCAPIO_PCAPNG_H
#define IPOIB_PCAPIO_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PCAPNG_EPB_HEAD_LEN = 28, /* an Enhanced Packet Block up to the packet data */
    PCAPNG_COMMENT_MAX = 200, /* maximum bytes of a packet comment; longer ones are truncated */
    /*
     * After the packet data: at most 3 pad bytes, comment, flags, drop count, end of options,
     * length.
     */
    PCAPNG_EPB_TAIL_MAX = 3 + 4 + PCAPNG_COMMENT_MAX + 8 + 12 + 4 + 4,
    /* an Interface Statistics Block as pcapng_put_isb writes it */
    PCAPNG_ISB_LEN = 12 + 12 + 3 * 12 + 4,
    PCAPNG_ISB_FILTERED_LEN = PCAPNG_ISB_LEN + 12, /* with isb_filteraccept */
};

/*
 * Writes a Section Header Block of unknown section length; APPLICATION is shb_userappl. Returns its
 * length in bytes, or 0 if it is longer than ROOM.
 */
size_t pcapng_put_shb(uint8_t *out, size_t room, const char *application);

/* Like pcapng_put_shb, with a comment (NULL: none). */
size_t pcapng_put_section(uint8_t *out, size_t room, const char *application, const char *comment);

/*
 * Functions for other blocks. pcapng_put_option writes an option at AT (OPTION_HEAD and LEN bytes,
 * padded to 4) and returns the position after it. pcapng_close_block writes type and both lengths
 * of a BLOCK of LEN bytes, which includes the final 4 bytes for the length, and returns LEN.
 */
uint8_t *pcapng_put_option(uint8_t *at, uint16_t code, const void *value, uint16_t len);
/* Like pcapng_put_option, a comment of at most MAX bytes; a longer one is truncated. */
uint8_t *pcapng_put_comment(uint8_t *at, const char *comment, uint16_t max);
size_t pcapng_close_block(uint8_t *block, uint32_t type, size_t len);

/*
 * Writes an Interface Description Block: LINKTYPE, SNAPLEN in bytes (0: no limit), timestamps in
 * nanoseconds (if_tsresol 9), NAME for if_name or NULL. Returns its length in bytes, or 0 if it is
 * longer than ROOM.
 */
size_t pcapng_put_idb(uint8_t *out, size_t room, uint16_t linktype, uint32_t snaplen,
                      const char *name);

/* Contents of an Interface Description Block. Strings that are NULL are omitted. */
struct pcapng_idb {
    uint16_t linktype;
    uint32_t snaplen; /* bytes; 0: no limit */
    const char *name;
    const char *description; /* if_description */
    const char *comment;
};

/* Like pcapng_put_idb, with all fields. */
size_t pcapng_put_interface(uint8_t *out, size_t room, const struct pcapng_idb *idb);

/* Counts of an interface since the capture started. */
struct pcapng_isb {
    uint32_t interface;
    uint64_t time;     /* of the counts, ns since 1970 */
    uint64_t received; /* isb_ifrecv: packets received by the interface, including lost ones */
    uint64_t dropped;  /* isb_ifdrop: packets lost by the interface for lack of buffers */
    uint64_t lost;     /* isb_osdrop: packets lost later, by the capture program */
    bool filtered;     /* the program filters packets; accepted is valid */
    uint64_t accepted; /* isb_filteraccept: packets that pass the filter, including lost ones */
};

/* Writes an Interface Statistics Block. Returns its length in bytes. */
size_t pcapng_put_isb(uint8_t out[PCAPNG_ISB_FILTERED_LEN], const struct pcapng_isb *isb);

enum { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 }; /* epb_flags, bits 0 and 1 */

/* Fields of an Enhanced Packet Block. */
struct pcapng_epb {
    uint32_t interface;  /* number of the IDB in the section, from 0 */
    uint64_t time;       /* ns since 1970 */
    uint32_t caplen;     /* bytes in the file */
    uint32_t wirelen;    /* bytes on the wire */
    uint64_t dropped;    /* epb_dropcount: packets lost since the previous packet; 0: omitted */
    uint32_t flags;      /* epb_flags; 0: omitted */
    const char *comment; /* NULL: omitted */
    /* bytes of further options, which the caller writes after the padded data */
    uint32_t options_len;
};

/*
 * Write the two parts of an Enhanced Packet Block: head, then the caller writes caplen bytes of
 * packet data, then tail. pcapng_put_epb_tail returns the length of the tail in bytes. The padding
 * of the data is at the start of the tail; further options follow it.
 */
void pcapng_put_epb_head(uint8_t out[PCAPNG_EPB_HEAD_LEN], const struct pcapng_epb *epb);
size_t pcapng_put_epb_tail(uint8_t out[PCAPNG_EPB_TAIL_MAX], const struct pcapng_epb *epb);

#endif
