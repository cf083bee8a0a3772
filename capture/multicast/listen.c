/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups and queue pair of multicast mode. See listen.h. */
#include "capture/multicast/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "capture/multicast/groupevent.h"
#include "cli/say.h"
#include "cli/privileges.h"
#include "hca/udqp.h"
#include "wire/mgid.h"

/* --- groups */

void listen_attach(struct multicast *m, struct listened *l)
{
    char text[INET6_ADDRSTRLEN];
    union ibv_gid gid;
    int error;

    if (!m->qp || l->attached || l->gone || l->group.qkey != m->qkey)
        return;
    memcpy(gid.raw, l->group.mgid, sizeof(gid.raw));
    error = ibv_attach_mcast(m->qp, &gid, l->group.mlid);
    l->attached = error == 0;
    if (error != 0 && !m->attach_reported) {
        m->attach_reported = true;
        say("%s: group %s cannot be received (%s), and perhaps others: their frames are missing",
            device_name(m->device), mgid_text(l->group.mgid, text), strerror(error));
    }
}

void listen_detach(struct multicast *m, struct listened *l)
{
    union ibv_gid gid;

    memcpy(gid.raw, l->group.mgid, sizeof(gid.raw));
    if (m->qp && l->attached)
        ibv_detach_mcast(m->qp, &gid, l->group.mlid);
    l->attached = false;
}

void listen_report_qkey(struct multicast *m, struct listened *l)
{
    char text[INET6_ADDRSTRLEN];

    if (!m->link || l->gone || l->group.qkey == m->qkey || m->qkey_reported)
        return;
    m->qkey_reported = true;
    say("group %s has Q_Key 0x%08x, the broadcast group 0x%08x: its frames are not captured",
        mgid_text(l->group.mgid, text), l->group.qkey, m->qkey);
}

void listen_for_all(struct multicast *m, void (*act)(struct multicast *, struct listened *))
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, m->groups);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        act(m, value);
}

/* --- the queue pair */

static void forget_attached(struct multicast *m, struct listened *l)
{
    (void)m;
    l->attached = false;
}

void listen_drop(struct multicast *m)
{
    listen_for_all(m, listen_detach);
    if (m->qp)
        ibv_destroy_qp(m->qp);
    m->qp = NULL;
    listen_for_all(m, forget_attached);
}

struct refusal listen_make_qp(struct multicast *m, uint32_t qkey)
{
    struct ibv_qp_init_attr attr = rxring_qp_attr(&m->ring, IBV_QPT_UD);
    int error;

    m->qp = ibv_create_qp(m->ring.pd, &attr);
    if (!m->qp)
        return refused(REFUSED_QP, errno);
    error = udqp_init(m->qp, m->device->port, m->pkey_index, qkey);
    if (error == 0)
        error = udqp_receive(m->qp);
    return error ? refused(REFUSED_STATE, error) : (struct refusal){.step = REFUSED_NOT};
}

/*
 * Creates the queue pair and starts the reception. A controlled Q_Key needs CAP_NET_RAW
 * (ib_uverbs_modify_qp in the kernel).
 */
bool listen_start(struct multicast *m, GError **error)
{
    struct refusal refusal;
    int number = 0;

    privileges_raise(PRIVILEGE_RAW | PRIVILEGE_LOCK);
    refusal = listen_make_qp(m, m->qkey);
    privileges_lower();

    if (refusal.step == REFUSED_NOT && (number = rxring_attach(&m->ring, m->qp)) != 0)
        refusal = refused(REFUSED_RECEIVE, number);
    refusal.again = m->again;
    if (refusal.step != REFUSED_NOT)
        return refusal_fail(error, m->device, refusal, "multicast");
    listen_for_all(m, listen_attach);
    return true;
}

bool listen_restart(struct multicast *m, GError **error)
{
    bool renewed;

    m->again = m->qp != NULL;
    listen_drop(m);
    privileges_raise(PRIVILEGE_LOCK);
    renewed = rxring_renew(&m->ring, error);
    privileges_lower();
    return renewed && (!m->link || listen_start(m, error));
}
