/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probe against a simulated peer: exactly the rules that the peer's fault violates fail. */
#include "probe_peer.h"

#include <string.h>

#include "probe/checks/checks.h"
#include "probe/fabric/stages.h"
#include "probe/link/message.h"
#include "wire/put.h"
#include "probe/exchange/echo_request.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/exchange/source.h"
#include "probe/link/link.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* ---- a run */

struct outcome_of_run {
    struct fake fake;
    struct checked checked;
    struct verdict_summary summary;
};

/* Adds the probe's port to partition 0x8001, too. */
static void join_other_partition(struct fake *f)
{
    f->base.facts.pkeys[f->base.facts.n_pkeys++] = OTHER_PKEY;
}

static const struct fake *during; /* NULL: nothing happens during the run */

static void run_over(struct outcome_of_run *o, enum fault fault, bool source, bool member,
                     const struct network *network, unsigned timeout_ms)
{
    struct options options = {
        .rate = 100000, .timeout_ms = timeout_ms, .disruptive = true, .has_source = source};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    fake_begin(&o->fake, target, fault, member);
    join_other_partition(&o->fake);
    o->fake.network = *network;
    if (source) {
        target->link->source = (struct own_address){.given = true};
        memcpy(target->link->source.ip, own_ip, 4);
        assert_true(source_address_open(target, NULL));
    }
    memcpy(target->ip, peer_ip, 4);
    g_strlcpy(target->name, "10.0.0.2", sizeof target->name);
    if (during) {
        o->fake.pkey_gone_after = during->pkey_gone_after;
        o->fake.down_after = during->down_after;
        o->fake.silent_after = during->silent_after;
        o->fake.refused = during->refused;
        o->fake.refused_attribute = during->refused_attribute;
        o->fake.busy_after = during->busy_after;
        o->fake.loses_requests = during->loses_requests;
        o->fake.loses_replies = during->loses_replies;
    }
    checks_run_peer(target, NULL);
    fake_end(target);
    o->summary = verdict_summarize(o->checked.verdict, true);
}

/* Faults that happen during the run: of *as, only these fields are used. */
static void run_until(struct outcome_of_run *o, const struct fake *as)
{
    during = as;
    run_over(o, as->fault, true, true, &as->network, 500);
    during = NULL;
}

static void run(struct outcome_of_run *o, enum fault fault, bool source, bool member)
{
    run_over(o, fault, source, member, &(struct network){0}, 1);
}

static const uint8_t peer_ip6[16] = {0xfd, [15] = 2}, own_ip6[16] = {0xfd, [15] = 9};

/*
 * Runs all checks on an IPv6 peer. responses: number of requests that the SA responds to before it
 * falls silent; 0: all.
 */
static void run_ipv6_over(struct outcome_of_run *o, enum fault fault, unsigned responses,
                          const struct network *network, unsigned timeout_ms)
{
    struct options options = {.rate = 100000, .timeout_ms = timeout_ms, .disruptive = true};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    fake_begin(&o->fake, target, fault, true);
    o->fake.ipv6 = true;
    o->fake.network = *network;
    o->fake.silent_after = responses ? o->fake.asks + responses - 1 : 0;
    target->ipv6 = true;
    memcpy(target->ip, peer_ip6, 16);
    g_strlcpy(target->name, "fd00::2", sizeof target->name);
    checks_run_peer(target, NULL);
    fake_end(target);
    o->summary = verdict_summarize(o->checked.verdict, true);
}

static void run_ipv6_as(struct outcome_of_run *o, enum fault fault, unsigned responses)
{
    run_ipv6_over(o, fault, responses, &(struct network){0}, 1);
}

static void clear(struct outcome_of_run *o)
{
    probe_fixture_forget(&o->checked);
}

/* Asserts the identifiers of the rules that failed, each followed by a space. */
static void check_failed(const struct outcome_of_run *o, const char *expected)
{
    GString *failed = g_string_new(NULL);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_count(o->checked.verdict, (enum rule_number)i, OUTCOME_FAIL))
            g_string_append_printf(failed, "%s ", rules[i].id);
    assert_string_equal(failed->str, expected);
    g_string_free(failed, TRUE);
}

static void check_fault(enum fault fault, const char *expected)
{
    struct outcome_of_run o;
    run(&o, fault, true, true);
    check_failed(&o, expected);
    clear(&o);
}

static void says(const char *text, const char *words)
{
    if (!text || !strstr(text, words))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", words);
}

/* ---- the tests */

