/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that were captured twice: a switch mirrors both ports of a link, or two capture points
 * see it. A retransmission of a connection looks the same. A copy teaches nothing: a port did not
 * send twice what was captured twice.
 *
 * A copy has the digest of an earlier packet. This is the ICRC with the PSN and the queue pairs if
 * the ICRCs of its source are right; else a hash of its contents. The fields that change on the way
 * do not count (IBA 7.8.1): the virtual lane, the VCRC, the BTH's Resv8a, and the GRH's traffic
 * class, flow label and hop limit.
 */
#ifndef IPOIB_MODEL_COPIES_H
#define IPOIB_MODEL_COPIES_H

#include "model/fabric.h"

/*
 * The last packets of a capture are remembered: a millisecond of a link that is full of small
 * packets. On one capture interface, a copy comes within COPIES_SECONDS or ORDER_FRAMES frames
 * (model/order.h): a sender that does not count PSNs may send the same again later.
 */
enum { COPIES = 1 << 12, COPIES_SECONDS = 1 };

struct copies;

struct copies *copies_new(void);
void copies_free(struct copies *c);

/* The digest of the packet; 0: the model learns nothing from such a packet. */
uint64_t packet_digest(const struct packet *p);

/* A packet that is remembered. */
struct captured {
    uint64_t digest; /* 0: unused */
    int64_t ns;
    uint32_t frame;
    uint16_t captured_on;
    uint16_t next; /* private to copies.c */
    struct classification is;
};

/*
 * The same packet of the same subnet, captured before; NULL: none. A corrupt packet may have the
 * ICRC of an intact one, and other contents. p->digest is set.
 */
const struct captured *copies_find(const struct copies *c, const struct interfaces *i,
                                   const struct packet *p);

/*
 * Is the packet of a connection certainly not sent again after a timeout? Then it comes at once, or
 * on another interface. The first: a result of copies_find().
 */
bool copies_is_at_once(const struct captured *first, const struct packet *p);

/*
 * Was the same packet captured on an interface of another subnet? Of the management datagrams, only
 * a NodeInfo counts: two subnet managers may begin with the same requests.
 */
bool copies_elsewhere(const struct copies *c, const struct interfaces *i, const struct packet *p,
                      uint16_t *interface);

/* Remember a packet that is no copy, as it is classified now. */
void copies_add(struct copies *c, const struct packet *p);

/* The packet was remembered, and is corrupt: the next one with its digest is no copy. */
void copies_forget(struct copies *c, const struct packet *p);

#endif
