/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Senders that use the earlier QPN of an IP address, although its port announced another one, until
 * they revalidate the entry of their ARP cache (RFC 4391 section 9.4); and those that use the new
 * one.
 */
#ifndef IPOIB_MODEL_STALE_H
#define IPOIB_MODEL_STALE_H

#include "model/neighbour.h"

struct stale_use {
    uint32_t link;
    struct ip ip;
    /* the sender; ports that share a LID (IBA 4.1.1) have different QPs */
    uint16_t lid;
    uint32_t qpn;
    uint32_t taken_frame; /* frame that announced the new QPN of the IP address */
    uint32_t to_qpn;      /* the earlier QPN or the new one */
    uint16_t interface;   /* capture interface of its first datagram to that QPN */
    int64_t ns;           /* time of this datagram, since 1970 */
};

struct stale_uses;

/* like: the members before `interface`. NULL: not seen. */
const struct stale_use *stale_use_of(const struct stale_uses *s, const struct stale_use *like);

#endif
