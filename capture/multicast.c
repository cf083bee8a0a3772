/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast mode. See multicast.h. */
#include "capture/multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "capture/groupnews.h"
#include "cli/say.h"
#include "capture/stop.h"
#include "hca/privileges.h"
#include "pcapio/udframe.h"
#include "wire/mgid.h"

enum {
    FIRST_NEWS_MS = 4000,
    REPLACED_MAX = 5,
    QKEY_TRIED = 0x0b1b, /* OpenSM's Q_Key for IPoIB; needs no privilege */
};

struct listened {
    struct mc_group group;
    bool attached;
    bool gone; /* deleted; kept for frames received before the deletion */
};

/* --- the partition */

static bool is_member(uint16_t pkey, uint16_t wanted)
{
    return ((pkey ^ wanted) & 0x7fff) == 0 && (pkey & 0x7fff) != 0;
}

static uint16_t pkey_at(const struct device *device, int index)
{
    __be16 pkey;

    return ibv_query_pkey(device->context, device->port, index, &pkey) == 0 ? ntohs(pkey) : 0;
}

static void tell_pkeys(const struct device *device, unsigned wanted)
{
    char all[256] = "";
    size_t at = 0;

    for (int i = 0; i < device->port_attr.pkey_tbl_len && at + 8 < sizeof(all); i++)
        if (pkey_at(device, i) != 0)
            at += (size_t)snprintf(all + at, sizeof(all) - at, " 0x%04x", pkey_at(device, i));
    say("%s port %u is not in partition 0x%04x; it has the P_Keys%s", device_name(device),
        device->port, wanted, at ? all : ": none");
}

/*
 * Finds the index of the P_Key in the port's table. Prefers the full-member form if the port has
 * both: it also receives from limited members.
 */
static bool find_pkey(struct multicast *m, unsigned wanted)
{
    int found = -1;

    for (int i = 0; i < m->device->port_attr.pkey_tbl_len; i++) {
        uint16_t pkey = pkey_at(m->device, i);

        if (!is_member(pkey, wanted ? (uint16_t)wanted : found < 0 ? pkey : m->pkey))
            continue;
        if (found >= 0 && !(pkey & 0x8000))
            continue;
        found = i;
        m->pkey = pkey;
        m->pkey_index = (uint16_t)i;
    }
    if (found < 0)
        tell_pkeys(m->device, wanted ? wanted : 0xffff);
    return found >= 0;
}

/* --- groups */

static void attach(struct multicast *m, struct listened *l)
{
    char text[INET6_ADDRSTRLEN];
    union ibv_gid gid;
    int error;

    if (!m->qp || l->attached || l->gone || l->group.qkey != m->qkey)
        return;
    memcpy(gid.raw, l->group.mgid, sizeof(gid.raw));
    error = ibv_attach_mcast(m->qp, &gid, l->group.mlid);
    l->attached = error == 0;
    if (error != 0 && !m->attach_told) {
        m->attach_told = true;
        say("%s: group %s cannot be received (%s), and perhaps others: their frames are missing",
            device_name(m->device), mgid_text(l->group.mgid, text), strerror(error));
    }
}

static void detach(struct multicast *m, struct listened *l)
{
    union ibv_gid gid;

    memcpy(gid.raw, l->group.mgid, sizeof(gid.raw));
    if (m->qp && l->attached)
        ibv_detach_mcast(m->qp, &gid, l->group.mlid);
    l->attached = false;
}

static void tell_other_qkey(struct multicast *m, struct listened *l)
{
    char text[INET6_ADDRSTRLEN];

    if (!m->link || l->gone || l->group.qkey == m->qkey || m->qkey_told)
        return;
    m->qkey_told = true;
    say("group %s has Q_Key 0x%08x, the broadcast group 0x%08x: its frames are not captured",
        mgid_text(l->group.mgid, text), l->group.qkey, m->qkey);
}

static void for_all(struct multicast *m, void (*act)(struct multicast *, struct listened *))
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

