/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated SA that knows one port and its groups (IBA 15.2.5.17), and an IPoIB interface of the
 * host on that port, whose kernel joins when the interface comes up. The linker wraps the probe's
 * functions that read the host's interfaces.
 */
#ifndef IPOIB_TESTS_GROUP_SA_H
#define IPOIB_TESTS_GROUP_SA_H

#include "unit.h"

#include "probe/link/leave.h"

enum { GROUPS_MAX = 8 };

struct group_at_sa {
    uint8_t mgid[16];
    bool used, there;
    uint8_t held; /* JoinState of the port */
};

/* The host's interface: its port and partition, and whether it is up. */
struct host_of_test {
    bool up, wants_all; /* wants_all: it receives every group */
    unsigned port;
    uint16_t pkey;
    /*
     * At the SA's next Delete, before it takes effect: the interface comes up and its kernel joins
     * as FullMember.
     */
    bool comes_up_at_delete;
};

struct group_sa {
    struct group_at_sa groups[GROUPS_MAX];
    struct host_of_test host;
    bool hides_states;       /* returns members, but not their JoinState */
    uint16_t refuses_delete; /* status of its responses to a Delete; 0: none */
    bool refuses_again;      /* rejects joins after the interface came up */
    bool leaks; /* OpenSM keeps a group whose last port leaves as FullMember first (its PR 43) */
    unsigned deletes, sets;
};

/* The SA that the wrapped functions use. */
extern struct group_sa *group_sa;

/* Adds a group that exists. held: the port's JoinState in it (0: no member). */
struct group_at_sa *group_sa_add(const uint8_t *mgid, uint8_t held);
struct group_at_sa *group_sa_find(const uint8_t *mgid);
/* Returns the status of the response; record: SA_DATA_SIZE bytes. */
uint16_t group_sa_respond(const struct sa_query *q, uint8_t *record);

#endif
