/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every packet that the probe sends and receives, as a frame: judged by the rules that a capture is
 * judged by, and, where asked for, written to a pcapng file of ERF frames. What an adapter does not
 * tell its user is made up: PSN, CRCs (0).
 */
#ifndef IPOIB_PROBE_WIRELOG_H
#define IPOIB_PROBE_WIRELOG_H

#include "pcapio/udframe.h"
#include "probe/link/transport.h"
#include "rules/judge.h"

struct wirelog;

/* path NULL: no file. False after a message: it cannot be written. */
struct wirelog *wirelog_new(const char *path);
/* False after a message: the file is not whole. */
bool wirelog_free(struct wirelog *w);

/*
 * A log of its own for one of several that are asked at the same time, with its own judge and
 * comments, into the same file. What it takes before it has its judge, which is large, waits for
 * that.
 */
struct wirelog *wirelog_branch(struct wirelog *root);
void wirelog_join(struct wirelog *w);
/* What is logged from now on is not kept for judges that come later. */
void wirelog_settle(struct wirelog *w);

/*
 * From now on findings go to report, with a fresh judge that has heard all of what was logged
 * before the first call (the link's groups). NULL: to nobody.
 */
void wirelog_judge(struct wirelog *w, const struct deviations *known, judge_report *report,
                   void *user);

/*
 * What the frames that follow belong to, and, behind it, what came of it: their comments in the
 * file.
 */
void wirelog_begin(struct wirelog *w, const char *what);
void wirelog_end(struct wirelog *w, const char *outcome);

enum log_way {
    LOG_SENT,
    LOG_RECEIVED,   /* of somebody else: the judge learns from it, no finding is told */
    LOG_OF_SUBJECT, /* of whom the findings are wanted */
    /* In the subject's name, from another port: not judged, so that nothing false is learnt. */
    LOG_OF_IMPOSTOR,
};
void wirelog_ud_sent(struct wirelog *w, const struct transport *t, uint16_t pkey,
                     const struct ud_to *to, const uint8_t *octets, uint32_t n);
/* qkey: the link's, which it was received with. mlid 0: it came by unicast. */
void wirelog_ud_received(struct wirelog *w, const struct transport *t, uint16_t pkey, uint32_t qkey,
                         uint16_t mlid, const struct ud_from *from, enum log_way way);
/* A question to the SA (sent: the MAD as sent, without its header's numbers), or its answer. */
void wirelog_mad(struct wirelog *w, const struct transport *t, const uint8_t *mad,
                 enum log_way way);
/* The same to, or from, another port's GSI. ns: when, since 1970; 0: now. */
struct log_gsi {
    uint16_t lid, pkey;
    uint8_t sl;
    int64_t ns;
};
void wirelog_gsi(struct wirelog *w, const struct transport *t, const struct log_gsi *g,
                 const uint8_t *mad, enum log_way way);

/* ---- wirelog_connection.c */

/*
 * Of a connection's set-up and end the adapter's user learns what they came to, and not the
 * messages: they are made up again from that (cm_message.h). lid: the peer's, where the path
 * is not known.
 */
void wirelog_call(struct wirelog *w, const struct transport *t, struct call *c, uint16_t lid);
/* A DREQ of ours or of the peer's, and the DREP if there was one. */
void wirelog_hung_up(struct wirelog *w, const struct transport *t, const struct call *c,
                     bool by_peer, bool answered);
/* The next number of a call. */
uint32_t wirelog_number(struct wirelog *w);
/* A message, in the packets that the path's MTU makes of it. Counts the call's PSNs on. */
void wirelog_message(struct wirelog *w, const struct transport *t, struct call *c,
                     struct view octets, enum log_way way);

/* A frame; the PSNs of datagrams are counted up. ns: since 1970; 0: now. */
void wirelog_frame(struct wirelog *w, const struct ud_heads *h, int64_t ns, const uint8_t *payload,
                   uint32_t n, enum log_way way);

#endif
