/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture judged frame by frame: each goes through the carrier, the decoder and the model of the
 * fabric to the checks that concern it. Frames of other protocols, and of other protocols'
 * connections, are never judged.
 *
 * What concerns a group, an address, a port or a connection is told once, and again when it
 * changes; what concerns one packet is told of each.
 */
#ifndef IPOIB_RULES_JUDGE_H
#define IPOIB_RULES_JUDGE_H

#include "model/observe.h"
#include "rules/check.h"
#include "rules/deviation.h"
#include "wire/carrier.h"

struct judge;

/*
 * What a check found in frame number frame; offsets count from the InfiniBand packet's begin, or
 * the datagram's.
 */
typedef void judge_report(void *user, uint32_t frame, const struct finding *f);

/* A frame as a capture file has it. */
struct capture_frame {
    uint32_t number;    /* from 1 */
    uint32_t interface; /* of the capture: what is seen on one is not known on another; 0 where
                           there is one */
    int linktype;       /* LINKTYPE_* of wire/carrier.h */
    int64_t ns;         /* since 1970 */
    struct view octets;
};

/*
 * fabric: what is known, shared with whoever decodes the same capture; NULL: one of the judge's
 * own. known: deviations that are told as such, NULL for none; it must outlive the judge.
 */
struct judge *judge_new(struct fabric *fabric, const struct deviations *known, judge_report *report,
                        void *user);
void judge_free(struct judge *j);

/*
 * For who has the next packet observed already, by the fabric of the judge. e: what that learnt.
 * true as below.
 */
bool judge_packet(struct judge *j, const struct packet *p, const struct events *e);

/*
 * The next frame of the capture. true: there was something of IPoIB in it, a datagram or a message
 * about it.
 */
bool judge_frame(struct judge *j, const struct capture_frame *f);

#endif
