/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow-shim.so, for LD_PRELOAD: ibv_create_flow for devices whose provider has none. The kernel
 * side of the virtual HCAs supports flow steering of type sniffer, but libibverbs takes them for
 * devices of ib_qib, whose provider (ipathverbs) does not implement it. So this library adds
 * functions to the context of each opened device that send the two commands of
 * <rdma/ib_user_verbs.h>, without flow specifications.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

/* Extended commands give their length in units of eight octets. */
struct header {
    struct ib_uverbs_cmd_hdr command;
    struct ib_uverbs_ex_cmd_hdr extended;
};

static struct header header(unsigned int command, size_t in, void *response, size_t out)
{
    return (struct header){
        .command = {.command = IB_USER_VERBS_CMD_FLAG_EXTENDED | command,
                    .in_words = in / 8,
                    .out_words = out / 8},
        .extended = {.response = (uintptr_t)response},
    };
}

/* 0 or an errno */
static int execute(struct ibv_context *context, const void *request, size_t length)
{
    ssize_t done = write(context->cmd_fd, request, length);

    return done == (ssize_t)length ? 0 : done < 0 ? errno : EIO;
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    struct ib_uverbs_create_flow_resp response = {0};
    struct {
        struct header header;
        struct ib_uverbs_create_flow body;
    } request = {
        .header = header(IB_USER_VERBS_EX_CMD_CREATE_FLOW, sizeof(request.body), &response,
                         sizeof(response)),
        .body = {.qp_handle = qp->handle},
    };
    struct ibv_flow *flow = calloc(1, sizeof(*flow));
    int error;

    if (!flow)
        return NULL;
    request.body.flow_attr.type = attr->type;
    request.body.flow_attr.priority = attr->priority;
    request.body.flow_attr.port = attr->port;
    request.body.flow_attr.flags = attr->flags;
    error = attr->num_of_specs ? EOPNOTSUPP : execute(qp->context, &request, sizeof(request));
    if (error) {
        free(flow);
        errno = error;
        return NULL;
    }
    flow->context = qp->context;
    flow->handle = response.flow_handle;
    return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
    struct {
        struct header header;
        struct ib_uverbs_destroy_flow body;
    } request = {
        .header = header(IB_USER_VERBS_EX_CMD_DESTROY_FLOW, sizeof(request.body), NULL, 0),
        .body = {.flow_handle = flow->handle},
    };
    int error = execute(flow->context, &request, sizeof(request));

    if (!error)
        free(flow);
    return error;
}

/* Calls libibverbs' function, then adds the missing functions to the context that it returns. */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *(*open_device)(struct ibv_device *);
    struct ibv_context *context;
    struct verbs_context *verbs;

    *(void **)&open_device = dlvsym(RTLD_NEXT, "ibv_open_device", "IBVERBS_1.1");
    if (!open_device) {
        errno = ENOSYS;
        return NULL;
    }
    context = open_device(device);
    verbs = context ? verbs_get_ctx(context) : NULL;
    if (verbs) {
        verbs->ibv_create_flow = create_flow;
        verbs->ibv_destroy_flow = destroy_flow;
    }
    return context;
}
