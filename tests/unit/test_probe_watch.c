/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-probe --count and --interval (probe/checks/watch*.c). */
#include "probe_fixture.h"
#include "probe_peer.h"

#include <signal.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/run/options.h"
#include "probe/run/results.h"

enum { MOST_REQUESTS = 64, SA_REQUESTS_AT_FIRST = 6 };
static const gint64 second = G_USEC_PER_SEC; /* simulated microseconds */

/* A watch, and its lines without their times; a line that is wrapped is joined again. */
struct watched_run {
    struct fake fake;
    struct checked checked;
    GString *lines;
    gint64 ends[MOST_REQUESTS]; /* when the line of each request was printed */
    unsigned n;
    volatile int *stop;
    const char *signal_at; /* the line at which SIGINT arrives; NULL: none */
};

static void take_line(void *to, const char *line)
{
    enum { TIME = 19, WIDTH = 80, INDENT = 4 };
    struct watched_run *r = to;
    char **parts = g_strsplit(line + TIME, "\n    ", -1), *whole = g_strjoinv(" ", parts);
    for (unsigned i = 0; parts[i]; i++)
        assert_true(strlen(parts[i]) + (i ? INDENT : TIME) < WIDTH);
    g_string_append_printf(r->lines, "%s\n", whole);
    if (!strstr(whole, "EVENT") && r->n < MOST_REQUESTS)
        r->ends[r->n++] = simulated_now();
    if (r->signal_at && strstr(whole, r->signal_at))
        *r->stop = SIGINT;
    g_free(whole);
    g_strfreev(parts);
}

static const uint8_t peer_ip6[16] = {0xfd, [15] = 2};

static void begin_as(struct fake *f, const struct fake *as)
{
    f->change = as->change;
    f->down_after = as->down_after;
    f->limited_after = as->limited_after;
    f->pkey_gone_after = as->pkey_gone_after;
    f->peer_agent = as->peer_agent;
    f->sa_silent = as->sa_silent;
    f->silent_after = as->silent_after ? f->asks + as->silent_after : 0;
    f->ipv6 = as->ipv6;
    f->signal_at = as->signal_at ? f->asks + as->signal_at : 0;
}

/* Watches a peer; what happens to it is in *as. */
static void watch_with(struct watched_run *r, const struct fake *as, const struct options *options,
                       const char *signal_at)
{
    struct probe_fixture fixture;
    *r = (struct watched_run){.checked = {.name = (char *)"10.0.0.2", .verdict = verdict_new(NULL)},
                              .lines = g_string_new(NULL),
                              .signal_at = signal_at};
    struct results results = {.checked = &r->checked};
    struct target *target = probe_fixture_make(&fixture, options, &results);
    fake_begin(&r->fake, target, as->fault, true);
    begin_as(&r->fake, as);
    r->stop = target->run->stop;
    target->run->say = take_line;
    target->run->say_to = r;
    target->ipv6 = as->ipv6;
    memcpy(target->ip, as->ipv6 ? peer_ip6 : peer_ip, as->ipv6 ? 16 : 4);
    g_strlcpy(target->name, "10.0.0.2", sizeof target->name);
    checks_run_peer(target, NULL);
    assert_int_equal(*r->stop, signal_at ? SIGINT : 0);
    fake_end(target);
}

static void watch(struct watched_run *r, const struct fake *as, unsigned count)
{
    const struct options options = {.rate = 1000, .timeout_ms = 100, .count = count, .interval = 5};
    watch_with(r, as, &options, NULL);
}

static void forget(struct watched_run *r)
{
    g_string_free(r->lines, TRUE);
    probe_fixture_forget(&r->checked);
}

