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

static enum sa_result query_member(const struct leaver *l, uint8_t method, const uint8_t *mgid,
                                   uint8_t join_state)
{
    struct sa_query q = mc_query_state(method, mgid, l->port->gid, join_state);
    struct sa_response a;
    enum sa_result result = l->query(l->user, &q, &a);
    sa_response_clear(&a);
    return result;
}

/* Also false if the SA does not respond: a second join does no harm. */
static bool is_member(const struct leaver *l, const uint8_t *mgid, uint8_t join_state)
{
    struct sa_query q = mc_query_member(mgid, l->port->gid);
    struct sa_response a;
    q.sm_key = l->sm_key;
    bool is = l->query(l->user, &q, &a) == SA_SUCCESS && a.records->len >= MCM_SIZE &&
              (mc_member_read(a.records->data).join_state & join_state) == join_state;
    sa_response_clear(&a);
    return is;
}

enum leaving leave_group(const struct leaver *l, const struct joined *m, char **interface)
{
    static const enum leaving of_result[] = {[SA_SUCCESS] = LEFT,
                                             [SA_REJECTED] = LEAVE_REFUSED,
                                             [SA_NO_RESPONSE] = LEAVE_UNCONFIRMED,
                                             [SA_BUSY] = LEAVE_UNCONFIRMED,
                                             [SA_ERROR] = LEAVE_UNCONFIRMED};
    if (bits_of_host(l, m, interface))
        return LEAVE_IN_USE;
    g_free(*interface);
    enum sa_result result = query_member(l, SA_DELETE, m->mgid, m->added);
    /*
     * An interface that came up in the meantime may have joined before the SA processed the Delete.
     */
    uint8_t lost = bits_of_host(l, m, interface);
    if (lost && !is_member(l, m->mgid, lost))
        return query_member(l, SA_SET, m->mgid, lost) == SA_SUCCESS ? LEAVE_REJOINED
                                                                    : LEAVE_NOT_REJOINED;
    g_free(*interface);
    *interface = NULL;
    return of_result[result];
}
