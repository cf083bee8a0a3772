/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UD queue pairs by libibverbs. See verbs.h. */
#include "probe/link/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hca/udqp.h"

enum transport_result verbs_fail(struct transport *t, const char *what, int error)
{
    t->denied |= error == EPERM || error == EACCES;
    if (error == EPERM || error == EACCES)
        snprintf(t->error, sizeof t->error,
                 "%s: not permitted; it needs root, or CAP_NET_RAW for a controlled Q_Key", what);
    else
        snprintf(t->error, sizeof t->error, "%s: %s", what, strerror(error));
    return TRANSPORT_ERROR;
}

/* The first SLOTS_MAIN buffers belong to the first queue pair, the others to the second. */
bool verbs_post_receive(struct verbs *v, unsigned slot)
{
    struct ibv_qp *qp = slot < SLOTS_MAIN ? v->qp : v->second_qp;
    struct ibv_sge sge = {(uintptr_t)(v->memory + (size_t)slot * SLOT_SIZE), SLOT_SIZE,
                          v->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
    return ibv_post_recv(qp, &wr, &bad) == 0;
}

static struct ibv_qp *create_ud_qp(struct verbs *v, unsigned slots)
{
    struct ibv_qp_init_attr init = {
        .send_cq = v->sent,
        .recv_cq = v->received,
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 8, .max_recv_wr = slots, .max_send_sge = 1, .max_recv_sge = 1}};
    return ibv_create_qp(v->pd, &init);
}

static bool create_ud_queues(struct verbs *v)
{
    v->memory = calloc(SLOTS + 1, SLOT_SIZE);
    v->pd = ibv_alloc_pd(v->context);
    v->channel = ibv_create_comp_channel(v->context);
    if (!v->memory || !v->pd || !v->channel)
        return false;
    v->mr = ibv_reg_mr(v->pd, v->memory, (size_t)(SLOTS + 1) * SLOT_SIZE, IBV_ACCESS_LOCAL_WRITE);
    v->received = ibv_create_cq(v->context, SLOTS, NULL, v->channel, 0);
    v->sent = ibv_create_cq(v->context, 16, NULL, NULL, 0);
    if (!v->mr || !v->received || !v->sent)
        return false;
    v->qp = create_ud_qp(v, SLOTS_MAIN);
    v->second_qp = create_ud_qp(v, SLOTS_SECOND);
    return v->qp && v->second_qp;
}

/* Posts the receive buffers first to end - 1. */
static int to_rts(struct verbs *v, struct ibv_qp *qp, unsigned pkey_index, unsigned first,
                  unsigned end)
{
    int error = udqp_init(qp, v->base.facts.port, pkey_index, v->qkey);
    for (unsigned i = first; !error && i < end; i++)
        error = verbs_post_receive(v, i) ? 0 : ENOMEM;
    if (!error)
        error = udqp_receive(qp);
    return error ? error : udqp_send(qp);
}

enum transport_result verbs_open_qp(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    struct verbs *v = (struct verbs *)t;
    errno = 0;
    if (!create_ud_queues(v))
        return verbs_fail(t, "cannot create a UD queue pair (ulimit -l: memory that may be locked)",
                          errno ? errno : ENOMEM);
    v->qkey = qkey;
    int error = to_rts(v, v->qp, pkey_index, 0, SLOTS_MAIN);
    if (!error)
        error = to_rts(v, v->second_qp, pkey_index, SLOTS_MAIN, SLOTS);
    if (error)
        return verbs_fail(t, "cannot make the UD queue pair ready", error);
    t->qpn = v->qp->qp_num;
    t->second_qpn = v->second_qp->qp_num;
    ibv_req_notify_cq(v->received, 0);
    return TRANSPORT_OK;
}

/* Opened once: the hosts of a sweep share it. */
enum transport_result verbs_open_other_partition(struct transport *t, unsigned pkey_index)
{
    struct verbs *v = (struct verbs *)t;
    if (t->other_partition_qpn)
        return TRANSPORT_OK;
    errno = 0;
    if (!v->other_partition)
        v->other_partition = create_ud_qp(v, 1);
    if (!v->other_partition)
        return verbs_fail(t, "cannot create a UD queue pair in another partition",
                          errno ? errno : ENOMEM);
    int error = to_rts(v, v->other_partition, pkey_index, 0, 0);
    if (error)
        return verbs_fail(t, "cannot make the UD queue pair in another partition ready", error);
    t->other_partition_qpn = v->other_partition->qp_num;
    t->other_pkey = t->facts.pkeys[pkey_index];
    return TRANSPORT_OK;
}

void verbs_free_queues(struct verbs *v)
{
    for (unsigned i = 0; i < AH_CACHE_SIZE; i++)
        if (v->ah_cache[i].ah)
            ibv_destroy_ah(v->ah_cache[i].ah);
    /* Destroying a queue pair detaches it from its groups (IBA 10.5.1). */
    struct ibv_qp *const queue_pairs[] = {v->qp, v->second_qp, v->other_partition};
    for (size_t i = 0; i < G_N_ELEMENTS(queue_pairs); i++)
        if (queue_pairs[i])
            ibv_destroy_qp(queue_pairs[i]);
    if (v->received)
        ibv_destroy_cq(v->received);
    if (v->sent)
        ibv_destroy_cq(v->sent);
    if (v->mr)
        ibv_dereg_mr(v->mr);
    if (v->channel)
        ibv_destroy_comp_channel(v->channel);
    if (v->pd)
        ibv_dealloc_pd(v->pd);
    free(v->memory);
}
