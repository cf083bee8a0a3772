/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Multicast mode. See multicast.h. */
#include "capture/multicast/multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "capture/multicast/groupevent.h"
#include "capture/multicast/listen.h"
#include "capture/multicast/partition.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "capture/write/stop.h"
#include "model/hash.h"
#include "pcapio/udframe.h"
#include "wire/mgid.h"

enum {
    FIRST_EVENTS_MS = 4000,
    REPLACED_MAX = 5,
    QKEY_TRIED = 0x0b1b, /* OpenSM's Q_Key for IPoIB; needs no privilege */
};

/* --- messages from the keeper */

/*
 * Takes the Q_Key of the link from the broadcast group (RFC 4391 section 4.1). Returns false and
 * sets ERROR if the reception cannot start.
 */
static bool take_link(struct multicast *m, const struct mc_group *g, GError **error)
{
    bool first = !m->link;

    if (!mgid_is_broadcast(g->mgid) || (!first && !mgid_equal(m->link_mgid, g->mgid)))
        return true;
    if (!first && m->qkey == g->qkey)
        return true;
    memcpy(m->link_mgid, g->mgid, GID_SIZE);
    m->link = true;
    m->qkey = g->qkey;
    if (!m->started)
        return true;
    if (first)
        return listen_start(m, error);
    say("%s port %u: the link has another Q_Key now", device_name(m->device), m->device->port);
    return listen_restart(m, error);
}

static bool listen_to_group(struct multicast *m, const struct mc_group *g, GError **error)
{
    struct listened *l = g_hash_table_lookup(m->groups, g->mgid);

    if (!l) {
        l = g_new0(struct listened, 1);
        l->group = *g;
        g_hash_table_insert(m->groups, l->group.mgid, l);
    } else if (l->group.mlid != g->mlid || l->group.qkey != g->qkey) {
        listen_detach(m, l);
        l->group = *g;
    }
    l->gone = false;
    if (!take_link(m, g, error))
        return false;
    listen_attach(m, l);
    return true;
}

static bool take_event(struct multicast *m, const struct groupevent *event, GError **error)
{
    struct listened *l;

    switch (event->kind) {
    case GROUPEVENT_JOINED:
        return listen_to_group(m, &event->group, error);
    case GROUPEVENT_DELETED:
        l = g_hash_table_lookup(m->groups, event->group.mgid);
        if (l) {
            listen_detach(m, l);
            l->gone = true;
        }
        return true;
    /*
     * Q_Keys are compared only here: while the link's Q_Key changes, some groups are not reported
     * yet.
     */
    case GROUPEVENT_POLLED:
        listen_for_all(m, listen_report_qkey);
        m->looked = true;
        return true;
    case GROUPEVENT_FAILED:
        break;
    }
    return refusal_fail(error, m->device, refused(REFUSED_SA, event->error), "multicast");
}

static bool start_keeper(struct multicast *m, GError **error)
{
    const struct keeper_plan plan = {.device = device_name(m->device),
                                     .port = m->device->port,
                                     .pkey = m->pkey,
                                     .broadcast_only = m->broadcast_only};

    return keeper_start(&m->keeper, &plan, error);
}

/*
 * Replaces a keeper that was killed: the new one joins all groups again and leaves them at the end.
 * Returns false and sets ERROR if it was replaced too often or cannot be started.
 */
static bool replace_keeper(struct multicast *m, GError **error)
{
    keeper_end(&m->keeper);
    if (m->replaced++ >= REPLACED_MAX)
        return fail_with(error, "the process that keeps the groups has ended");
    say("the process that keeps the groups has ended: another is started");
    return start_keeper(m, error);
}

/*
 * Handles all waiting messages of the keeper. Returns false and sets ERROR if the capture
 * cannot continue.
 */
static bool read_events(struct multicast *m, GError **error)
{
    struct groupevent event;
    ssize_t n;

    while ((n = recv(m->keeper.process.fd, &event, sizeof(event), MSG_DONTWAIT)) ==
           (ssize_t)sizeof(event))
        if (!take_event(m, &event, error))
            return false;
    return (n < 0 && (errno == EAGAIN || errno == EINTR)) || replace_keeper(m, error);
}

static bool await_events(struct multicast *m, GError **error)
{
    struct pollfd fds[] = {{.fd = m->keeper.process.fd, .events = POLLIN},
                           {.fd = stop_fd(), .events = POLLIN}};
    uint64_t end = steady_time() + (uint64_t)FIRST_EVENTS_MS * 1000000;

    while (!m->looked && !stop_requested() && steady_time() < end) {
        poll(fds, 2, FIRST_EVENTS_MS / 40);
        if (!read_events(m, error))
            return false;
    }
    return true;
}

/* --- frames */

static uint16_t dlid_of(const struct multicast *m, const struct rx *rx)
{
    const struct listened *l = rx->from.grh
                                   ? g_hash_table_lookup(m->groups, rx->frame.bytes + GRH_DGID)
                                   : NULL;

    if (l)
        return l->group.mlid;
    if (rx->from.grh && rx->frame.bytes[GRH_DGID] == 0xff)
        return LID_PERMISSIVE; /* a group that the keeper has not reported */
    return (uint16_t)(m->device->port_attr.lid | rx->from.path_bits);
}

