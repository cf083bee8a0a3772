/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of a subnet and the message that is being processed; only for the files of model/ that
 * process messages of the SA and the SM.
 */
#ifndef IPOIB_MODEL_SUBNET_STATE_H
#define IPOIB_MODEL_SUBNET_STATE_H

#include "model/subnet.h"
#include "model/write.h"

struct routes;      /* model/smps.h */
struct sa_requests; /* model/sa_requests.h */
struct sa_tables;   /* model/sa_tables.h */

/* The subnet manager of a subnet, the LID of the SA, and doubts about what it sent. */
struct manager {
    uint64_t master_guid;
    uint16_t sa_lid;
    struct sa_sequence sa_sequence;
    struct doubt doubt;
};

struct subnet {
    struct groups *groups;
    struct endports *endports;
    struct routes *routes;
    GPtrArray *managers; /* struct manager, by interface; NULL: none is known */
    struct sa_requests *requests;
    struct sa_tables *tables;
};

/* Find the manager, or add it. Interfaces are numbered from 0, so the array is as long as theirs.
 */
static inline struct manager *managers_get(GPtrArray *all, uint16_t interface)
{
    if (interface >= all->len)
        g_ptr_array_set_size(all, interface + 1);
    if (!g_ptr_array_index(all, interface))
        g_ptr_array_index(all, interface) = g_new0(struct manager, 1);
    return g_ptr_array_index(all, interface);
}

/* Context of the current message. */
struct delivery {
    struct subnet *s;
    const struct port *src, *dst;
    uint32_t frame;
    uint16_t interface;
    subnet_observer *observer;
    void *user;
};

/*
 * Learn from a message of the SA class; from one of them with MCMemberRecords (IBA 15.2.5.17), or
 * with records of ports (struct endport_said).
 */
void learn_sa_message(const struct delivery *d, const struct sa *sa);
void learn_member_records(const struct delivery *d, const struct sa *sa);
void learn_port_records(const struct delivery *d, const struct sa *sa);

/* Report an event of the message to the observer. */
void delivery_event(const struct delivery *d, struct subnet_event *e);

/* The endport at the port's LID, added if it is not known; NULL: no LID, or table full. */
struct endport *delivery_endport(const struct delivery *d, const struct port *p);

#endif
