/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of a datagram: ownership of the GIDs in the link-layer addresses that ARP and Neighbour
 * Discovery announce (RFC 4391 section 9.1.1), and the IP addresses.
 */
#ifndef IPOIB_MODEL_ADDRESS_H
#define IPOIB_MODEL_ADDRESS_H

#include "model/fabric.h"

/*
 * OWN: a GID of the sending port. ALIAS: made of an alias GUID of it, as the SA said; a virtual
 * function may have it as its port GUID (IBA 4.1.1). OWN_GUID: the GID is not known, but its lower
 * half is the sender's GUID. OTHERS: a GID of another port. OTHERS_NAMED: a GID of another port,
 * unless a request to the SA shows that it moved to the sender; such a request may not have been
 * captured. NO_PORT: no known port has it.
 */
enum whose {
    WHOSE_OWN,
    WHOSE_OWN_GUID,
    WHOSE_ALIAS,
    WHOSE_OTHERS,
    WHOSE_OTHERS_NAMED,
    WHOSE_NO_PORT,
    WHOSE_UNKNOWN
};

/* Does the port that sent the packet own the GID? */
enum whose fabric_whose_gid(const struct fabric_facts *f, const struct packet *p,
                            const uint8_t *gid);

/*
 * Read source and destination of an IPv4 or IPv6 datagram with encapsulation header. false: it is
 * none, or is truncated before their end.
 */
bool datagram_ips(const struct datagram *d, struct ip *source, struct ip *destination);

/*
 * The use of the holder's earlier QPN, or of its new one, by the packet's sender, to look it up
 * (model/stale.h).
 */
static inline struct stale_use stale_use_by(const struct packet *p, const struct neighbour *holder,
                                            uint32_t to_qpn)
{
    return (struct stale_use){.link = holder->link,
                              .ip = holder->ip,
                              .lid = port_to_lid(p->src),
                              .qpn = p->ib.sqpn,
                              .taken_frame = holder->taken_frame,
                              .to_qpn = to_qpn};
}

#endif
