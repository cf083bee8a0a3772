/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What packets show of the interfaces that they were captured on (model/interfaces.h).
 *
 * Two interfaces see the same subnet if a response on one answers a request on the other (the
 * transaction IDs of SA, SM and CM messages, with their LIDs or their route), or if both show the
 * same port GUID at the same LID, or the same port as the master SM's.
 *
 * They see two subnets if the SM gives a LID to one port on the one and to another on the other, or
 * if the master is another: both at a time, for a LID may be given to another port later, and
 * another SM may become the master. Other packets prove nothing by two GIDs of a LID: virtual
 * functions share one (IBA 4.1.1). Nor do the prefix fe80::/64 and SMs at LID 1, which two rails
 * have alike.
 *
 * All tables are of fixed size. What is overwritten is as what was not seen.
 */
#ifndef IPOIB_MODEL_EVIDENCE_H
#define IPOIB_MODEL_EVIDENCE_H

#include <stdint.h>

#include "model/interfaces.h"
#include "model/port.h"
#include "wire/payload.h"

struct evidence;

/*
 * shown: called for each pair of interfaces of which something is shown; together: or apart.
 * corrupt: is the packet? Asked only of one that would show something new: the answer costs its
 * ICRC.
 */
struct evidence_observer {
    void (*shown)(void *user, uint16_t a, uint16_t b, bool together);
    bool (*corrupt)(void *user);
    void *user;
};

struct evidence *evidence_new(const struct interfaces *interfaces);
void evidence_free(struct evidence *e);

/* A packet whose headers are whole, from port src to port dst. */
struct evidence_packet {
    const struct ib_packet *ib;
    const struct mad_payload *mad;   /* NULL: it has none */
    const struct datagram *datagram; /* NULL: it has none */
    struct port src, dst;
};

/* The next packet, captured on the interface with this number. */
void evidence_see(struct evidence *e, uint16_t interface, const struct evidence_packet *p,
                  const struct evidence_observer *observer);

#endif
