/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups that multicast mode listens to, and the queue pair that is attached to them. */
#ifndef CAPTURE_LISTEN_H
#define CAPTURE_LISTEN_H

#include <glib.h>
#include "capture/multicast/multicast.h"

struct listened {
    struct mc_group group;
    bool attached;
    bool gone; /* deleted; kept for frames received before the deletion */
};

/* Attaches the queue pair to the group, if there is one and the Q_Key is the link's. */
void listen_attach(struct multicast *m, struct listened *l);
void listen_detach(struct multicast *m, struct listened *l);

/* Reports, once, a group whose Q_Key is not the link's. */
void listen_report_qkey(struct multicast *m, struct listened *l);

/* Calls ACT with each group. */
void listen_for_all(struct multicast *m, void (*act)(struct multicast *, struct listened *));

/* Creates the queue pair in state RTR, without receives. */
struct refusal listen_make_qp(struct multicast *m, uint32_t qkey);
/* Destroys the queue pair, if there is one. */
void listen_drop(struct multicast *m);

/*
 * Creates the queue pair, posts receives and attaches all groups. Returns false and sets ERROR if
 * that fails.
 */
bool listen_start(struct multicast *m, GError **error);
/*
 * Replaces the queue pair and the completion queue. Returns false and sets ERROR if that fails.
 */
bool listen_restart(struct multicast *m, GError **error);

#endif
