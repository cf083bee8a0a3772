/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared part of the simulated libibverbs. See played_verbs.h. */
#include "played_verbs.h"

#include <errno.h>
#include <unistd.h>

struct played_verbs played_verbs;

static int result_of(int error)
{
    if (played_verbs.called)
        return played_verbs.called(error);
    errno = error;
    return error ? -1 : 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    static struct ibv_pd pd;
    assert_ptr_equal(context, &played_verbs.context);
    pd.context = context;
    played_verbs.live += !played_verbs.fails.pd;
    return result_of(played_verbs.fails.pd) ? NULL : &pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    (void)pd;
    played_verbs.live--;
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    int ends[2];
    (void)context;
    assert_int_equal(pipe(ends), 0);
    played_verbs.channel.fd = ends[0];
    played_verbs.event_pipe = ends[1];
    played_verbs.live++;
    return &played_verbs.channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    close(played_verbs.event_pipe);
    played_verbs.live--;
    return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at, size_t n, int access)
{
    static struct ibv_mr mr;
    (void)pd;
    (void)at;
    (void)n;
    (void)access;
    played_verbs.live += !played_verbs.fails.mr;
    return result_of(played_verbs.fails.mr) ? NULL : &mr;
}

/* What the macro ibv_reg_mr calls if the compiler does not see that access is constant. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *at, size_t n, uint64_t iova,
                                unsigned int access)
{
    (void)iova;
    return (ibv_reg_mr)(pd, at, n, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    (void)mr;
    played_verbs.live--;
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int n, void *user,
                             struct ibv_comp_channel *channel, int vector)
{
    struct ibv_cq *cq = channel ? &played_verbs.received : &played_verbs.sent;
    (void)n;
    (void)user;
    (void)vector;
    cq->context = context;
    played_verbs.live += !played_verbs.fails.cq;
    return result_of(played_verbs.fails.cq) ? NULL : cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    (void)cq;
    played_verbs.live--;
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    (void)qp;
    played_verbs.live--;
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user)
{
    uint8_t one;
    *cq = &played_verbs.received;
    *user = NULL;
    return read(channel->fd, &one, 1) == 1 ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n)
{
    (void)cq;
    played_verbs.events += n;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded" : "another";
}

void played_completion_event(void)
{
    assert_int_equal(write(played_verbs.event_pipe, "e", 1), 1);
}
