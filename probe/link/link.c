/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens an IPoIB link: partition, broadcast group, queue pair, membership. See link.h. */
#include "probe/link/link.h"

#include <string.h>

#include "cli/fail.h"
#include "hca/mcgroup.h"
#include "hca/pkeys.h"
#include "probe/link/groups.h"
#include "probe/link/message.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/put.h"
#include "wire/smp.h"

enum { SCOPE_FIRST = 2, SCOPE_LAST = 14 };
#define SM_KEY_OPENSM 1 /* default of OpenSM, and of saquery */

bool link_find_pkey(struct target *t, GError **error)
{
    const struct port_facts *f = &t->link->transport->facts;
    const struct interface_link *given = t->link->transport->interface;
    uint16_t wanted = t->link->choice ? t->link->choice->pkey : 0;
    if (!wanted && given)
        wanted = given->pkey;
    if (pkeys_find(f->pkeys, f->n_pkeys, wanted, &t->link->pkey_index)) {
        t->link->pkey = f->pkeys[t->link->pkey_index];
        return true;
    }
    if (given && !f->n_pkeys && ((wanted ^ given->pkey) & 0x7fff) == 0) {
        t->link->pkey = given->pkey; /* this namespace does not show the port's table */
        return true;
    }
    char *all = pkeys_text(f->pkeys, f->n_pkeys);
    fail_with(error, "%s port %u is not in partition 0x%04x; it has the P_Keys%s", f->device,
              f->port, wanted ? wanted : 0xffff, all);
    g_free(all);
    return false;
}

struct group_search link_search_broadcast(struct target *t, uint16_t pkey)
{
    struct group_search s = {.missing = true};
    uint8_t mgid[16];
    for (unsigned scope = SCOPE_FIRST; scope <= SCOPE_LAST && s.missing; scope++) {
        message_broadcast_mgid(mgid, (uint8_t)scope, pkey);
        s.result = group_get(t, mgid, &s.group, &s.status);
        s.missing = group_is_missing(s.result, s.status);
    }
    return s;
}

uint16_t link_other_partition(struct target *t)
{
    enum { OTHERS_SEARCHED = 16 };
    const struct port_facts *f = &t->link->transport->facts;
    for (unsigned i = 0; i < f->n_pkeys && i < OTHERS_SEARCHED && !target_ended(t); i++)
        if ((f->pkeys[i] & 0x7fff) && ((f->pkeys[i] ^ t->link->pkey) & 0x7fff) &&
            link_search_broadcast(t, f->pkeys[i]).result == SA_SUCCESS)
            return f->pkeys[i];
    return 0;
}

static void explain_search(const struct target *t, const struct group_search *s, GError **error)
{
    unsigned lid = t->link->transport->facts.sm_lid;
    if (s->missing)
        fail_with(error,
                  "there is no IPoIB broadcast group for P_Key 0x%04x (the SA says 0x%04x, %s)",
                  t->link->pkey, s->status, sa_status_name(s->status));
    else if (s->result == SA_REJECTED)
        fail_with(error,
                  "the SA does not say whether P_Key 0x%04x has a broadcast group: 0x%04x, %s",
                  t->link->pkey, s->status, sa_status_name(s->status));
    else if (s->result == SA_NO_RESPONSE && !t->run->sa.slow[0])
        fail_with(error, "the SA (LID %u) did not answer", lid);
    else if (s->result == SA_BUSY)
        fail_with(error, "the SA (LID %u) is busy: try again later", lid);
    else
        fail_with(error, "%s", sa_failure_text(t, s->result, s->status));
}

struct group_search link_find_broadcast(struct target *t, GError **error)
{
    struct group_search s = link_search_broadcast(t, t->link->pkey);
    t->link->no_group = s.missing;
    if (s.result == SA_SUCCESS)
        t->link->group = s.group;
    else
        explain_search(t, &s, error);
    return s;
}

uint32_t link_mtu(const struct probe_link *l)
{
    uint32_t bytes = ib_mtu_bytes(l->group.mtu);
    return bytes ? bytes - ENCAP_SIZE : 0;
}