static void drop_qp(struct multicast *m)
{
    for_all(m, detach);
    if (m->qp)
        ibv_destroy_qp(m->qp);
    m->qp = NULL;
    for_all(m, forget_attached);
}

static int to_rtr(struct multicast *m, uint32_t qkey)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = m->device->port,
                               .pkey_index = m->pkey_index,
                               .qkey = qkey};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
    int error = ibv_modify_qp(m->qp, &init,
                              IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY);

    return error ? error : ibv_modify_qp(m->qp, &rtr, IBV_QP_STATE);
}

static struct refusal make_qp(struct multicast *m, uint32_t qkey)
{
    struct ibv_qp_init_attr attr = rxring_qp_attr(&m->ring, IBV_QPT_UD);
    int error;

    m->qp = ibv_create_qp(m->ring.pd, &attr);
    if (!m->qp)
        return refused(REFUSED_QP, errno);
    error = to_rtr(m, qkey);
    return error ? refused(REFUSED_STATE, error) : (struct refusal){REFUSED_NOT, 0};
}

/*
 * Creates the queue pair and starts the reception. A controlled Q_Key needs CAP_NET_RAW
 * (ib_uverbs_modify_qp in the kernel).
 */
static bool begin(struct multicast *m)
{
    struct refusal refusal;
    int error = 0;

    privileges_raise(PRIVILEGE_RAW | PRIVILEGE_LOCK);
    refusal = make_qp(m, m->qkey);
    privileges_lower();

    if (refusal.step == REFUSED_NOT && (error = rxring_attach(&m->ring, m->qp)) != 0)
        refusal = refused(REFUSED_RECEIVE, error);
    if (refusal.step != REFUSED_NOT) {
        refusal_tell(m->device, refusal, "multicast");
        return false;
    }
    for_all(m, attach);
    return true;
}

static bool restart(struct multicast *m)
{
    bool renewed;

    drop_qp(m);
    privileges_raise(PRIVILEGE_LOCK);
    renewed = rxring_renew(&m->ring);
    privileges_lower();
    return renewed && (!m->link || begin(m));
}

/* --- messages from the keeper */

/*
 * Takes the Q_Key of the link from the broadcast group (RFC 4391 section 4.1). Returns false after
 * a message.
 */
static bool take_link(struct multicast *m, const struct mc_group *g)
{
    bool first = !m->link;

    if (!mgid_read(g->mgid).broadcast || (!first && !mgid_equal(m->link_mgid, g->mgid)))
        return true;
    if (!first && m->qkey == g->qkey)
        return true;
    memcpy(m->link_mgid, g->mgid, GID_SIZE);
    m->link = true;
    m->qkey = g->qkey;
    if (!m->started)
        return true;
    if (first)
        return begin(m);
    say("%s port %u: the link has another Q_Key now", device_name(m->device), m->device->port);
    return restart(m);
}

static bool take_group(struct multicast *m, const struct mc_group *g)
{
    struct listened *l = g_hash_table_lookup(m->groups, g->mgid);

    if (!l) {
        l = g_new0(struct listened, 1);
        l->group = *g;
        g_hash_table_insert(m->groups, l->group.mgid, l);
    } else if (l->group.mlid != g->mlid || l->group.qkey != g->qkey) {
        detach(m, l);
        l->group = *g;
    }
    l->gone = false;
    if (!take_link(m, g))
        return false;
    attach(m, l);
    return true;
}

static bool take_news(struct multicast *m, const struct groupnews *news)
{
    struct listened *l;

    switch (news->kind) {
    case GROUPNEWS_GROUP:
        return take_group(m, &news->group);
    case GROUPNEWS_GONE:
        l = g_hash_table_lookup(m->groups, news->group.mgid);
        if (l) {
            detach(m, l);
            l->gone = true;
        }
        return true;
    /*
     * Q_Keys are compared only here: while the link's Q_Key changes, some groups are not reported
     * yet.
     */
    case GROUPNEWS_LOOKED:
        for_all(m, tell_other_qkey);
        m->looked = true;
        return true;
    case GROUPNEWS_FAILED:
        refusal_tell(m->device, refused(REFUSED_SA, news->error), "multicast");
        break;
    }
    return false;
}