static void good_peer(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, true, true);
    /*
     * The Q_Key is not a controlled one: this SHOULD fails because no list of deviations is used.
     */
    check_failed(&o, "rfc4391.13.qkey-controlled ");
    assert_int_equal(o.summary.must, 0);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_6_RESERVED_IGNORED), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_6_GRH_OPTIONAL), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_7_MTU_2044), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_9_1_QKEY_MATCH), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4755_3_1_UD_ONLY_FLAGS), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_PARTITION_INVALID_DROPPED), OUTCOME_PASS);
    /* checked by ARP; not skipped, although an NS would check it, too */
    assert_int_equal(verdict_count(o.checked.verdict, R_RFC4391_9_1_1_FLAGS_IGNORED,
                                   (enum outcome)VERDICT_SKIPPED),
                     0);
    clear(&o);
}

/* What the SA refuses to say about the peer is inconclusive, with the status in words. */
static void refused_records_are_named(void **state)
{
    static const struct {
        uint16_t attribute; /* IBA 15.2.5: NodeRecord, PathRecord */
        enum rule_number rule;
    } all[] = {{0x0011, R_RFC4391_9_1_1_GID_FROM_PORT_GUID},
               {0x0011, R_RFC4391_5_FULL_MEMBER_JOIN},
               {0x0035, R_RFC4391_9_1_1_GID_OF_PORT}};
    struct outcome_of_run o;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        run_until(&o, &(struct fake){.refused = 0x0700, .refused_attribute = all[i].attribute});
        const struct verdict_result *r = verdict_result(o.checked.verdict, all[i].rule,
                                                        OUTCOME_INCONCLUSIVE);
        assert_non_null(r);
        says(r->cases[0].actual, "the SA refuses: status 0x0700, request denied");
        clear(&o);
    }
}

