/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log of every packet that the probe sends and receives, as frames. Frames are checked with the
 * same rules as a capture and, if requested, written to a pcapng file of ERF frames. Fields that an
 * adapter does not show to its user are filled in: PSN; CRCs (0).
 */
#ifndef IPOIB_PROBE_WIRELOG_H
#define IPOIB_PROBE_WIRELOG_H

#include <glib.h>

#include "pcapio/udframe.h"
#include "probe/link/transport.h"
#include "rules/checker.h"

struct wirelog;

/*
 * path NULL: no file. A file that exists is emptied before the first packet. Returns NULL and sets
 * ERROR if the file cannot be opened or created.
 */
struct wirelog *wirelog_new(const char *path, GError **error);
/* Whether the file still has the contents that it had before: no packet was written. */
bool wirelog_keeps_old(const struct wirelog *w);
/* Returns false and sets ERROR to the first error of writing if the file is incomplete. */
bool wirelog_free(struct wirelog *w, GError **error);

/*
 * Creates a separate log for one of several targets that are probed at the same time. It has its
 * own check context and comments, but writes into the same file. Because a check context is large,
 * frames that are logged before wirelog_check() are buffered.
 */
struct wirelog *wirelog_branch(struct wirelog *root);
void wirelog_join(struct wirelog *w);
/* Frames logged from now on are not buffered for later check contexts. */
void wirelog_settle(struct wirelog *w);

/*
 * Reports findings to report from now on, with a new check context. It first checks the frames that
 * were logged before the first call (the link's groups), without reporting. report NULL: stop
 * checking.
 */
void wirelog_check(struct wirelog *w, const struct deviations *known, checker_report *report,
                   void *user);

/*
 * Name what the following frames belong to, and afterwards its outcome. Both become the frames'
 * comments in the file.
 */
void wirelog_begin(struct wirelog *w, const char *what);
void wirelog_end(struct wirelog *w, const char *outcome);

enum log_direction {
    LOG_SENT,
    LOG_RECEIVED,  /* from another station: updates the model, findings are not reported */
    LOG_OF_TARGET, /* from the entity under test: findings are reported */
    /*
     * In the entity's name, but from another port: not checked, so that the model learns nothing
     * false.
     */
    LOG_OF_IMPOSTOR,
};
void wirelog_ud_sent(struct wirelog *w, const struct transport *t, uint16_t pkey,
                     const struct ud_to *to, const uint8_t *bytes, uint32_t n);
/* qkey: the link's, with which the packet was received. mlid 0: unicast. */
void wirelog_ud_received(struct wirelog *w, const struct transport *t, uint16_t pkey, uint32_t qkey,
                         uint16_t mlid, const struct ud_from *from, enum log_direction direction);
/* A request to the SA, or its response. Both have a transaction ID of the log (sa.c). */
void wirelog_mad(struct wirelog *w, const struct transport *t, const uint8_t *mad,
                 enum log_direction direction);
/* The same for another port's GSI. ns: time since 1970; 0: now. */
struct log_gsi {
    uint16_t lid, pkey;
    uint8_t sl;
    int64_t ns;
};
void wirelog_gsi(struct wirelog *w, const struct transport *t, const struct log_gsi *g,
                 const uint8_t *mad, enum log_direction direction);

/* ---- wirelog_connection.c */

/*
 * Logs a connection's setup. The adapter's user sees only its result, not the messages, so the log
 * reconstructs them (cm_message.h). lid: the peer's, if the path is not known.
 */
void wirelog_connect(struct wirelog *w, const struct transport *t, struct cm_connection *c,
                     uint16_t lid);
/* Logs a DREQ from us or the peer, and the DREP if there was one. */
void wirelog_disconnect(struct wirelog *w, const struct transport *t, const struct cm_connection *c,
                        bool by_peer, bool answered);
/* Number for the next connection. */
uint32_t wirelog_number(struct wirelog *w);
/* Logs a message, split into packets of the path MTU. Advances the connection's PSNs. */
void wirelog_message(struct wirelog *w, const struct transport *t, struct cm_connection *c,
                     struct view bytes, enum log_direction direction);

/* Logs a frame; datagrams get consecutive PSNs. ns: since 1970; 0: now. */
void wirelog_frame(struct wirelog *w, const struct ud_heads *h, int64_t ns, const uint8_t *payload,
                   uint32_t n, enum log_direction direction);

#endif
