/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage peer.rdma-cm (probe/checks/rdma_cm.c): how far this host's rdma_cm gets, and why no
 * further. The first case of each step is in test_connection.c.
 */
#include "why_run.h"

#include <errno.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/exchange/peer.h"
#include "wire/cm.h"

static struct cm_trial result;

static enum transport_result try_rdma_cm(struct transport *t, struct cm_trial *trial, int ms)
{
    (void)t;
    (void)ms;
    trial->step = result.step;
    trial->error = result.error;
    trial->accepted = result.accepted;
    trial->reason = result.reason;
    trial->port = result.port;
    memcpy(trial->device, result.device, sizeof trial->device);
    return TRANSPORT_OK;
}

/* The route leads to the peer through ib0, and the kernel has the peer's address. */
static void begin(void)
{
    why_run_begin(NULL);
    why_run_know_peer();
    run.cm = true;
    run.ops.try_rdma_cm = try_rdma_cm;
    host.route = (struct host_route){.kind = ROUTE_LINK, .interface = "ib0"};
    host_add_neighbour(2, false, PEER_QPN, 0x95);
}

static void check(const struct cm_trial *trial, int outcome, const char *text, const char *advice)
{
    const struct check *c;
    unsigned i = 0;
    while ((c = check_at(i)) && strcmp(c->name, "rdma-cm") != 0)
        i++;
    assert_non_null(c);
    result = *trial;
    c->run(run.t);
    fake_end(run.t);
    const struct stage *s = run.checked.stages->pdata[0];
    if (s->outcome != outcome || strcmp(s->text, text) != 0 || !strstr(s->advice, advice))
        fail_msg("%d \"%s\", \"%s\"; expected %d \"%s\", \"%s\"", s->outcome, s->text, s->advice,
                 outcome, text, advice);
    probe_fixture_forget(&run.checked);
}

static void a_step_that_fails(void **state)
{
    static const struct {
        enum cm_trial_step step;
        int error, outcome;
        const char *text, *advice;
    } all[] = {
        {TRIAL_START, ENODEV, OUTCOME_INCONCLUSIVE, "rdma_cm cannot be used: No such device", ""},
        {TRIAL_ADDRESS, EADDRNOTAVAIL, OUTCOME_FAIL,
         "the address is not resolved: the interface of the route has no address",
         "ip route get 10.0.0.2; ip neigh show to 10.0.0.2"},
        {TRIAL_ADDRESS, ENODEV, OUTCOME_FAIL,
         "the address is not resolved: the interface of the route has no RDMA device that this "
         "network namespace may use",
         "ip route get 10.0.0.2; rdma system; rdma dev"},
        {TRIAL_ADDRESS, EPERM, OUTCOME_FAIL, "the address is not resolved: Operation not permitted",
         "ip neigh show to 10.0.0.2"},
        {TRIAL_ROUTE, ETIMEDOUT, OUTCOME_FAIL,
         "the route is not resolved: the SA did not answer the kernel's PathRecord query",
         "ipoib-probe -d ib0 fabric"},
        {TRIAL_CONNECT, ECONNRESET, OUTCOME_NOTED, "no connection: Connection reset by peer",
         "at the peer: lsmod | grep ib_cm; rdma system"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        check(&(struct cm_trial){.step = all[i].step, .error = all[i].error}, all[i].outcome,
              all[i].text, all[i].advice);
    }
}

/* The kernel asks for the path with a Service-ID, the probe without one. */
static void a_service_that_the_sa_refuses(void **state)
{
    const struct cm_trial refused = {.step = TRIAL_ROUTE, .error = EINVAL};
    (void)state;
    begin();
    check(&refused, OUTCOME_FAIL,
          "the route is not resolved: the SA refuses the kernel's PathRecord query, which has a "
          "Service-ID, and answers the probe's, which has none: a QoS policy of the subnet manager "
          "refuses the service",
          "on the SM's host: the QoS policy");
    begin();
    host.neighbours[0].lladdr[LLADDR_SIZE - 1] = 0x33; /* the kernel asks for another port */
    check(&refused, OUTCOME_FAIL,
          "the route is not resolved: the SA refuses the kernel's PathRecord query",
          "ipoib-probe -d ib0 fabric");
}

static void an_answer_to_the_req(void **state)
{
#define RESOLVED                                                                                   \
    "address and route are resolved through fake0 port 1, and the peer answers the REQ: "
    struct cm_trial answer = {.step = TRIAL_ANSWERED, .device = "fake0", .port = 1};
    (void)state;
    begin();
    answer.accepted = true;
    check(&answer, OUTCOME_PASS, RESOLVED "REP: somebody listens there", "");
    begin();
    answer.accepted = false;
    answer.reason = CM_REJ_CONSUMER; /* IBA 12.6.7.2 */
    check(&answer, OUTCOME_INCONCLUSIVE, RESOLVED "REJ, reason 28 (consumer reject)",
          "see the peer's dmesg");
    begin();
    answer.reason = 999;
    check(&answer, OUTCOME_INCONCLUSIVE, RESOLVED "REJ, reason 999 (unknown)", "");
}

static void a_trial_that_is_not_made(void **state)
{
    const struct cm_trial answer = {.step = TRIAL_ANSWERED, .reason = CM_REJ_SERVICE_ID};
    (void)state;
    begin();
    run.cm = false;
    g_strlcpy(run.fake.base.no_connections, "no rdma_cm", sizeof run.fake.base.no_connections);
    check(&answer, OUTCOME_NOTED,
          "not tested: connections, which applications make too: no rdma_cm",
          "ls -l /dev/infiniband/rdma_cm; modprobe rdma_ucm");
    begin();
    host.route = (struct host_route){.kind = ROUTE_NONE};
    check(&answer, VERDICT_SKIPPED,
          "this host's route to it does not lead there, but through no interface", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_fails),
        cmocka_unit_test(a_service_that_the_sa_refuses),
        cmocka_unit_test(an_answer_to_the_req),
        cmocka_unit_test(a_trial_that_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
