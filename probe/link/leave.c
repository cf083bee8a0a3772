/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaves a multicast group without harm to the host. See leave.h. */
#include "probe/link/leave.h"

#include "hca/client.h"
#include "hca/mcgroup.h"
#include "probe/link/hostif.h"
#include "probe/link/sa.h"
#include "probe/run/run.h"
#include "wire/mgid.h"

/*
 * The JoinState bits that the kernel may hold in the group for that interface. Linux is FullMember
 * of the broadcast group and of groups that the interface listens to. For groups that it sends to,
 * it is SendOnlyFullMember, or FullMember with older SMs. It is never NonMember or
 * SendOnlyNonMember.
 */
static uint8_t bits_of_interface(const char *interface, const struct joined *m)
{
    if (mgid_is_ipoib(m->mgid) && mgid_is_broadcast(m->mgid))
        return JOIN_FULL;
    if (m->made) /* the group is new, so the kernel cannot have sent to it before */
        return host_wants(interface, m->mgid) ? JOIN_FULL : 0;
    return JOIN_FULL | JOIN_SEND_ONLY_FULL;
}

/*
 * The added bits that an interface may use. The MGID contains the P_Key of its link (RFC 4391 §4).
 */
static uint8_t bits_of_host(const struct leaver *l, const struct joined *m, char **interface)
{
    *interface = host_interface_on(l->port, be16(m->mgid + MGID_PKEY));
    return *interface ? m->added & bits_of_interface(*interface, m) : 0;
}

/* Sends a request that changes the membership. */
static void change(const struct leaver *l, uint8_t method, const uint8_t *mgid, uint8_t join_state,
                   struct left *left)
{
    struct sa_query q = mc_query_state(method, mgid, l->port->gid, join_state);
    struct sa_response a;
    left->result = l->query(l->user, &q, &a);
    left->status = a.status;
    sa_response_clear(&a);
}

/* What the SA says about this port's JoinState in a group. */
struct join_state {
    bool known;
    uint8_t join_state;
};

static struct join_state query_held(const struct leaver *l, const uint8_t *mgid)
{
    struct sa_query q = mc_query_member(mgid, l->port->gid);
    struct sa_response a;
    struct join_state h = {.known = false};
    q.sm_key = l->sm_key;
    enum sa_result result = l->query(l->user, &q, &a);
    if (result == SA_SUCCESS && a.records->len >= MCM_SIZE)
        h.join_state = mc_member_read(a.records->data).join_state;
    /* JoinState 0: the SA hides it */
    h.known = h.join_state || (result == SA_REJECTED && a.status == SA_STATUS_NO_RECORDS);
    sa_response_clear(&a);
    return h;
}

/* Also false if the SA does not respond: a second join does no harm. */
static bool is_member(const struct leaver *l, const uint8_t *mgid, uint8_t join_state)
{
    return (query_held(l, mgid).join_state & join_state) == join_state;
}

/*
 * An SA refuses to delete what does not exist as invalid (IBA o15-0.1.14): the group is gone, or
 * the Delete was repeated because its response was lost.
 */
static bool is_gone(const struct leaver *l, const struct joined *m, const struct left *left)
{
    enum { REQ_INVALID = 0x0200 }; /* IBA 15.2.1.3 */
    if (left->result != SA_REJECTED || left->status != REQ_INVALID)
        return false;
    struct join_state h = query_held(l, m->mgid);
    return h.known && !(h.join_state & m->added);
}

/* Joins again for an interface that came up. */
static enum leaving rejoin(const struct leaver *l, const struct joined *m, uint8_t lost,
                           struct left *left)
{
    change(l, SA_SET, m->mgid, lost, left);
    return left->result == SA_SUCCESS ? LEAVE_REJOINED : LEAVE_NOT_REJOINED;
}

enum leaving leave_group(const struct leaver *l, const struct joined *m, struct left *left)
{
    *left = (struct left){.result = SA_SUCCESS};
    if (bits_of_host(l, m, &left->interface))
        return LEAVE_IN_USE;
    g_free(left->interface);
    change(l, SA_DELETE, m->mgid, m->added, left);
    /*
     * An interface that came up in the meantime may have joined before the SA processed the Delete.
     */
    uint8_t lost = bits_of_host(l, m, &left->interface);
    if (lost && !is_member(l, m->mgid, lost))
        return rejoin(l, m, lost, left);
    g_clear_pointer(&left->interface, g_free);
    return left->result == SA_SUCCESS || is_gone(l, m, left) ? LEFT : LEAVE_FAILED;
}