static void each_violation_is_found(void **state)
{
    (void)state;
#define ALWAYS "rfc4391.13.qkey-controlled "
    check_fault(NEEDS_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(REFUSES_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(MINDS_RESERVED, "rfc4391.6.reserved-ignored " ALWAYS);
    check_fault(MINDS_FLAGS, "rfc4391.9.1.1.flags-ignored " ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(OTHER_SENDER_QPN, ALWAYS "rfc4755.2.2.one-ud-qp ");
    check_fault(WRONG_TARGET, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(WRONG_TARGET_LLADDR, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(ANSWERS_SENDER, "rfc4391.9.1.1.arp-reply-qpn " ALWAYS);
    check_fault(SENDS_IP_TO_SENDER, "rfc4391.9.1.1.traffic-to-qpn " ALWAYS);
    check_fault(NOT_FULL_MEMBER, "rfc4391.5.full-member-join " ALWAYS);
    check_fault(DEAF_TO_MULTICAST, "rfc4391.2.multicast-supported " ALWAYS);
    check_fault(TAKES_ANY_QKEY, "rfc4391.9.1.qkey-match " ALWAYS);
    check_fault(WRONG_PATH, ALWAYS);
    check_fault(GID_OF_OTHER, "rfc4391.9.1.1.gid-of-port rfc4391.9.1.1.gid-from-port-guid " ALWAYS);
    check_fault(WRONG_GUID, "rfc4391.9.1.1.gid-from-port-guid " ALWAYS);
    check_fault(SMALL_MTU, "rfc4391.7.mtu-2044 " ALWAYS);
    check_fault(SENDS_RESERVED, "rfc4391.6.reserved-zero " ALWAYS);
    check_fault(SENDS_FLAGS, "rfc4391.9.1.1.reserved-flags " ALWAYS);
    check_fault(ECHOES_FLAGS, ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(HARDWARE_TYPE_1, "rfc4391.9.2.arp-hardware-type " ALWAYS);
}

/* A rule of level INFO: reported, but not counted. */
static void wrong_pkey_is_noted(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, TAKES_ANY_PKEY, false, true);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_PARTITION_INVALID_DROPPED), OUTCOME_NOTED);
    clear(&o);
}

/* No rule fails for a peer that dies, or for a fabric that loses every second packet. */
static void missing_replies_raise_no_violation(void **state)
{
    struct outcome_of_run o;
    (void)state;
    check_fault(DIES, ALWAYS);
    check_fault(DROPS_HALF, ALWAYS);
    run(&o, IS_ABSENT, false, true);
    check_failed(&o, "");
    assert_int_equal(o.summary.status, VERDICT_UNJUDGED);
    assert_non_null(o.checked.trouble);
    clear(&o);
}

/* ---- 0 is a claim: what was not answered, or not at the end, is not conformant */

static void check_verdict(const struct outcome_of_run *o, enum verdict_status status,
                          const char *reason)
{
    enum verdict_status found = probe_fixture_verdict(&o->checked);
    if (found != status)
        fail_msg("verdict %d, not %d: %s", found, status, probe_fixture_reason(&o->checked));
    if (status == VERDICT_UNJUDGED)
        says(probe_fixture_reason(&o->checked), reason);
}

/* Whenever the peer falls silent, also before the last request of the test. */
static void peer_that_falls_silent_is_not_judged(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, true, true);
    unsigned all = o.fake.pushed;
    check_verdict(&o, VERDICT_CONFORMANT, "");
    clear(&o);
    for (unsigned n = 1; n < all; n++) {
        run_until(&o, &(struct fake){.network.ends_after = n});
        check_verdict(&o, VERDICT_UNJUDGED, n < 2 ? "" : "no longer");
        clear(&o);
    }
    run_until(&o, &(struct fake){.network.ends_after = all});
    check_verdict(&o, VERDICT_CONFORMANT, "");
    clear(&o);
}

/* The user asked for echo requests. Without --source there are none. */
static void peer_without_an_echo_is_not_judged(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_ECHO, true, true);
    check_verdict(&o, VERDICT_UNJUDGED, "it answers none of ");
    clear(&o);
    run(&o, NO_ECHO, false, true);
    check_verdict(&o, VERDICT_CONFORMANT, "");
    clear(&o);
}

static void own_side_is_the_reason(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run_until(&o, &(struct fake){.pkey_gone_after = 20});
    check_verdict(&o, VERDICT_UNJUDGED, "fake0 port 1 is no longer in partition 0xffff");
    clear(&o);
    run_until(&o, &(struct fake){.down_after = 20});
    check_verdict(&o, VERDICT_UNJUDGED, "fake0 port 1 is no longer active");
    clear(&o);
    run_until(&o, &(struct fake){.silent_after = 1, .network.ends_after = 9});
    check_verdict(&o, VERDICT_UNJUDGED, "the SA (LID 1) no longer answers");
    clear(&o);
}

static const struct stage *find_stage(const struct outcome_of_run *o, const char *id)
{
    for (guint i = 0; o->checked.stages && i < o->checked.stages->len; i++) {
        const struct stage *s = o->checked.stages->pdata[i];
        if (strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

/* A reply after the timeout is slow, not missing. */
static void late_reply_is_slow(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run_until(&o, &(struct fake){.network.late_ms = 2500});
    check_verdict(&o, VERDICT_UNJUDGED,
                  "no reply from 10.0.0.2 to 3 ARP requests, 500 ms each: the peer is slow: its "
                  "reply came 2.5 s after the first request");
    says(find_stage(&o, "peer.no-reply")->advice, "ipoib-probe --timeout 37"); /* 1.5 times */
    clear(&o);
    run_until(&o, &(struct fake){.fault = IS_ABSENT});
    check_verdict(&o, VERDICT_UNJUDGED, "no reply from 10.0.0.2 to 3 ARP requests, 500 ms each");
    clear(&o);
}

/* ---- sizes */

/*
 * The largest size that gets a reply. 420 is no MTU, so the path loses larger packets, whichever
 * way they go; a fragment of a reply, or an MTU, shows the peer's own limit.
 */
static void limits_of_sizes_are_found(void **state)
{
    static const struct {
        struct fake as;
        int outcome;
        const char *text;
        enum verdict_status status;
    } cases[] = {
        {{.fault = NO_FAULT},
         OUTCOME_PASS,
         "up to 2044 bytes, the link's MTU, get a reply over UD",
         VERDICT_CONFORMANT},
        {{.loses_requests = 420},
         OUTCOME_FAIL,
         "packets above 420 bytes are lost on the path; requests of up to 420 bytes arrive; replies of "
         "2044 bytes arrive",
         VERDICT_VIOLATED},
        {{.loses_replies = 421},
         OUTCOME_FAIL,
         "packets above 421 bytes are lost on the path; requests of 2044 bytes arrive; replies of up to "
         "421 bytes arrive",
         VERDICT_VIOLATED},
        {{.loses_requests = 700, .loses_replies = 600},
         OUTCOME_FAIL,
         "packets above 600 bytes are lost on the path; requests of up to 700 bytes arrive; replies of "
         "up to 600 bytes arrive",
         VERDICT_VIOLATED},
        {{.fault = SMALL_MTU},
         OUTCOME_NOTED,
         "up to 1500 bytes get a reply over UD, which is an MTU",
         VERDICT_VIOLATED},
        {{.fault = SMALLER_MTU_FRAGMENTS},
         OUTCOME_NOTED,
         "up to 1400 bytes get a reply over UD, the peer's MTU: it fragments larger replies",
         VERDICT_VIOLATED},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct outcome_of_run o;
        run_until(&o, &cases[i].as);
        const struct stage *s = find_stage(&o, "peer.sizes");
        assert_non_null(s);
        assert_string_equal(s->text, cases[i].text);
        assert_int_equal(s->outcome, cases[i].outcome);
        assert_int_equal(probe_fixture_verdict(&o.checked), cases[i].status);
        bool of_path = cases[i].outcome == OUTCOME_FAIL;
        assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_7_MTU_2044),
                         of_path                         ? OUTCOME_INCONCLUSIVE
                         : cases[i].as.fault == NO_FAULT ? OUTCOME_PASS
                                                         : OUTCOME_FAIL);
        assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4755_5_MINIMUM_MTU), OUTCOME_PASS);
        clear(&o);
    }
}

