/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evidence in packets that two capture interfaces see the same subnet or different ones
 * (model/interfaces.h).
 *
 * Same subnet: a response on one interface answers a request on the other (transaction IDs of SA,
 * SM and CM messages, with their LIDs or route), and neither interface shows both directions; or
 * both interfaces show the same port GUID at the same LID, or the same port of the master SM.
 *
 * Different subnets: the SM gives one LID to different ports on the two interfaces, or the master
 * SMs differ. Both must hold at the same time: a LID may be assigned to another port later, and
 * another SM may become master. In other packets, two GIDs at one LID prove nothing, because
 * virtual functions share a LID (IBA 4.1.1). The prefix fe80::/64 and an SM at LID 1 prove nothing
 * either: separate rails often have both.
 *
 * All tables have a fixed size. An overwritten entry counts as not seen.
 */
#ifndef IPOIB_MODEL_EVIDENCE_H
#define IPOIB_MODEL_EVIDENCE_H

#include <stdint.h>

#include "model/interfaces.h"
#include "model/port.h"
#include "wire/payload.h"

struct evidence;

/*
 * shown: called for each pair of interfaces with evidence. together: they see the same subnet; else
 * different ones. corrupt: is the current packet corrupt? Called only if the packet would show
 * something new, because it computes the ICRC.
 */
struct evidence_observer {
    void (*shown)(void *user, uint16_t a, uint16_t b, bool together);
    bool (*corrupt)(void *user);
    void *user;
};

/* Free with g_free(). */
struct evidence *evidence_new(const struct interfaces *interfaces);

/* A packet with complete headers, from port src to port dst. */
struct evidence_packet {
    const struct ib_packet *ib;
    const struct mad_payload *mad;   /* NULL: not a MAD */
    const struct datagram *datagram; /* NULL: a MAD */
    struct port src, dst;
};

/* Process the next packet, captured on the interface with this number. */
void evidence_see(struct evidence *e, uint16_t interface, const struct evidence_packet *p,
                  const struct evidence_observer *observer);

#endif