static bool start_keeper(struct multicast *m)
{
    const struct keeper_plan plan = {.device = device_name(m->device),
                                     .port = m->device->port,
                                     .pkey = m->pkey,
                                     .broadcast_only = m->broadcast_only};

    return keeper_start(&m->keeper, &plan);
}

/*
 * Replaces a keeper that was killed: the new one joins all groups again and leaves them at the end.
 * Returns false if the keeper was replaced too often or cannot be started.
 */
static bool replace_keeper(struct multicast *m)
{
    keeper_end(&m->keeper);
    say("the process that keeps the groups has ended%s",
        m->replaced < REPLACED_MAX ? ": another is started" : "");
    return m->replaced++ < REPLACED_MAX && start_keeper(m);
}

/*
 * Handles all waiting messages of the keeper. Returns false after a message if the capture cannot
 * continue.
 */
static bool read_news(struct multicast *m)
{
    struct groupnews news;
    ssize_t n;

    while ((n = recv(m->keeper.fd, &news, sizeof(news), MSG_DONTWAIT)) == (ssize_t)sizeof(news))
        if (!take_news(m, &news))
            return false;
    return (n < 0 && (errno == EAGAIN || errno == EINTR)) || replace_keeper(m);
}

static bool await_news(struct multicast *m)
{
    struct pollfd fds[] = {{.fd = m->keeper.fd, .events = POLLIN},
                           {.fd = stop_fd(), .events = POLLIN}};
    uint64_t end = steady_time() + (uint64_t)FIRST_NEWS_MS * 1000000;

    while (!m->looked && !stop_requested() && steady_time() < end) {
        poll(fds, 2, FIRST_NEWS_MS / 40);
        if (!read_news(m))
            return false;
    }
    return true;
}

/* --- frames */

static uint16_t dlid_of(const struct multicast *m, const struct rx *rx)
{
    const struct listened *l = rx->from.grh ? g_hash_table_lookup(m->groups, rx->octets + GRH_DGID)
                                            : NULL;

    if (l)
        return l->group.mlid;
    if (rx->from.grh && rx->octets[GRH_DGID] == 0xff)
        return LID_PERMISSIVE; /* a group that the keeper has not reported */
    return (uint16_t)(m->device->port_attr.lid | rx->from.path_bits);
}

static bool rebuild(struct multicast *m, const struct rx *rx, struct frame *frame)
{
    bool group = rx->from.grh && rx->octets[GRH_DGID] == 0xff;
    struct ud_heads heads = {
        .slid = rx->from.slid,
        .dlid = dlid_of(m, rx),
        .pkey = m->pkey | 0x8000, /* limited members cannot be recognised */
        .sl = rx->from.sl,
        .dqpn = group ? QPN_MULTICAST : m->qp->qp_num,
        .sqpn = rx->from.src_qp,
        .qkey = m->qkey,
        .grh = rx->from.grh ? rx->octets : NULL,
    };

    if (rx->len < GRH_SIZE)
        return false; /* not a datagram: the buffer always starts with space for a GRH
                         (IBA 11.4.1.2) */
    frame->octets = m->frame;
    frame->len = udframe_put(m->frame, &heads, rx->octets + GRH_SIZE, rx->len - GRH_SIZE);
    return true;
}

/* --- feed operations */

static bool feed_prepare(struct feed *feed)
{
    struct multicast *m = feed->self;
    struct refusal refusal = make_qp(m, QKEY_TRIED); /* tested before an old file is overwritten */

    drop_qp(m);
    if (refusal.step != REFUSED_NOT) {
        refusal_tell(m->device, refusal, "multicast");
        return false;
    }
    if (!start_keeper(m) || !await_news(m))
        return false;
    feed->fd = m->keeper.fd;
    return true;
}