static bool rebuild(struct multicast *m, const struct rx *rx, struct recorded_frame *frame)
{
    bool group = rx->from.grh && rx->frame.bytes[GRH_DGID] == 0xff;
    struct ud_heads heads = {
        .slid = rx->from.slid,
        .dlid = dlid_of(m, rx),
        .pkey = m->pkey | 0x8000, /* limited members cannot be recognised */
        .sl = rx->from.sl,
        .dqpn = group ? QPN_MULTICAST : m->qp->qp_num,
        .sqpn = rx->from.src_qp,
        .qkey = m->qkey,
        .grh = rx->from.grh ? rx->frame.bytes : NULL,
    };

    if (rx->frame.len < GRH_SIZE)
        return false; /* not a datagram: the buffer always starts with space for a GRH
                         (IBA 11.4.1.2) */
    frame->bytes = m->frame;
    frame->len = udframe_put(m->frame, &heads, rx->frame.bytes + GRH_SIZE,
                             rx->frame.len - GRH_SIZE);
    return true;
}

/* --- feed operations */

static bool feed_prepare(struct feed *feed, GError **error)
{
    struct multicast *m = feed->self;
    /* tested before an old file is overwritten */
    struct refusal refusal = listen_make_qp(m, QKEY_TRIED);

    listen_drop(m);
    if (refusal.step != REFUSED_NOT)
        return refusal_fail(error, m->device, refusal, "multicast");
    if (!start_keeper(m, error) || !await_events(m, error))
        return false;
    feed->fd = m->keeper.process.fd;
    return true;
}

static bool feed_start(struct feed *feed, GError **error)
{
    struct multicast *m = feed->self;

    m->started = true;
    if (m->link)
        return listen_start(m, error);
    say("%s port %u: the subnet has no IPoIB broadcast group for P_Key 0x%04x yet: waiting for it",
        device_name(m->device), m->device->port, m->pkey);
    return true;
}

static void feed_stop(struct feed *feed)
{
    listen_for_all(feed->self, listen_detach);
}

static bool feed_restart(struct feed *feed, GError **error)
{
    return listen_restart(feed->self, error);
}

static bool feed_frame(struct feed *feed, const struct rx *rx, struct recorded_frame *frame)
{
    return rebuild(feed->self, rx, frame);
}

static bool feed_tend(struct feed *feed, GError **error)
{
    struct multicast *m = feed->self;
    bool good = read_events(m, error);

    feed->fd = m->keeper.process.fd;
    return good;
}

/* The P_Key table may have changed; the queue pair refers to its P_Key by index. */
static bool feed_changed(struct feed *feed)
{
    struct multicast *m = feed->self;
    GError *error = NULL;

    keeper_again(&m->keeper);
    if (device_pkey(m->device->context, m->device->port, m->pkey_index) == m->pkey)
        return true;
    partition_find(m->device, m->pkey, &m->pkey, &m->pkey_index, &error);
    say_error(NULL, &error);
    return false;
}

struct feed multicast_feed(struct multicast *m)
{
    static const struct feed_ops ops = {
        FEED_OF_RING,        .mode = "multicast", .prepare = feed_prepare,
        .start = feed_start, .stop = feed_stop,   .restart = feed_restart,
        .frame = feed_frame, .tend = feed_tend,   .changed = feed_changed};

    return feed_of_ring(&ops, m->device, &m->ring, m);
}

/* --- create, destroy, try */

static struct refusal has_no_groups(const struct device *device)
{
    if (device->context->device->transport_type == IBV_TRANSPORT_IWARP)
        return refused(REFUSED_TRANSPORT, EOPNOTSUPP);
    return device_is_ethernet(device) ? refused(REFUSED_ETHERNET, EOPNOTSUPP)
                                      : (struct refusal){.step = REFUSED_NOT};
}

bool multicast_create(struct multicast *m, struct device *device, const struct multicast_plan *plan,
                      GError **error)
{
    struct rx_plan rx = plan->rx;

    memset(m, 0, sizeof(*m));
    m->device = device;
    m->keeper.process.fd = -1;
    m->broadcast_only = plan->broadcast_only;
    m->groups = g_hash_table_new_full(hash_gid, mgid_equal, NULL, g_free);
    if (has_no_groups(device).step != REFUSED_NOT)
        return refusal_fail(error, device, has_no_groups(device), "multicast");
    rx.addresses = true;
    m->frame = g_malloc(rx.entry_len + UDFRAME_MORE);
    return partition_find(device, plan->pkey, &m->pkey, &m->pkey_index, error) &&
           rxring_create(&m->ring, device, &rx, error);
}

void multicast_destroy(struct multicast *m)
{
    listen_drop(m);
    rxring_destroy(&m->ring);
    keeper_end(&m->keeper); /* last: leave the groups after the reception has ended */
    g_hash_table_unref(m->groups);
    g_free(m->frame);
}

static struct refusal try_sa(const struct device *device)
{
    struct umad_sa *sa;
    int error = umad_sa_open(&sa, device_name(device), device->port);

    umad_sa_close(sa);
    return error ? refused(REFUSED_SA, error) : (struct refusal){.step = REFUSED_NOT};
}

struct refusal multicast_try(struct device *device)
{
    struct multicast m = {.device = device};
    struct rx_plan rx = {.entries = 16, .entry_len = 4096};
    struct refusal refusal = has_no_groups(device);

    if (refusal.step != REFUSED_NOT)
        return refusal;
    if (!rxring_create(&m.ring, device, &rx, NULL))
        return refused(REFUSED_QP, errno);
    refusal = listen_make_qp(&m, QKEY_TRIED);
    if (m.qp)
        ibv_destroy_qp(m.qp);
    rxring_destroy(&m.ring);
    return refusal.step == REFUSED_NOT ? try_sa(device) : refusal;
}
