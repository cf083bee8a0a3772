/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What applications do: resolve the IP address and the route with rdma_cm, and connect. Nobody
 * listens at the Service-ID, so a REJ that says so is success.
 */
#include <errno.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/records.h"
#include "probe/link/advice.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/hostroute.h"
#include "probe/link/link.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "wire/cm.h"
#include "wire/ip.h"

#define STAGE "peer.rdma-cm"

enum { CONNECT_WAIT_MS = 2000 };

/* ---- the step that failed, and its cause */

static const char *address_cause(int error)
{
    switch (error) {
    case ETIMEDOUT:
        return "this host's kernel got no answer to its own request for the peer's address (no "
               "neighbour)";
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENOENT:
        return "this host has no route to it";
    case ENODEV:
        return "the interface of the route has no RDMA device that this network namespace may use";
    case EADDRNOTAVAIL:
        return "the interface of the route has no address";
    default:
        return NULL;
    }
}

static const char *route_cause(int error)
{
    return error == ETIMEDOUT ? "the SA did not answer the kernel's PathRecord query"
           : error == EINVAL  ? "the SA refuses the kernel's PathRecord query"
                              : NULL;
}

static const char *connect_cause(int error)
{
    return error == ETIMEDOUT ? "the peer's communication manager did not answer the REQ" : NULL;
}

static const struct {
    const char *words;
    const char *(*cause)(int error);
} steps[] = {
    [TRIAL_START] = {"rdma_cm cannot be used", NULL},
    [TRIAL_ADDRESS] = {"the address is not resolved", address_cause},
    [TRIAL_ROUTE] = {"the route is not resolved", route_cause},
    [TRIAL_CONNECT] = {"no connection", connect_cause},
};

/* Hosts without a communication manager can use IPoIB, but not connected mode. */
static enum outcome outcome_of(const struct target *t, const struct cm_trial *trial)
{
    bool connected = t->peer->lladdr[LLADDR_FLAGS] & (LLADDR_FLAG_RC | LLADDR_FLAG_UC);
    return trial->step == TRIAL_START                  ? OUTCOME_INCONCLUSIVE
           : trial->step != TRIAL_CONNECT || connected ? OUTCOME_FAIL
                                                       : OUTCOME_NOTED;
}

static void advise(struct target *t, const struct cm_trial *trial)
{
    struct port_words w;
    char ip[48];
    advice_name_port(t->link, &w);
    text_ip(t->ipv6, t->ip, ip);
    if (trial->step == TRIAL_ADDRESS && trial->error == ENODEV)
        results_advise(t->results, "ip route get %s; rdma system; rdma dev", ip);
    else if (trial->step == TRIAL_ADDRESS)
        results_advise(t->results, "ip route get %s; ip neigh show to %s", ip, ip);
    else if (trial->step == TRIAL_ROUTE)
        results_advise(t->results, "ipoib-probe %s fabric", w.probe);
    else if (trial->step == TRIAL_CONNECT)
        results_advise(t->results, "at the peer: lsmod | grep ib_cm; rdma system");
}

/* The kernel asks for the path to the port that its neighbour entry has. */
static bool is_kernels_neighbour(const struct target *t, const char *interface)
{
    struct host_neighbour n;
    return interface && hostneigh_find(interface, t->ipv6, t->ip, &n) &&
           lladdr_same_port(n.lladdr, t->peer->lladdr);
}

/* rdma_cm asks with the Service-ID, the probe without. */
static bool is_refused_by_service(struct target *t, const struct cm_trial *trial)
{
    struct sa_response a;
    if (trial->step != TRIAL_ROUTE || trial->error != EINVAL ||
        !transport_can(t->link->transport, CAN_QUERY_SA) ||
        !is_kernels_neighbour(t, trial->interface))
        return false;
    bool answers = records_get_path(t, t->peer->lladdr + LLADDR_GID, &a) == SA_SUCCESS;
    sa_response_clear(&a);
    return answers;
}

static void report_failure(struct target *t, const struct cm_trial *trial)
{
    const char *cause = steps[trial->step].cause ? steps[trial->step].cause(trial->error) : NULL;
    bool by_service = is_refused_by_service(t, trial),
         slow = trial->step == TRIAL_ROUTE && trial->error == ETIMEDOUT && t->run->sa.slow[0];
    results_stage(t->results, STAGE, outcome_of(t, trial), "", "%s: %s%s%s%s",
                  steps[trial->step].words, cause ? cause : g_strerror(trial->error),
                  slow ? " in time; " : "", slow ? sa_slow_text(t) : "",
                  by_service
                      ? ", which has a Service-ID, and answers the probe's, which has none: a "
                        "QoS policy of the subnet manager refuses the service"
                      : "");
    if (by_service)
        results_advise(t->results, "on the SM's host: the QoS policy (OpenSM: "
                                   "/etc/opensm/qos-policy.conf), and the SM's log");
    else
        advise(t, trial);
}

