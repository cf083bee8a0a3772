/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing on an IPoIB link: partition, broadcast group, queue pair, membership. See probe.h. */
#include "probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "probe/message.h"
#include "probe/octets.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/smp.h"

enum { SCOPE_FIRST = 2, SCOPE_LAST = 14 };
#define SM_KEY_OPENSM 1 /* OpenSM's default, and what saquery takes */

bool link_find_pkey(struct probe *p, char *why, size_t size)
{
    const struct port_facts *f = &p->t->facts;
    GString *all = g_string_new(NULL);
    int found = -1;
    uint16_t wanted = p->options->pkey  ? p->options->pkey
                      : p->t->netdev[0] ? p->t->netdev_pkey
                      : f->n_pkeys      ? f->pkeys[0]
                                        : 0;
    for (unsigned i = 0; i < f->n_pkeys; i++) {
        uint16_t k = f->pkeys[i];
        if ((k & 0x7fff) == 0)
            continue;
        g_string_append_printf(all, " 0x%04x", k);
        /* the full member's form, where the port has both */
        if (((k ^ wanted) & 0x7fff) == 0 && (found < 0 || (k & 0x8000)))
            found = (int)i;
    }
    if (found < 0)
        snprintf(why, size, "P_Key 0x%04x is not in the table of %s port %u, which has:%s", wanted,
                 f->device, f->port, all->len ? all->str : " none");
    else {
        p->pkey_index = (unsigned)found;
        p->pkey = f->pkeys[found];
    }
    g_string_free(all, TRUE);
    return found >= 0;
}

/* RFC 4391 §4.1: a node might search from local scope outwards. */
enum sa_result link_find_broadcast(struct probe *p, char *why, size_t size)
{
    uint8_t mgid[16];
    uint16_t status = 0;
    for (unsigned scope = SCOPE_FIRST; scope <= SCOPE_LAST; scope++) {
        broadcast_mgid(mgid, (uint8_t)scope, p->pkey);
        switch (group_get(p, mgid, &p->link, &status)) {
        case SA_TOLD:
            return SA_TOLD;
        case SA_SILENT:
            snprintf(why, size, "the subnet administrator (LID %u) does not answer",
                     p->t->facts.sm_lid);
            return SA_SILENT;
        case SA_BUSY:
            snprintf(why, size, "the subnet administrator (LID %u) answers that it is busy",
                     p->t->facts.sm_lid);
            return SA_BUSY;
        case SA_BROKEN:
            snprintf(why, size, "%s", p->stopped ? "interrupted" : p->t->error);
            return SA_BROKEN;
        case SA_REFUSED:
            break;
        }
    }
    snprintf(
        why, size,
        "there is no IPoIB broadcast group for P_Key 0x%04x (the subnet administrator says 0x%04x, %s)",
        p->pkey, status, sa_status_name(status));
    return SA_REFUSED;
}

uint32_t link_mtu(const struct probe *p)
{
    uint32_t octets = ib_mtu_octets(p->link.mtu);
    return octets ? octets - ENCAP_SIZE : 0;
}

/* With the SM's key it tells of members; with a wrong one it is silent (IBA 15.4.1). */
void link_find_sm_key(struct probe *p)
{
    uint8_t state;
    bool member, known;
    p->sm_key = SM_KEY_OPENSM;
    if (group_standing(p, p->link.mgid, &state, &member, &known) != SA_TOLD || !known)
        p->sm_key = 0;
}

static void make_own_address(struct probe *p)
{
    p->lladdr[LLADDR_FLAGS] = 0;
    put24(p->lladdr + LLADDR_QPN, p->t->qpn);
    memcpy(p->lladdr + LLADDR_GID, p->t->facts.gid, 16);
}

static bool join_broadcast(struct probe *p, char *why, size_t size)
{
    struct mc_group g;
    uint16_t status = 0;
    enum sa_result result = group_join(p, p->link.mgid, JOIN_FULL, false, &g, &status);
    if (result == SA_TOLD)
        return true;
    if (result == SA_REFUSED)
        snprintf(
            why, size,
            "the subnet administrator refuses that this port joins the broadcast group: status 0x%04x, %s",
            status, sa_status_name(status));
    else
        snprintf(why, size, "joining the broadcast group: %s", sa_silence_text(p, result));
    return false;
}

/* What the interface stands on: it has joined the group already. Its Q_Key is not told. */
static bool stand_on_interface(struct probe *p, char *why, size_t size)
{
    const struct transport *t = p->t;
    if (p->options->pkey && ((p->options->pkey ^ t->netdev_pkey) & 0x7fff)) {
        snprintf(why, size, "%s is in partition 0x%04x: name the interface that is in 0x%04x",
                 t->netdev, t->netdev_pkey, p->options->pkey);
        return false;
    }
    p->pkey = t->netdev_pkey;
    p->link = (struct mc_group){.mlid = LID_MULTICAST_FIRST,
                                .pkey = t->netdev_pkey,
                                .mtu = t->facts.mtu,
                                .scope = t->netdev_broadcast[MGID_FLAGS_SCOPE] & 0xf};
    memcpy(p->link.mgid, t->netdev_broadcast, 16);
    p->t->ops->open_qp(p->t, 0, 0);
    make_own_address(p);
    p->stands = true;
    return true;
}

bool link_open(struct probe *p, char *why, size_t size)
{
    if (p->stands)
        return true;
    if (p->t->netdev[0])
        return stand_on_interface(p, why, size);
    if (p->t->facts.state != PORT_ACTIVE) {
        snprintf(why, size, "%s port %u is not active: see 'ipoib-probe fabric'",
                 p->t->facts.device, p->t->facts.port);
        return false;
    }
    if (!link_find_pkey(p, why, size) || link_find_broadcast(p, why, size) != SA_TOLD)
        return false;
    if (p->t->ops->open_qp(p->t, p->pkey_index, p->link.qkey) != TRANSPORT_OK) {
        snprintf(why, size, "%s", p->t->error);
        return false;
    }
    make_own_address(p);
    link_find_sm_key(p);
    if (!join_broadcast(p, why, size))
        return false;
    p->stands = group_attach(p, &p->link);
    if (p->stands)
        return true;
    snprintf(why, size, "%s", p->t->error);
    return false;
}

void link_close(struct probe *p)
{
    wirelog_begin(p->log, "link");
    groups_leave(p);
    wirelog_end(p->log, "left");
}