/* ---- counts of requests and lost packets */

static void check_requests(const struct outcome_of_run *o, bool late, bool lost)
{
    const struct checked_requests *q = &o->checked.requests;
    const struct stage *first = o->checked.stages->pdata[0];
    assert_true(q->counted);
    assert_int_equal(q->sent, q->first_try + q->late + q->never);
    assert_true(q->packets >= q->sent - q->never);
    assert_int_equal(q->late > 0, late);
    assert_int_equal(q->lost > 0, lost);
    assert_string_equal(first->id, "peer.numbers");
    assert_string_equal(o->checked.lead, "peer.numbers");
    says(first->text, " requests: ");
    says(first->text, lost ? " packets lost" : " packet lost");
}

/* The peer's replies take 0.1 ms, the SA's 0.2 ms. Each busy answer counts. */
static void response_times_are_measured(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run_until(&o, &(struct fake){.fault = NO_FAULT});
    const struct checked_times *ud = &o.checked.over_ud, *sa = &o.checked.sa_times;
    const struct stage *first = o.checked.stages->pdata[0];
    enum { BURST = 20 + 8 }; /* replies to these are counted only */
    assert_int_equal(ud->n + o.checked.requests.late, o.checked.requests.sent - 1 - BURST);
    assert_int_equal(ud->least, SEND_US + ROUND_TRIP_US);
    assert_int_equal(ud->median, SEND_US + ROUND_TRIP_US);
    assert_int_equal(ud->p99, SEND_US + ROUND_TRIP_US);
    assert_int_equal(sa->least, SA_RESPONSE_US);
    assert_int_equal(sa->p99, SA_RESPONSE_US);
    assert_true(sa->n > 5);
    assert_int_equal(o.checked.over_rc.n, 0);
    says(first->text, "; round trip (min/median/99 %) 0.10/0.10/0.10 ms over UD");
    says(find_stage(&o, "peer.sa-times")->text, " answers in 0.20/0.20/0.20 ms");
    clear(&o);
    run_until(&o, &(struct fake){.busy_after = 4});
    assert_true(o.checked.sa_busy > 0);
    says(find_stage(&o, "peer.sa-times")->text, " ms, 6 of them with status busy");
    says(find_stage(&o, "peer.sa-times")->advice, "load of the SM's host");
    clear(&o);
}

/* Slow, duplicated and ignored packets are not lost ones. */
static void lost_packets_are_counted(void **state)
{
    static const struct {
        struct fake as;
        bool late, lost;
        enum verdict_status status;
        const char *reason;
    } runs[] = {{.status = VERDICT_CONFORMANT},
                {.as.network.late_ms = 600,
                 .late = true,
                 .status = VERDICT_UNJUDGED,
                 .reason = "it takes longer than the limit of 500 ms to reply"},
                {.as.network = {.doubles = true, .doubled_after_ms = 300}},
                {.as.network = {.late_ms = 600, .doubles = true},
                 .late = true,
                 .status = VERDICT_UNJUDGED,
                 .reason = "it takes "},
                {.as.fault = SMALL_MTU, .status = VERDICT_VIOLATED},
                {.as.fault = DROPS_EIGHTH, .late = true, .lost = true},
                {.as.network.loses_half = true,
                 .late = true,
                 .lost = true,
                 .status = VERDICT_UNJUDGED,
                 .reason = " requests lost ("}};
    struct outcome_of_run o;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
        run_until(&o, &runs[i].as);
        check_requests(&o, runs[i].late, runs[i].lost);
        check_verdict(&o, runs[i].status, runs[i].reason);
        if (runs[i].lost)
            says(o.checked.remark, " requests lost (");
        else
            assert_null(o.checked.remark);
        clear(&o);
    }
}