static const struct stage *find(const struct watched_run *r, const char *id)
{
    const GPtrArray *all = r->checked.stages;
    for (guint i = 0; all && i < all->len; i++) {
        const struct stage *s = g_ptr_array_index(all, i);
        if (strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

static void check_line(const struct watched_run *r, const char *line)
{
    if (!strstr(r->lines->str, line))
        fail_msg("no '%s' in:\n%s", line, r->lines->str);
}

static void check_watch(const struct fake *as, unsigned count, int outcome, const char *text,
                        const char *line)
{
    struct watched_run r;
    watch(&r, as, count);
    const struct stage *s = find(&r, "peer.watch");
    assert_non_null(s);
    if (!g_str_has_prefix(s->text, text))
        fail_msg("%s", s->text);
    check_line(&r, line);
    assert_int_equal(s->outcome, outcome);
    assert_int_equal(r.checked.requests.sent, count);
    forget(&r);
}

static void changes_of_a_watched_peer_are_events(void **state)
{
    (void)state;
    check_watch(&(struct fake){.fault = NO_FAULT}, 20, OUTCOME_PASS,
                "20 requests, 20 answered; nothing changed", "  10.0.0.2: reply 20 after 0.10 ms");
    check_watch(&(struct fake){.change = {.after = 6, .lid = true, .qpn = true}}, 20, OUTCOME_FAIL,
                "20 requests, 19 answered; the peer moved 1 time; last: ", "LID 7 to 00:00:00:4d:");
    check_watch(
        &(struct fake){.change = {.after = 6, .gid = true}}, 20, OUTCOME_FAIL,
        "20 requests, 20 answered; the peer moved 1 time; last: ", "EVENT  10.0.0.2: moved from ");
    check_watch(&(struct fake){.change = {.after = 6, .qpn = true}}, 20, OUTCOME_FAIL,
                "20 requests, 19 answered; the peer moved 1 time; last: ",
                "has another queue pair: QPN 0x00004d, and before 0x000048: its interface was");
    /* five requests: after the third, another one shows whether the silence is over */
    check_watch(&(struct fake){.change = {.after = 4, .silent = 5}}, 20, OUTCOME_FAIL,
                "20 requests, 16 answered; silent once, for 2",
                "EVENT  10.0.0.2: replies again, after ");
    check_watch(&(struct fake){.fault = IS_ABSENT}, 5, OUTCOME_INCONCLUSIVE,
                "5 requests, 0 answered; ", "EVENT  10.0.0.2: does not reply");
    check_watch(&(struct fake){.fault = DROPS_FIFTH}, 50, OUTCOME_PASS,
                "50 requests, 40 answered; nothing changed", ": no reply to request 5");
}

/* Their lines do not begin with the name of the peer. */
static void changes_of_this_host_are_events(void **state)
{
    (void)state;
    check_watch(&(struct fake){.down_after = 4}, 12, OUTCOME_FAIL,
                "12 requests, 4 answered; this host's port changed 1 time; silent once, for ",
                "EVENT  10.0.0.2: no longer replies: fake0 port 1 is no longer active");
    check_watch(&(struct fake){.down_after = 4}, 12, OUTCOME_FAIL, "12 requests, 4 answered; ",
                "  EVENT  this host's port fake0 1 is Down, was Active");
    check_watch(&(struct fake){.pkey_gone_after = 4}, 12, OUTCOME_FAIL, "12 requests, 4 answered; ",
                "  EVENT  this host's port fake0 1 has lost the P_Key 0xffff: it is no longer in "
                "partition 0xffff\n");
    check_watch(&(struct fake){.limited_after = 4}, 12, OUTCOME_FAIL, "12 requests, 4 answered; ",
                "  EVENT  this host's port fake0 1 has got the P_Key 0x7fff instead of 0xffff: it "
                "is a limited member of partition 0xffff now\n");
}

/* What the probe finds at once is in the event, in the words of peer.no-reply. */
static void a_silence_has_its_cause(void **state)
{
    (void)state;
    check_watch(
        &(struct fake){.limited_after = 4}, 12, OUTCOME_FAIL, "12 requests, 4 answered; ",
        "no longer replies: both ports are limited members, or the peer's is gone: this "
        "port is a limited member of 0x7fff, and the SA has no path to fe80::2:c903:0:1895: "
        "that port is a limited member too, and the two cannot communicate, or it is gone");
    check_watch(&(struct fake){.limited_after = 4, .peer_agent = true}, 12, OUTCOME_FAIL,
                "12 requests, 4 answered; ",
                "no longer replies: both ports are limited members: this port and "
                "fe80::2:c903:0:1895 have 0x7fff without the full-member bit");
    check_watch(&(struct fake){.change = {.after = 4, .silent = 999}, .peer_agent = true}, 12,
                OUTCOME_FAIL, "12 requests, 4 answered; ",
                "no longer replies: no packet comes back from the peer's port: the SA says "
                "fe80::2:c903:0:1895 (LID 7) can be reached, its adapter says that its port is "
                "Active, but its interface does not answer: one direction is lost, or the host "
                "hangs"); /* connections are not possible here, so no manager was asked */
}

/* ---- the interval */

/* The requests of a peer that is silent from the fifth on, with an SA that is silent too. */
static void the_look_for_a_cause_keeps_the_interval(void **state)
{
    static const struct options options = {
        .rate = 1000, .timeout_ms = 500, .count = 12, .interval = 1};
    struct watched_run r;
    (void)state;
    watch_with(&r, &(struct fake){.change = {.after = 4, .silent = 999}, .sa_silent = true},
               &options, NULL);
    assert_int_equal(r.n, 12);
    for (unsigned i = 1; i < r.n; i++)
        if (r.ends[i] - r.ends[i - 1] > 2 * second)
            fail_msg("%.1f s before the end of request %u",
                     (double)(r.ends[i] - r.ends[i - 1]) / G_USEC_PER_SEC, i + 1);
    assert_true(r.ends[11] - r.ends[0] < 12 * second);
    check_line(&r, "no longer replies: the SA (LID 1) did not answer within 0.5 s");
    assert_null(strstr(r.lines->str, "late"));
    forget(&r);
}

/*
 * Each fifth solicitation goes to the group, for which the SA is asked. It is silent, and the peer
 * is not.
 */
static void what_is_not_sent_is_no_silence(void **state)
{
    struct watched_run r;
    (void)state;
    watch(&r, &(struct fake){.ipv6 = true, .silent_after = SA_REQUESTS_AT_FIRST}, 12);
    check_line(&r, "request 5 was not sent: the SA did not answer\n");
    check_line(&r, "reply 6 after ");
    assert_null(strstr(r.lines->str, "EVENT"));
    const struct stage *s = find(&r, "peer.watch");
    if (strcmp(s->text, "12 requests, 10 answered; nothing changed; 2 were not sent") != 0)
        fail_msg("%s", s->text);
    assert_int_equal(r.checked.requests.sent, 10);
    assert_int_equal(r.checked.requests.lost, 0);
    forget(&r);
}

/*
 * To the group nothing can be sent; so the next request goes to the queue pair, unless each fifth
 * is due: requests 5, 7, 9, 10 and 12 are not sent.
 */
static void a_silent_peer_and_a_silent_sa(void **state)
{
    struct watched_run r;
    (void)state;
    watch(&r,
          &(struct fake){.ipv6 = true,
                         .silent_after = SA_REQUESTS_AT_FIRST,
                         .change = {.after = 4, .silent = 999}},
          12);
    check_line(&r, "no longer replies: the SA (LID 1) did not answer within 0.5 s");
    assert_int_equal(r.checked.requests.sent, 7);
    assert_int_equal(r.checked.requests.never, 3);
    assert_int_equal(r.checked.requests.lost, 0);
    forget(&r);
}

/* A wait that the user chose is longer than the interval. */
static void late_requests_are_said(void **state)
{
    static const struct options options = {
        .rate = 1000, .timeout_ms = 3500, .count = 6, .interval = 1};
    struct watched_run r;
    (void)state;
    watch_with(&r, &(struct fake){.change = {.after = 4, .silent = 999}}, &options, NULL);
    check_line(&r, "no reply to request 5\n");
    check_line(&r, "no reply to request 6, sent 2.5 s late\n");
    if (!strstr(find(&r, "peer.watch")->text, "; 1 was sent late, by up to 2.5 s"))
        fail_msg("%s", find(&r, "peer.watch")->text);
    forget(&r);
}

/* ---- signals */

static const struct options until_signal = {.rate = 1000, .timeout_ms = 500, .interval = 1};

static void a_signal_ends_with_the_cause(void **state)
{
    struct watched_run r;
    (void)state;
    watch_with(&r, &(struct fake){.change = {.after = 4, .silent = 999}, .peer_agent = true},
               &until_signal, "no reply to request 9");
    const struct stage *s = find(&r, "peer.no-reply");
    assert_non_null(s);
    assert_true(g_str_has_prefix(s->text, "no packet comes back from the peer's port: "));
    assert_true(simulated_now() - r.ends[r.n - 1] < 3 * second);
    forget(&r);
}

static void a_silent_sa_does_not_delay_the_end(void **state)
{
    struct watched_run r;
    (void)state;
    watch_with(&r, &(struct fake){.change = {.after = 4, .silent = 999}, .sa_silent = true},
               &until_signal, "no reply to request 9");
    assert_true(simulated_now() - r.ends[r.n - 1] < 3 * second + second / 2);
    forget(&r);
}

/* It arrives during the first query of the end: the look after the seventh request made ten. */
static void a_second_signal_ends_at_once(void **state)
{
    struct watched_run r;
    (void)state;
    watch_with(&r, &(struct fake){.change = {.after = 4, .silent = 999}, .signal_at = 11},
               &until_signal, "no reply to request 9");
    check_line(&r, "no reply to request 9");
    assert_null(find(&r, "peer.no-reply"));
    const struct stage *s = find(&r, "peer.watch");
    assert_non_null(s);
    assert_string_equal(s->advice, "ipoib-probe --why 10.0.0.2");
    forget(&r);
}

/* ---- memory */

/* What is kept does not depend on the number of requests and changes. */
static void watching_takes_constant_memory(void **state)
{
    struct watched_run r;
    (void)state;
    watch(&r, &(struct fake){.fault = DROPS_HALF}, 3000);
    /* peer.numbers, peer.watch, peer.loss, peer.sa-times */
    assert_int_equal(r.checked.stages->len, 4);
    assert_int_equal(r.checked.requests.sent, 3000);
    assert_true(r.checked.over_ud.n > 1000);
    forget(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_a_watched_peer_are_events),
        cmocka_unit_test(changes_of_this_host_are_events),
        cmocka_unit_test(a_silence_has_its_cause),
        cmocka_unit_test(the_look_for_a_cause_keeps_the_interval),
        cmocka_unit_test(what_is_not_sent_is_no_silence),
        cmocka_unit_test(a_silent_peer_and_a_silent_sa),
        cmocka_unit_test(late_requests_are_said),
        cmocka_unit_test(a_signal_ends_with_the_cause),
        cmocka_unit_test(a_silent_sa_does_not_delay_the_end),
        cmocka_unit_test(a_second_signal_ends_at_once),
        cmocka_unit_test(watching_takes_constant_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