/* With the SM's key the SA discloses members; with a wrong key it does not respond (IBA 15.4.1). */
void link_find_sm_key(struct target *t)
{
    struct member_state m;
    t->link->sm_key = SM_KEY_OPENSM;
    t->link->sm_key_result = group_member_state(t, t->link->group.mgid, &m);
    t->link->sm_key_status = m.status;
    t->link->outside = t->link->sm_key_result == SA_SUCCESS && !m.member;
    if (t->link->sm_key_result != SA_SUCCESS || !m.known)
        t->link->sm_key = 0;
}

static void make_own_address(struct probe_link *l)
{
    l->lladdr[LLADDR_FLAGS] = 0;
    put24(l->lladdr + LLADDR_QPN, l->transport->qpn);
    memcpy(l->lladdr + LLADDR_GID, l->transport->facts.gid, 16);
}

/* The group's attributes that this port does not support (IBA 15.2.5.17.3). */
static const char *beyond_port(const struct probe_link *l)
{
    const struct port_facts *f = &l->transport->facts;
    bool mtu = f->mtu && ib_mtu_bytes(l->group.mtu) > ib_mtu_bytes(f->mtu),
         rate = f->rate_100mbps && ib_rate_100mbps(l->group.rate) > f->rate_100mbps;
    return mtu && rate ? "; the group's MTU and rate are above this port's"
           : mtu       ? "; the group's MTU is above this port's"
           : rate      ? "; the group's rate is above this port's"
                       : "";
}

static bool join_broadcast(struct target *t, GError **error)
{
    struct mc_group g;
    uint16_t status = 0;
    enum sa_result result = group_join(t, t->link->group.mgid, JOIN_FULL, false, &g, &status);
    if (result == SA_SUCCESS)
        return true;
    if (group_join_is_refused(t, result))
        return fail_with(
            error, "the SA refuses to join this port to the broadcast group: status 0x%04x, %s%s",
            status, sa_status_name(status), beyond_port(t->link));
    return fail_with(error, "cannot join the broadcast group: %s",
                     sa_failure_text(t, result, status));
}

/* Uses the interface's link; the interface has already joined the group. Its Q_Key is not known. */
static bool take_interface_link(struct target *t, GError **error)
{
    struct probe_link *l = t->link;
    const struct interface_link *given = l->transport->interface;
    uint16_t wanted = l->choice ? l->choice->pkey : 0;
    if (wanted && ((wanted ^ given->pkey) & 0x7fff))
        return fail_with(error, "%s is in partition 0x%04x: name the interface that is in 0x%04x",
                         given->name, given->pkey, wanted);
    l->pkey = given->pkey;
    l->group = (struct mc_group){.mlid = LID_MULTICAST_FIRST,
                                 .pkey = given->pkey,
                                 .mtu = l->transport->facts.mtu,
                                 .scope = given->broadcast_mgid[MGID_FLAGS_SCOPE] & 0xf};
    memcpy(l->group.mgid, given->broadcast_mgid, 16);
    l->transport->ops->open_qp(l->transport, 0, 0);
    make_own_address(l);
    l->opened = true;
    return true;
}

bool link_open(struct target *t, GError **error)
{
    if (t->link->opened)
        return true;
    if (t->link->transport->interface)
        return take_interface_link(t, error);
    if (t->link->transport->facts.state != PORT_ACTIVE)
        return fail_with(error, "%s port %u is not active: see 'ipoib-probe fabric'",
                         t->link->transport->facts.device, t->link->transport->facts.port);
    if (!link_find_pkey(t, error) || link_find_broadcast(t, error).result != SA_SUCCESS)
        return false;
    if (t->link->transport->ops->open_qp(t->link->transport, t->link->pkey_index,
                                         t->link->group.qkey) != TRANSPORT_OK)
        return fail_with(error, "%s", t->link->transport->error);
    make_own_address(t->link);
    link_find_sm_key(t);
    if (!join_broadcast(t, error))
        return false;
    t->link->opened = group_attach(t, &t->link->group);
    return t->link->opened || fail_with(error, "%s", t->link->transport->error);
}

void link_report_not_left(struct probe_link *l, struct checked *j)
{
    char *not_left = groups_take_not_left(l);
    if (not_left)
        checked_add_stage(j, "link.leave", OUTCOME_INCONCLUSIVE, not_left,
                          "see the SM's log; the SM ends the port's memberships when it goes down");
    g_free(not_left);
}

void link_close(struct target *t)
{
    wirelog_begin(t->log, "link");
    groups_leave(t);
    wirelog_end(t->log, "left");
}