/* ---- replies that are late, duplicated or lost */

static const struct network networks[] = {
    {.late_ms = 600},
    {.doubles = true},
    {.doubles = true, .doubled_after_ms = 300},
    {.doubles = true, .doubled_after_ms = 900},
    {.late_ms = 600, .doubles = true, .doubled_after_ms = 300},
    {.loses_half = true},
    {.doubles = true, .doubled_after_ms = 300, .loses_half = true},
};
static const unsigned timeouts[] = {250, 500, 1000}; /* ms */

/* With IPv6, only NS can reveal the fault: there is no echo. */
static void run_family(struct outcome_of_run *o, bool ipv6, enum fault fault, size_t network,
                       unsigned timeout_ms)
{
    if (ipv6)
        run_ipv6_over(o, fault, 0, &networks[network], timeout_ms);
    else
        run_over(o, fault, true, true, &networks[network], timeout_ms);
}

/* A reply to another request must not count as a reply to the variant that the peer drops. */
static void replies_are_matched_to_their_requests(void **state)
{
    static const struct {
        enum fault fault;
        enum rule_number rule;
        bool ipv6;
    } deviants[] = {{MINDS_RESERVED, R_RFC4391_6_RESERVED_IGNORED, false},
                    {NEEDS_GRH, R_RFC4391_6_GRH_OPTIONAL, false},
                    {REFUSES_GRH, R_RFC4391_6_GRH_OPTIONAL, false},
                    {MINDS_FLAGS, R_RFC4391_9_1_1_FLAGS_IGNORED, false},
                    {MINDS_FLAGS, R_RFC4755_3_1_UD_ONLY_FLAGS, false},
                    {DEAF_TO_MULTICAST, R_RFC4391_2_MULTICAST_SUPPORTED, false},
                    {ANSWERS_SENDER, R_RFC4391_9_1_1_ARP_REPLY_QPN, false},
                    {TAKES_ANY_QKEY, R_RFC4391_9_1_QKEY_MATCH, false},
                    {MINDS_RESERVED, R_RFC4391_6_RESERVED_IGNORED, true},
                    {NEEDS_GRH, R_RFC4391_6_GRH_OPTIONAL, true},
                    {REFUSES_GRH, R_RFC4391_6_GRH_OPTIONAL, true},
                    {TAKES_ANY_QKEY, R_RFC4391_9_1_QKEY_MATCH, true}};
    (void)state;
    for (size_t n = 0; n < G_N_ELEMENTS(networks); n++)
        for (size_t t = 0; t < G_N_ELEMENTS(timeouts); t++)
            for (size_t d = 0; d < G_N_ELEMENTS(deviants); d++) {
                struct outcome_of_run o;
                run_family(&o, deviants[d].ipv6, deviants[d].fault, n, timeouts[t]);
                int worst = verdict_worst(o.checked.verdict, deviants[d].rule);
                if (worst != OUTCOME_FAIL && worst != OUTCOME_INCONCLUSIVE)
                    fail_msg("%s: outcome %d, network %zu, %u ms", rules[deviants[d].rule].id,
                             worst, n, timeouts[t]);
                clear(&o);
            }
}

/* For a conforming peer no rule fails, and the rules that can be decided pass. */
static void lossy_network_raises_no_violation(void **state)
{
    static const enum rule_number tested[] = {
        R_RFC4391_6_RESERVED_IGNORED, R_RFC4391_6_GRH_OPTIONAL, R_RFC4391_9_1_QKEY_MATCH,
        R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4391_9_1_1_ARP_REPLY_QPN};
    enum { OF_BOTH = 3 };
    (void)state;
    for (size_t n = 0; n < G_N_ELEMENTS(networks); n++)
        for (size_t t = 0; t < 2 * G_N_ELEMENTS(timeouts); t++) {
            struct outcome_of_run o;
            bool ipv6 = t >= G_N_ELEMENTS(timeouts);
            unsigned ms = timeouts[t % G_N_ELEMENTS(timeouts)];
            run_family(&o, ipv6, NO_FAULT, n, ms);
            check_failed(&o, ALWAYS);
            for (size_t i = 0; i < (ipv6 ? OF_BOTH : G_N_ELEMENTS(tested)); i++)
                if (verdict_worst(o.checked.verdict, tested[i]) != OUTCOME_PASS)
                    fail_msg("%s: no pass, network %zu, %u ms", rules[tested[i]].id, n, ms);
            clear(&o);
        }
}

