/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing pcapng files (draft-ietf-opsawg-pcapng): the blocks as octets, always little-endian. The functions
 * do no input or output, so that each writer can gather blocks in its own way.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>

enum {
    PCAPNG_EPB_HEAD_LEN = 28, /* an Enhanced Packet Block up to the packet */
    PCAPNG_EPB_TAIL_MAX =
        24, /* what follows the packet: at most 3 pad octets, an option, its end, the length */
};

/*
 * Section Header Block of unknown section length; APPLICATION goes into shb_userappl.
 * Returns its length in octets, or 0 if it is longer than ROOM.
 */
size_t pcapng_put_shb(uint8_t *out, size_t room, const char *application);

/*
 * Interface Description Block: LINKTYPE, SNAPLEN in octets (0: no limit), times in nanoseconds (if_tsresol
 * 9), NAME for if_name or NULL. Returns its length in octets, or 0 if it is longer than ROOM.
 */
size_t pcapng_put_idb(uint8_t *out, size_t room, uint16_t linktype, uint32_t snaplen, const char *name);

/* What an Enhanced Packet Block says about its packet. */
struct pcapng_epb {
    uint32_t interface; /* number of the section's IDB, from 0 */
    uint64_t time;      /* nanoseconds since 1970 */
    uint32_t caplen;    /* octets in the file */
    uint32_t wirelen;   /* octets on the wire */
    uint64_t dropped;   /* for epb_dropcount: packets lost since the packet before; 0 leaves it out */
};

/*
 * The two parts of an Enhanced Packet Block: head, then the packet's caplen octets, then tail.
 * pcapng_put_epb_tail returns the tail's length in octets.
 */
void pcapng_put_epb_head(uint8_t out[PCAPNG_EPB_HEAD_LEN], const struct pcapng_epb *epb);
size_t pcapng_put_epb_tail(uint8_t out[PCAPNG_EPB_TAIL_MAX], const struct pcapng_epb *epb);

#endif
