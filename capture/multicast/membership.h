/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The groups of the keeper process: finds them in the SA's table, joins them, reports them to the
 * capture, and leaves them.
 */
#ifndef CAPTURE_MEMBERSHIP_H
#define CAPTURE_MEMBERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "capture/multicast/groupevent.h"

struct keep {
    const char *device;
    unsigned port;
    uint16_t pkey;
    bool broadcast_only;
    struct umad_sa *sa;
    char error[256]; /* why the last request failed */
    struct sa_port sa_port;
    GHashTable *groups; /* struct joined_group, by MGID */
    int lock;
    const volatile int *stop; /* not 0: the keeper ends */
    gint64 busy;              /* microseconds that the SA worked on requests in this poll */
    bool silence_reported, down_reported;
};

/* Sends a message to the capture, on standard input. GROUP: NULL if the message has none. */
void membership_report(const struct keep *k, enum groupevent_kind kind,
                       const struct mc_group *group, int error);

/* Polls the SA: joins new groups and those whose membership was lost, and reports changes. */
void membership_refresh(struct keep *k);

/* All groups are joined again by the next membership_refresh(). */
void membership_forget(struct keep *k);

/* Leaves all groups, unless the SA does not answer. */
void membership_leave_all(struct keep *k);

#endif
