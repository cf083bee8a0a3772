/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects as applications do: by IP address. See struct cm_trial. */
#include "probe/link/connect_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

/* TRIAL_PORT: no application of RDMA has it. */
enum { RESOLVE_MS = 1000, TRIAL_PORT = 1 };

static void fill_address(struct sockaddr_storage *a, const struct cm_trial *trial)
{
    memset(a, 0, sizeof *a);
    if (trial->ipv6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)a;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(TRIAL_PORT);
        in6->sin6_scope_id = trial->interface ? if_nametoindex(trial->interface) : 0;
        memcpy(&in6->sin6_addr, trial->ip, 16);
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *)a;
        in->sin_family = AF_INET;
        in->sin_port = htons(TRIAL_PORT);
        memcpy(&in->sin_addr, trial->ip, 4);
    }
}

static void fail_step(struct cm_trial *trial, enum cm_trial_step step, int error)
{
    trial->step = step;
    trial->error = error == -1 ? EIO : ABS(error); /* -1: librdmacm gives no reason */
}

/* Waits for the end of a step. False: it failed, or the run is stopped. */
static bool await_step(struct rdma_connection *conn, enum stage from, enum stage to,
                       struct cm_trial *trial, enum transport_result *result)
{
    gint64 end = g_get_monotonic_time() + (gint64)2 * RESOLVE_MS * 1000;
    *result = connector_await(conn, from, end);
    if (*result == TRANSPORT_OK && conn->stage == to)
        return true;
    fail_step(trial, trial->step, conn->stage == from ? ETIMEDOUT : conn->status);
    return false;
}

static bool begin_step(struct cm_trial *trial, enum cm_trial_step step, int failed)
{
    trial->step = step;
    if (failed)
        fail_step(trial, step, errno);
    return !failed;
}

static bool resolve(struct rdma_connection *conn, struct cm_trial *trial,
                    enum transport_result *result)
{
    struct sockaddr_storage to;
    fill_address(&to, trial);
    bool created = begin_step(
        trial, TRIAL_START, rdma_create_id(conn->connector->events, &conn->id, conn, RDMA_PS_TCP));
    conn->id = created ? conn->id : NULL;
    if (!created ||
        !begin_step(trial, TRIAL_ADDRESS,
                    rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&to, RESOLVE_MS)) ||
        !await_step(conn, NEW, ADDRESS_RESOLVED, trial, result))
        return false;
    if (conn->id->verbs)
        g_strlcpy(trial->device, conn->id->verbs->device->name, sizeof trial->device);
    trial->port = conn->id->port_num;
    return begin_step(trial, TRIAL_ROUTE, rdma_resolve_route(conn->id, RESOLVE_MS)) &&
           await_step(conn, ADDRESS_RESOLVED, ROUTE_RESOLVED, trial, result);
}

static void take_answer(struct rdma_connection *conn, struct cm_trial *trial)
{
    trial->accepted = conn->stage == REP_RECEIVED;
    trial->reason = conn->base.reason;
    if (conn->stage == REP_RECEIVED || conn->stage == REJECTED)
        trial->step = TRIAL_ANSWERED;
    else
        fail_step(trial, TRIAL_CONNECT, conn->stage == ROUTE_RESOLVED ? ETIMEDOUT : conn->status);
}

static enum transport_result run_trial(struct rdma_connection *conn, struct cm_trial *trial, int ms)
{
    enum transport_result result = TRANSPORT_OK;
    if (!resolve(conn, trial, &result))
        return result;
    trial->step = TRIAL_CONNECT;
    errno = 0;
    if (!connector_send_req(conn)) {
        fail_step(trial, TRIAL_START, errno);
        return result;
    }
    result = connector_await(conn, ROUTE_RESOLVED, g_get_monotonic_time() + (gint64)ms * 1000);
    if (result != TRANSPORT_STOPPED)
        take_answer(conn, trial);
    return result;
}

/* Destroying the ID also ends a connection that was accepted. */
enum transport_result connector_try(struct connector *c, struct cm_trial *trial, int ms)
{
    const struct connect_request none = {.pkey = 0};
    struct rdma_connection *conn = connector_begin(c, &none);
    if (!conn) {
        fail_step(trial, TRIAL_START, EMFILE);
        return TRANSPORT_OK;
    }
    enum transport_result result = run_trial(conn, trial, ms);
    if (conn->stage == REP_RECEIVED)
        rdma_reject(conn->id, NULL, 0);
    connector_destroy(conn);
    return result == TRANSPORT_STOPPED ? result : TRANSPORT_OK;
}