/*
 * A network may duplicate only some packets: a packet without duplicate does not prove that the
 * next one has none.
 */
static void random_duplicates_prove_nothing(void **state)
{
    enum { RUNS = 150 };
    (void)state;
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        const struct network network = {.seed = seed, .late_ms = seed % 2 * 400};
        struct outcome_of_run o;
        run_over(&o, NO_FAULT, false, true, &network, 500);
        check_failed(&o, o.checked.trouble ? "" : ALWAYS);
        clear(&o);
        run_over(&o, MINDS_RESERVED, false, true, &network, 500);
        assert_int_not_equal(verdict_worst(o.checked.verdict, R_RFC4391_6_RESERVED_IGNORED),
                             OUTCOME_PASS);
        clear(&o);
        run_over(&o, MINDS_FLAGS, false, true, &network, 500);
        assert_int_not_equal(verdict_worst(o.checked.verdict, R_RFC4391_9_1_1_FLAGS_IGNORED),
                             OUTCOME_PASS);
        clear(&o);
        run_over(&o, NEEDS_GRH, false, true, &network, 500);
        assert_int_not_equal(verdict_worst(o.checked.verdict, R_RFC4391_6_GRH_OPTIONAL),
                             OUTCOME_PASS);
        clear(&o);
    }
}

/* The peer must accept both forms; a peer that accepts one must not pass. */
static void accepting_one_of_two_forms_is_no_pass(void **state)
{
    static const enum fault half[] = {NEEDS_GRH, REFUSES_GRH};
    (void)state;
    for (unsigned n = 1; n < 40; n++)
        for (size_t i = 0; i < G_N_ELEMENTS(half); i++) {
            struct outcome_of_run o;
            run_over(&o, half[i], false, true, &(struct network){.ends_after = n}, 500);
            assert_int_not_equal(verdict_worst(o.checked.verdict, R_RFC4391_6_GRH_OPTIONAL),
                                 OUTCOME_PASS);
            clear(&o);
        }
}

/* The stage that reports an unreachable peer, or NULL. */
static const struct stage *unreachable(const struct outcome_of_run *o)
{
    for (guint i = 0; o->checked.stages && i < o->checked.stages->len; i++) {
        const struct stage *s = o->checked.stages->pdata[i];
        if (strcmp(s->id, "peer.reachable") == 0)
            return s;
    }
    return NULL;
}

/*
 * A peer that replies only to multicast requests gets no IP traffic. This violates no rule, but the
 * probe must not report success.
 */
static void peer_must_be_reachable(void **state)
{
    static const enum fault faults[] = {DEAF_TO_UNICAST, ANNOUNCES_OTHER_QPN};
    static const char *const words[] = {"QPN 0x000048, which it announces",
                                        "QPN 0x00004a, which it announces; it sends from 0x000048"};
    (void)state;
    for (size_t n = 0; n < G_N_ELEMENTS(networks); n++)
        for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
            struct outcome_of_run o;
            struct report r = {
                .tool = "ipoib-probe", .probed = true, .captures = &o.checked, .n = 1};
            run_over(&o, faults[i], n % 2, true, &networks[n], 500);
            const struct stage *s = unreachable(&o);
            assert_non_null(s);
            assert_int_equal(s->outcome, OUTCOME_FAIL);
            says(s->text, words[i]);
            assert_int_equal(report_exit_status(&r), EXIT_VIOLATED);
            clear(&o);
        }
}

/*
 * A peer that replies is not reported as unreachable, whatever the network loses and even if the
 * peer dies later.
 */
static void peer_that_replies_is_reachable(void **state)
{
    static const enum fault faults[] = {NO_FAULT, NEEDS_GRH, REFUSES_GRH, OTHER_SENDER_QPN,
                                        DEAF_TO_MULTICAST};
    struct outcome_of_run o;
    (void)state;
    for (size_t n = 0; n < G_N_ELEMENTS(networks); n++)
        for (size_t i = 0; i < G_N_ELEMENTS(faults); i++) {
            run_over(&o, faults[i], false, true, &networks[n], 500);
            assert_null(unreachable(&o));
            clear(&o);
        }
    for (unsigned n = 1; n < 20; n++) {
        run_over(&o, NO_FAULT, false, true, &(struct network){.ends_after = n}, 500);
        const struct stage *s = unreachable(&o);
        assert_true(!s || s->outcome == OUTCOME_INCONCLUSIVE);
        clear(&o);
    }
}

