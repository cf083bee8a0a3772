/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subnet administrator that knows one port and its groups (IBA 15.2.5.17), and an IPoIB interface
 * of the host on it, whose kernel joins when the interface comes up. The probe's looks at the host
 * end here (the linker wraps them).
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

/* The interface: of which port and partition, and whether it is up. */
struct host_of_test {
    bool up, wants_all; /* wants_all: it listens to every group */
    unsigned port;
    uint16_t pkey;
    /* At the SA's next Delete, before it is done: it comes up, and its kernel is FullMember. */
    bool comes_up_at_delete;
};

struct group_sa {
    struct group_at_sa groups[GROUPS_MAX];
    struct host_of_test host;
    bool hides_states;  /* it tells of members, but not how they joined */
    bool refuses_again; /* joins, once the interface came up */
    unsigned deletes, sets;
};

/* What the linker's wraps look at. */
extern struct group_sa *group_sa;

/* A group that is there, held by the port so (0: not at all). */
struct group_at_sa *group_sa_add(const uint8_t *mgid, uint8_t held);
struct group_at_sa *group_sa_find(const uint8_t *mgid);
/* The answer's status; record: SA_DATA_SIZE octets. */
uint16_t group_sa_answer(const struct sa_question *q, uint8_t *record);

#endif