/* ---- an answer */

static void report_answer(struct target *t, const struct cm_trial *trial)
{
    const char *name = names_find(cm_reject_names, trial->reason);
    bool expected = trial->accepted || trial->reason == CM_REJ_SERVICE_ID;
    char *answer = trial->accepted
                       ? g_strdup("REP: somebody listens there")
                       : g_strdup_printf("REJ, reason %u (%s)%s", trial->reason,
                                         name ? name : "unknown",
                                         expected ? ": nobody listens there, as meant" : "");
    const struct port_facts *f = &t->link->transport->facts;
    bool same = strcmp(trial->device, f->device) == 0 && trial->port == f->port;
    results_stage(t->results, STAGE,
                  !expected ? OUTCOME_INCONCLUSIVE
                  : same    ? OUTCOME_PASS
                            : OUTCOME_NOTED,
                  expected ? "" : "see the peer's dmesg",
                  "address and route are resolved through %s port %u%s, and the peer answers the "
                  "REQ: %s",
                  trial->device, trial->port, same ? "" : ", which is not the tested port", answer);
    g_free(answer);
}

/* ---- the check */

/* rdma_cm resolves with this host's interfaces and routes, which the probe does without. */
static char *why_not(struct target *t)
{
    char *interface = host_interface(t->link);
    bool local = t->ipv6 && ipv6_is_link_local(t->ip); /* on each link */
    struct host_route route = host_route_get(t->ipv6, t->ip, local && interface ? interface : "");
    GPtrArray *all = host_interfaces(t->link);
    bool same = route.kind == ROUTE_UNKNOWN ||
                g_ptr_array_find_with_equal_func(all, route.interface, g_str_equal, NULL);
    char *why = !interface ? g_strdup("this host has no interface that is up there")
                : !same    ? g_strdup_printf("this host's route to it does not lead there, but "
                                                "through %s",
                                          route.interface[0] ? route.interface : "no interface")
                           : NULL;
    g_ptr_array_unref(all);
    g_free(interface);
    return why;
}

/* Within that time the kernel sends each request once: one that is lost is tried again. */
static void try_rdma_cm(struct target *t)
{
    char *interface = host_interface(t->link);
    struct cm_trial trial = {.step = TRIAL_START};
    int wait = MAX(CONNECT_WAIT_MS, (int)t->run->options->timeout_ms);
    bool silent = true;
    for (unsigned i = 0; i < TRIES && silent && !target_ended(t); i++) {
        trial = (struct cm_trial){.ipv6 = t->ipv6, .interface = interface};
        memcpy(trial.ip, t->ip, 16);
        if (t->link->transport->ops->try_rdma_cm(t->link->transport, &trial, wait) ==
            TRANSPORT_STOPPED)
            t->run->stopped = true;
        silent = trial.step != TRIAL_ANSWERED && trial.error == ETIMEDOUT;
    }
    t->peer->cm_unresolved = (silent && trial.step == TRIAL_ADDRESS) || trial.step == TRIAL_ROUTE;
    t->peer->rdma_cm_failed = trial.step != TRIAL_ANSWERED;
    if (target_ended(t))
        ;
    else if (trial.step == TRIAL_ANSWERED)
        report_answer(t, &trial);
    else
        report_failure(t, &trial);
    g_free(interface);
}

static void check_rdma_cm(struct target *t)
{
    const struct transport_ops *ops = t->link->transport->ops;
    if (t->yield || !ops->try_rdma_cm)
        return;
    if (!ops->can_connect(t->link->transport)) {
        results_stage(t->results, STAGE, OUTCOME_NOTED,
                      "ls -l /dev/infiniband/rdma_cm; modprobe rdma_ucm",
                      "not tested: connections, which applications make too: %s",
                      t->link->transport->no_connections);
        return;
    }
    char *why = why_not(t);
    if (why)
        results_stage(t->results, STAGE, VERDICT_SKIPPED, "", "%s", why);
    else
        try_rdma_cm(t);
    g_free(why);
}

static const struct check checks[] = {
    {.name = "rdma-cm",
     .stage = STAGE,
     .transport = HAS_CONNECTIONS,
     .run = check_rdma_cm,
     .sends = "what the kernel sends to resolve the address and route; then REQ to a Service-ID of "
              "rdma_cm at which nobody listens",
     .expects = "REJ: invalid Service-ID"},
};
const struct check_table rdma_cm_checks = {checks, G_N_ELEMENTS(checks)};