static void membership_of_the_probe_is_left(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, false, true);
    /* the host is in the group: the probe neither joins nor leaves */
    assert_int_equal(o.fake.joins, 0);
    assert_int_equal(o.fake.leaves, 0);
    assert_int_equal(o.fake.announced, 0); /* no host stores the probe's address */
    clear(&o);
    run(&o, NO_FAULT, false, false);
    assert_int_equal(o.fake.joins, 1);
    assert_int_equal(o.fake.leaves, 1);
    assert_false(o.fake.member);
    clear(&o);
}

/*
 * If the group's MTU code is invalid, the probe sends no packet of that size, and the peer is not
 * blamed.
 */
static void invalid_mtu_is_not_used(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, UNKNOWN_MTU, true, true);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_7_MTU_2044), VERDICT_SKIPPED);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_4_1_GROUP_MTU),
                     OUTCOME_INCONCLUSIVE);
    clear(&o);
}

static void run_ipv6(struct outcome_of_run *o, unsigned responses)
{
    run_ipv6_as(o, NO_FAULT, responses);
}

/* ---- replies that a host drops do not count */

/* RFC 4861 §7.1.2 */
static void unusable_advertisements(void **state)
{
    static const struct {
        enum fault fault;
        const char *words;
    } all[] = {{ND_CHECKSUM, "a wrong ICMPv6 checksum"},
               {ND_HOP_LIMIT, "a hop limit other than 255"},
               {ND_CODE, "a code other than 0"},
               {ND_EMPTY_OPTION, "an option whose length is 0"},
               {ND_SOLICITED, "the Solicited flag"}};
    struct outcome_of_run o;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        run_ipv6_as(&o, all[i].fault, 0);
        says(o.checked.trouble, "no reply from fd00::2");
        says(o.checked.trouble, "a reply was received that has ");
        says(o.checked.trouble, all[i].words);
        clear(&o);
    }
}

