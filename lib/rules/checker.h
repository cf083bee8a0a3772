/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a capture frame by frame: each frame is decoded, updates the model of the fabric, and is
 * passed to the checks that apply to it. Frames of other protocols and other protocols' connections
 * are not checked.
 *
 * Findings about a group, an address, a port or a connection are reported once, and again when they
 * change. Findings about a packet are reported for every packet.
 */
#ifndef IPOIB_RULES_CHECKER_H
#define IPOIB_RULES_CHECKER_H

#include "model/observe.h"
#include "rules/check.h"
#include "rules/deviation.h"
#include "wire/link_frame.h"

struct checker;

/*
 * Callback: a result in frame number frame; a claim is in the frame that proves it
 * (rules/claims/claim.h), an unproved one in its own frame. Offsets are bytes from the start of the
 * InfiniBand packet; without InfiniBand headers, from the start of the datagram.
 */
typedef void checker_report(void *user, uint32_t frame, const struct finding *f);

/* A frame of a capture file. */
struct capture_frame {
    uint32_t number; /* from 1 */
    /* capture interface, 0 if there is only one; the model keeps interfaces apart */
    uint32_t interface;
    int linktype; /* LINKTYPE_* of wire/link_frame.h */
    int64_t ns;   /* ns since 1970 */
    struct view bytes;
};

/*
 * fabric: a model shared with another decoder of the same capture; NULL: the checker creates its
 * own. known: deviations that are reported as known, NULL for none; it must outlive the checker.
 */
struct checker *checker_new(struct fabric *fabric, const struct deviations *known,
                            checker_report *report, void *user);
void checker_free(struct checker *c);

/*
 * muted: the findings of the next packets are not reported, and do not count as reported, so the
 * same finding in a later packet is reported. The packets still change the model.
 */
void checker_mute(struct checker *c, bool muted);

/* is_marked: the capture marks the next frames as received with errors. */
void checker_mark(struct checker *c, bool is_marked);

/*
 * Counts passes, which are most findings, instead of reporting them. passes: RULE_COUNT counters,
 * which must outlive the checker. A checker without them reports passes as the other findings.
 */
void checker_count_passes(struct checker *c, uint64_t *passes);

/*
 * Reports each proved claim twice: as one that is held, in its frame, and as one that stands, if no
 * packet of the next second shows that the order of the capture is wrong. Only the second counts.
 */
void checker_hold(struct checker *c);

/* Callback: a packet of checker_frame(), after its checks, and what the model learnt from it. */
typedef void checker_watch(void *user, const struct packet *p, const struct events *e);
void checker_watch_packets(struct checker *c, checker_watch *watch, void *user);

/*
 * Checks the next packet, which the caller has already passed to fabric_observe() with the same
 * fabric. e: the resulting events. Returns as checker_frame().
 */
bool checker_packet(struct checker *c, const struct packet *p, const struct events *e);

/*
 * Reports the failures that still wait for a proof (OUTCOME_UNPROVED), and the suspicions that
 * stand (OUTCOME_SUSPECTED), as if the capture ended after the last packet, each once. Further
 * packets may follow.
 */
void checker_report_waiting(struct checker *c);

/*
 * Decodes and checks the next frame of the capture. Returns true if it contains an IPoIB datagram
 * or a message about IPoIB.
 */
bool checker_frame(struct checker *c, const struct capture_frame *f);

#endif
