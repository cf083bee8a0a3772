/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing pcapng files (draft-ietf-opsawg-pcapng): the blocks as octets, always little-endian. The
 * functions do no input or output, so that each writer can gather blocks in its own way.
 */
#ifndef IPOIB_PCAPIO_PCAPNG_H
#define IPOIB_PCAPIO_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PCAPNG_EPB_HEAD_LEN = 28, /* an Enhanced Packet Block up to the packet */
    PCAPNG_COMMENT_MAX = 200, /* octets of a packet's comment; longer ones are cut */
    /* What follows the packet: at most 3 pad octets, comment, flags, drop count, the options' end,
       the length. */
    PCAPNG_EPB_TAIL_MAX = 3 + 4 + PCAPNG_COMMENT_MAX + 8 + 12 + 4 + 4,
    /* an Interface Statistics Block as pcapng_put_isb writes it */
    PCAPNG_ISB_LEN = 12 + 12 + 3 * 12 + 4,
    PCAPNG_ISB_FILTERED_LEN = PCAPNG_ISB_LEN + 12, /* with isb_filteraccept */
};

/*
 * Section Header Block of unknown section length; APPLICATION goes into shb_userappl.
 * Returns its length in octets, or 0 if it is longer than ROOM.
 */
size_t pcapng_put_shb(uint8_t *out, size_t room, const char *application);

/* The same with a comment (NULL: none). */
size_t pcapng_put_section(uint8_t *out, size_t room, const char *application, const char *comment);

/*
 * For who writes a block of its own length: an option at AT (its octets: OPTION_HEAD and LEN,
 * padded to 4), the place behind it is returned; and, when all but the last 4 octets of the block
 * are there, its type and its two lengths. LEN of the block includes the last 4 octets.
 */
uint8_t *pcapng_put_option(uint8_t *at, uint16_t code, const void *value, uint16_t len);
size_t pcapng_close_block(uint8_t *block, uint32_t type, size_t len);

/*
 * Interface Description Block: LINKTYPE, SNAPLEN in octets (0: no limit), times in nanoseconds
 * (if_tsresol 9), NAME for if_name or NULL. Returns its length in octets, or 0 if it is longer than
 * ROOM.
 */
size_t pcapng_put_idb(uint8_t *out, size_t room, uint16_t linktype, uint32_t snaplen,
                      const char *name);

/* What an Interface Description Block says of its interface. Texts that are NULL are left out. */
struct pcapng_idb {
    uint16_t linktype;
    uint32_t snaplen; /* octets; 0: no limit */
    const char *name;
    const char *description; /* if_description */
    const char *comment;
};

/* As pcapng_put_idb, with all that there is to say. */
size_t pcapng_put_interface(uint8_t *out, size_t room, const struct pcapng_idb *idb);

/* Counts of an interface since the capture began. */
struct pcapng_isb {
    uint32_t interface;
    uint64_t time;     /* of the counts, nanoseconds since 1970 */
    uint64_t received; /* isb_ifrecv: packets that came to the interface, the lost ones included */
    uint64_t dropped;  /* isb_ifdrop: lost by the interface for want of buffers */
    uint64_t lost;     /* isb_osdrop: lost after it, by the capturing program */
    bool filtered;     /* the program selects packets: */
    uint64_t accepted; /* isb_filteraccept: packets that it wants, the lost ones included */
};

/* Returns the block's length in bytes. */
size_t pcapng_put_isb(uint8_t out[PCAPNG_ISB_FILTERED_LEN], const struct pcapng_isb *isb);

enum { PCAPNG_UNKNOWN = 0, PCAPNG_INBOUND = 1, PCAPNG_OUTBOUND = 2 }; /* epb_flags, bits 0 and 1 */

/* What an Enhanced Packet Block says about its packet. */
struct pcapng_epb {
    uint32_t interface; /* number of the section's IDB, from 0 */
    uint64_t time;      /* nanoseconds since 1970 */
    uint32_t caplen;    /* octets in the file */
    uint32_t wirelen;   /* octets on the wire */
    uint64_t dropped; /* for epb_dropcount: packets lost since the packet before; 0 leaves it out */
    uint32_t flags;   /* epb_flags; 0 leaves it out */
    const char *comment; /* NULL leaves it out */
};

/*
 * The two parts of an Enhanced Packet Block: head, then the packet's caplen octets, then tail.
 * pcapng_put_epb_tail returns the tail's length in octets.
 */
void pcapng_put_epb_head(uint8_t out[PCAPNG_EPB_HEAD_LEN], const struct pcapng_epb *epb);
size_t pcapng_put_epb_tail(uint8_t out[PCAPNG_EPB_TAIL_MAX], const struct pcapng_epb *epb);

#endif
