/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends and receives UD packets by libibverbs. See verbs.h. */
#include "probe/link/verbs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* ---- sending */

static enum transport_result await_sent(struct verbs *v)
{
    struct ibv_wc wc;
    gint64 end = g_get_monotonic_time() + (gint64)SEND_WAIT_MS * 1000;
    int n;
    while ((n = ibv_poll_cq(v->sent, 1, &wc)) == 0)
        if (g_get_monotonic_time() > end)
            return verbs_fail(&v->base, "a packet was not sent", ETIMEDOUT);
    if (n > 0 && wc.status == IBV_WC_SUCCESS)
        return TRANSPORT_OK;
    snprintf(v->base.error, sizeof v->base.error, "a packet was not sent: %s",
             n < 0 ? "poll" : ibv_wc_status_str(wc.status));
    return TRANSPORT_ERROR;
}

static struct ibv_ah *find_ah(struct verbs *v, const struct ud_to *to)
{
    struct ibv_ah_attr attr;
    memset(&attr, 0, sizeof attr); /* zero the padding: the structure is compared with memcmp */
    attr.dlid = to->lid;
    attr.sl = to->sl;
    attr.port_num = (uint8_t)v->base.facts.port;
    attr.is_global = to->grh;
    if (to->grh) {
        memcpy(attr.grh.dgid.raw, to->gid, 16);
        attr.grh.flow_label = to->flow_label;
        attr.grh.hop_limit = to->hop_limit;
        attr.grh.traffic_class = to->tclass;
    }
    for (unsigned i = 0; i < AH_CACHE_SIZE; i++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
        if (v->ah_cache[i].ah && memcmp(&v->ah_cache[i].attr, &attr, sizeof attr) == 0)
            return v->ah_cache[i].ah;
    struct cached_ah *w = &v->ah_cache[v->next_evicted++ % AH_CACHE_SIZE];
    if (w->ah)
        ibv_destroy_ah(w->ah);
    w->ah = ibv_create_ah(v->pd, &attr);
    memcpy(&w->attr, &attr, sizeof attr);
    return w->ah;
}

enum transport_result verbs_send(struct transport *t, const struct ud_to *to, const uint8_t *bytes,
                                 uint32_t n)
{
    struct verbs *v = (struct verbs *)t;
    struct ibv_ah *ah = find_ah(v, to);
    if (!ah)
        return verbs_fail(t, "no address handle", errno);
    uint8_t *slot = v->memory + (size_t)SLOTS * SLOT_SIZE;
    memcpy(slot, bytes, n);
    struct ibv_sge sge = {(uintptr_t)slot, n, v->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .wr.ud = {.ah = ah, .remote_qpn = to->qpn, .remote_qkey = to->qkey}},
                       *bad;
    int error = ibv_post_send(to->other_partition ? v->other_partition
                              : to->second_qp     ? v->second_qp
                                                  : v->qp,
                              &wr, &bad);
    return error ? verbs_fail(t, "cannot send a packet", error) : await_sent(v);
}

/* ---- receiving */

static bool poll_packet(struct verbs *v, struct ud_from *from)
{
    const struct transport *t = &v->base;
    struct ibv_wc wc;
    while (ibv_poll_cq(v->received, 1, &wc) > 0) {
        unsigned slot = (unsigned)wc.wr_id;
        if (wc.status != IBV_WC_SUCCESS || wc.byte_len < GRH_SIZE) {
            verbs_post_receive(v, slot);
            continue;
        }
        const uint8_t *p = v->memory + (size_t)slot * SLOT_SIZE;
        uint32_t n = wc.byte_len - GRH_SIZE;
        *from = (struct ud_from){.bytes = view_make(p + GRH_SIZE, n, n),
                                 .grh = wc.wc_flags & IBV_WC_GRH ? p : NULL,
                                 .qpn = wc.src_qp,
                                 .to_qpn = slot < SLOTS_MAIN ? t->qpn : t->second_qpn,
                                 .lid = wc.slid,
                                 .sl = wc.sl,
                                 .path_bits = wc.dlid_path_bits};
        v->held_slot = slot;
        return true;
    }
    return false;
}

static void ack_event(struct verbs *v)
{
    struct ibv_cq *cq;
    void *context;
    if (ibv_get_cq_event(v->channel, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
    ibv_req_notify_cq(v->received, 0);
}

/* Waits until a packet may have arrived. Returns 0 or an errno. */
static int await_event(struct verbs *v, int ms)
{
    struct pollfd fds[1 + CONNECTOR_FDS] = {{v->channel->fd, POLLIN, 0}};
    unsigned n_fds = v->connector ? connector_fds(v->connector, fds + 1) : 0;
    int n = poll(fds, 1 + n_fds, ms);
    if (n > 0 && fds[0].revents)
        ack_event(v);
    return n < 0 && errno != EINTR ? errno : 0;
}

enum transport_result verbs_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct verbs *v = (struct verbs *)t;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    if (v->held_slot < SLOTS)
        verbs_post_receive(v, v->held_slot);
    v->held_slot = SLOTS;
    while (!*v->stop || t->ending) {
        if (poll_packet(v, from) || (v->connector && connector_receive(v->connector, from)))
            return TRANSPORT_OK;
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return TRANSPORT_NOTHING;
        int error = await_event(v, (int)MIN(left, 100));
        if (error)
            return verbs_fail(t, "poll", error);
    }
    return TRANSPORT_STOPPED;
}

enum transport_result verbs_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    struct verbs *v = (struct verbs *)t;
    union ibv_gid gid;
    memcpy(gid.raw, mgid, 16);
    int error = ibv_attach_mcast(v->qp, &gid, mlid);
    return error ? verbs_fail(t, "cannot attach the queue pair to a multicast group", error)
                 : TRANSPORT_OK;
}
