/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every packet that the probe sends and receives, as a frame: judged by the rules that a capture is judged by, and, where
 * asked for, written to a pcapng file of ERF frames. What an adapter does not tell its user is made up: PSN, CRCs (0).
 */
#ifndef IPOIB_PROBE_WIRELOG_H
#define IPOIB_PROBE_WIRELOG_H

#include "probe/transport.h"
#include "rules/judge.h"

struct wirelog;

/* path NULL: no file. False after a message: it cannot be written. */
struct wirelog *wirelog_new(const char *path);
/* False after a message: the file is not whole. */
bool wirelog_free(struct wirelog *w);

/*
 * From now on findings go to report, with a fresh judge that has heard all of what was logged before the first call
 * (the link's groups). NULL: to nobody.
 */
void wirelog_judge(struct wirelog *w, const struct deviations *known, judge_report *report, void *user);

/* What the frames that follow belong to, and, behind it, what came of it: their comments in the file. */
void wirelog_begin(struct wirelog *w, const char *what);
void wirelog_end(struct wirelog *w, const char *outcome);

enum log_way {
    LOG_SENT,
    LOG_RECEIVED,   /* of somebody else: the judge learns from it, no finding is told */
    LOG_OF_SUBJECT, /* of whom the findings are wanted */
};
void wirelog_ud_sent(struct wirelog *w, const struct transport *t, uint16_t pkey, const struct ud_to *to,
                     const uint8_t *octets, uint32_t n);
/* qkey: the link's, which it was received with. mlid 0: it came by unicast. */
void wirelog_ud_received(struct wirelog *w, const struct transport *t, uint16_t pkey, uint32_t qkey,
                         uint16_t mlid, const struct ud_from *from, enum log_way way);
/* A question to the SA (sent: the MAD as sent, without its header's numbers), or its answer. */
void wirelog_mad(struct wirelog *w, const struct transport *t, const uint8_t *mad, enum log_way way);

#endif