static bool feed_start(struct feed *feed)
{
    struct multicast *m = feed->self;

    m->started = true;
    if (m->link)
        return begin(m);
    say("%s port %u: the subnet has no IPoIB broadcast group for P_Key 0x%04x yet: waiting for it",
        device_name(m->device), m->device->port, m->pkey);
    return true;
}

static void feed_stop(struct feed *feed)
{
    for_all(feed->self, detach);
}

static bool feed_restart(struct feed *feed)
{
    return restart(feed->self);
}

static bool feed_frame(struct feed *feed, const struct rx *rx, struct frame *frame)
{
    return rebuild(feed->self, rx, frame);
}

static bool feed_tend(struct feed *feed)
{
    struct multicast *m = feed->self;
    bool good = read_news(m);

    feed->fd = m->keeper.fd;
    return good;
}

/* The P_Key table may have changed; the queue pair refers to its P_Key by index. */
static bool feed_changed(struct feed *feed)
{
    struct multicast *m = feed->self;

    keeper_again(&m->keeper);
    if (pkey_at(m->device, m->pkey_index) == m->pkey)
        return true;
    find_pkey(m, m->pkey);
    return false;
}

struct feed multicast_feed(struct multicast *m)
{
    static const struct feed_ops ops = {.mode = "multicast",
                                        .prepare = feed_prepare,
                                        .start = feed_start,
                                        .stop = feed_stop,
                                        .restart = feed_restart,
                                        .frame = feed_frame,
                                        .tend = feed_tend,
                                        .changed = feed_changed};

    return (struct feed){.ops = &ops, .ring = &m->ring, .fd = -1, .self = m};
}

/* --- create, destroy, try */

static struct refusal has_no_groups(const struct device *device)
{
    if (device->context->device->transport_type == IBV_TRANSPORT_IWARP)
        return refused(REFUSED_TRANSPORT, EOPNOTSUPP);
    return device_is_ethernet(device) ? refused(REFUSED_ETHERNET, EOPNOTSUPP)
                                      : (struct refusal){REFUSED_NOT, 0};
}

bool multicast_create(struct multicast *m, struct device *device, const struct multicast_plan *plan)
{
    struct rx_plan rx = plan->rx;

    memset(m, 0, sizeof(*m));
    m->device = device;
    m->keeper.fd = -1;
    m->broadcast_only = plan->broadcast_only;
    m->groups = g_hash_table_new_full(mgid_hash, mgid_equal, NULL, g_free);
    if (has_no_groups(device).step != REFUSED_NOT) {
        refusal_tell(device, has_no_groups(device), "multicast");
        return false;
    }
    rx.addresses = true;
    m->frame = malloc(rx.entry_len + UDFRAME_MORE);
    if (!m->frame)
        say("out of memory");
    return m->frame && find_pkey(m, plan->pkey) && rxring_create(&m->ring, device, &rx);
}

void multicast_destroy(struct multicast *m)
{
    drop_qp(m);
    rxring_destroy(&m->ring);
    keeper_end(&m->keeper); /* last: leave the groups after the reception has ended */
    g_hash_table_unref(m->groups);
    free(m->frame);
}

static struct refusal try_sa(const struct device *device)
{
    struct umad_sa *sa;
    int error = umad_sa_open(&sa, device_name(device), device->port);

    umad_sa_close(sa);
    return error ? refused(REFUSED_SA, error) : (struct refusal){REFUSED_NOT, 0};
}

struct refusal multicast_try(struct device *device)
{
    struct multicast m = {.device = device};
    struct rx_plan rx = {.entries = 16, .entry_len = 4096};
    struct refusal refusal = has_no_groups(device);

    if (refusal.step != REFUSED_NOT)
        return refusal;
    if (!rxring_create(&m.ring, device, &rx))
        return refused(REFUSED_QP, errno);
    refusal = make_qp(&m, QKEY_TRIED);
    if (m.qp)
        ibv_destroy_qp(m.qp);
    rxring_destroy(&m.ring);
    return refusal.step == REFUSED_NOT ? try_sa(device) : refusal;
}