/* True if an echo request over UD gets a valid reply. received: VERDICT_TEXT bytes. */
static bool echo_with(enum fault fault, char *received)
{
    static struct fake f;
    struct options options = {.rate = 100000, .timeout_ms = 1, .has_source = true};
    struct checked checked = {.verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    target->link->source.given = true;
    fake_begin(&f, target, fault, true);
    memcpy(target->link->source.ip, own_ip, 4);
    memcpy(target->ip, peer_ip, 4);
    assert_true(source_address_open(target, NULL));
    struct exchange x = exchange_run(target, &(struct request){.multicast = true}, 1);
    assert_int_equal(x.outcome, RESPONSE_RECEIVED);
    memcpy(target->peer->lladdr, x.reply.lladdr, LLADDR_SIZE);
    target->peer->lid = x.reply.lid;
    target->peer->qpn = x.reply.qpn;
    target->peer->known = true;
    bool replied = exchange_echo(target, ECHO_SMALL);
    g_strlcpy(received, results.received, VERDICT_TEXT);
    fake_end(target);
    verdict_free(checked.verdict);
    return replied;
}

static void unusable_echo_replies(void **state)
{
    char received[VERDICT_TEXT];
    (void)state;
    assert_true(echo_with(NO_FAULT, received));
    assert_false(echo_with(ICMP_CHECKSUM, received));
    says(received, "a wrong ICMP checksum");
    assert_false(echo_with(IPV4_CHECKSUM, received));
    says(received, "a wrong IPv4 header checksum");
    assert_false(echo_with(OTHER_PAYLOAD, received));
    says(received, "another payload than the request");
}

/*
 * Requests that cannot be sent because the SA does not return their groups are no violation of the
 * peer.
 */
static void silent_sa_raises_no_violation(void **state)
{
    enum { ENOUGH = 60 };
    struct outcome_of_run o;
    (void)state;
    run_ipv6(&o, 0);
    check_failed(&o, ALWAYS);
    assert_int_equal(verdict_worst(o.checked.verdict, R_RFC4391_2_MULTICAST_SUPPORTED),
                     OUTCOME_PASS);
    /* this port is in only one partition */
    assert_int_equal(verdict_worst(o.checked.verdict, R_PARTITION_INVALID_DROPPED),
                     VERDICT_SKIPPED);
    assert_true(o.fake.asks < ENOUGH);
    clear(&o);
    run_ipv6(&o, 1);
    assert_string_equal(o.checked.trouble, "not sent: the SA did not answer");
    clear(&o);
    for (unsigned responses = 2; responses < ENOUGH; responses++) {
        run_ipv6(&o, responses);
        check_failed(&o, o.checked.trouble ? "" : ALWAYS);
        clear(&o);
    }
}

/* The probe does not use an address that it could not check for duplicates. */
static void source_address_is_checked_for_duplicates(void **state)
{
    struct options options = {.rate = 100000, .timeout_ms = 1};
    (void)state;
    for (unsigned responses = 1; responses < 8; responses++) {
        struct checked no_target = {.verdict = verdict_new(NULL)};
        struct results idle = {.checked = &no_target};
        struct probe_fixture fixture;
        struct target *target = probe_fixture_make(&fixture, &options, &idle);
        static struct fake f;
        fake_begin(&f, target, NO_FAULT, true);
        f.ipv6 = true;
        f.silent_after = f.asks + responses;
        target->link->source = (struct own_address){.given = true, .ipv6 = true};
        memcpy(target->link->source.ip, own_ip6, 16);
        GError *why = NULL;
        assert_false(source_address_open(target, &why)); /* the peer has every address */
        assert_non_null(strstr(why->message, f.sent ? "in use, by" : "did not answer"));
        g_error_free(why);
        assert_false(target->link->source.usable);
        fake_end(target);
        verdict_free(no_target.verdict);
    }
}

/* RFC 4391 §4 and §8, and addresses of real hosts. */
static void addresses(void **state)
{
    static const uint8_t broadcast[16] = {0xff, 0x12,        0x40, 0x1b, 0xbe,
                                          0xef, [12] = 0xff, 0xff, 0xff, 0xff};
    static const uint8_t node[16] = {
        0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [11] = 0x01, 0xff, 0x66, 0xde, 0x52};
    static const uint8_t address[16] = {0xfe, 0x80, [8] = 0x9a, 0x03, 0x9b,
                                        0x03, 0x00, 0x66,       0xde, 0x52};
    static const uint8_t guid[8] = {0x98, 0x03, 0x9b, 0x03, 0x00, 0x66, 0xde, 0x52};
    uint8_t group[16], out[16];
    (void)state;
    message_broadcast_mgid(out, 2, 0x3eef);
    assert_memory_equal(out, broadcast, 16);
    message_solicited_node(group, address);
    message_ipv6_mgid(out, 2, 0xffff, group);
    assert_memory_equal(out, node, 16);
    message_link_local(out, guid);
    assert_memory_equal(out, address, 16);
}

static bool names(const enum rule_number *list, unsigned n, enum rule_number rule)
{
    while (n && list[n - 1] != rule)
        n--;
    return n > 0;
}

/* Every rule that no capture can show must have a check or a stage, because --list names it. */
static void every_rule_for_probes_only_has_a_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULE_COUNT; i++) {
        bool asked = !rule_by_probe(&rules[i]) || rule_in_capture(&rules[i]);
        const struct check *c;
        const struct stage_of_fabric *s;
        for (unsigned k = 0; (c = check_at(k)); k++)
            asked |= names(c->rules, c->n_rules, (enum rule_number)i);
        for (unsigned k = 0; (s = fabric_stage_at(k)); k++)
            asked |= names(s->rules, s->n_rules, (enum rule_number)i);
        if (!asked)
            fail_msg("no check of %s", rules[i].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_peer),
        cmocka_unit_test(refused_records_are_named),
        cmocka_unit_test(each_violation_is_found),
        cmocka_unit_test(peer_that_falls_silent_is_not_judged),
        cmocka_unit_test(peer_without_an_echo_is_not_judged),
        cmocka_unit_test(own_side_is_the_reason),
        cmocka_unit_test(late_reply_is_slow),
        cmocka_unit_test(response_times_are_measured),
        cmocka_unit_test(limits_of_sizes_are_found),
        cmocka_unit_test(lost_packets_are_counted),
        cmocka_unit_test(wrong_pkey_is_noted),
        cmocka_unit_test(missing_replies_raise_no_violation),
        cmocka_unit_test(replies_are_matched_to_their_requests),
        cmocka_unit_test(lossy_network_raises_no_violation),
        cmocka_unit_test(random_duplicates_prove_nothing),
        cmocka_unit_test(accepting_one_of_two_forms_is_no_pass),
        cmocka_unit_test(peer_must_be_reachable),
        cmocka_unit_test(peer_that_replies_is_reachable),
        cmocka_unit_test(membership_of_the_probe_is_left),
        cmocka_unit_test(invalid_mtu_is_not_used),
        cmocka_unit_test(unusable_advertisements),
        cmocka_unit_test(unusable_echo_replies),
        cmocka_unit_test(silent_sa_raises_no_violation),
        cmocka_unit_test(source_address_is_checked_for_duplicates),
        cmocka_unit_test(addresses),
        cmocka_unit_test(every_rule_for_probes_only_has_a_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
