/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sweeps of a simulated fabric, with simulated time: which hosts are found, when packets are sent,
 * and how much memory the sweep takes.
 */
#include "probe_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/put.h"
#include "probe/sweep/sweep.h"
#include "report/swept.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum { RATE_FAST = 100000, ADDRESSES = 254, LAST_OCTETS = 256 };

/* ---- a sweep */

struct outcome_of_sweep {
    unsigned hosts, conformant, must; /* hosts with results; MUSTs that they violate */
    unsigned unjudged;                /* hosts without complete results */
    unsigned flux;                    /* hosts with a second owner of their address */
    unsigned rows, in_order, named, at_switch, with_cause; /* of the prefix */
    char *replies;                                         /* text of the prefix's own result */
    char *text;                                            /* the same from the text report */
    char *trouble;       /* why there is no verdict for the prefix; NULL: there is one */
    char *of_host;       /* reason for the last host */
    gint64 begin, end;   /* simulated microseconds */
    unsigned asks, sets; /* requests to the SA */
    /* Packets that the probe sent, and for 10.0.0.x the number of requests and their times. */
    unsigned sent, questions[LAST_OCTETS];
    gint64 first[LAST_OCTETS], last[LAST_OCTETS], last_sent;
};

static void take_rows(struct outcome_of_sweep *s, const struct swept *swept)
{
    s->rows = swept->hosts->len;
    for (guint i = 0; i < swept->hosts->len; i++) {
        const struct swept_host *h = &g_array_index(swept->hosts, struct swept_host, i);
        s->in_order += i == 0 || memcmp((h - 1)->ip, h->ip, sizeof h->ip) < 0;
        s->named += g_strcmp0(h->name, "node a mlx5_0") == 0 && h->lid && h->median_us;
        s->at_switch += h->switch_lid == 70;
        s->with_cause += h->cause != NULL;
    }
}

static void take_swept(void *user, struct checked *j)
{
    struct outcome_of_sweep *s = user;
    struct verdict_summary summary = verdict_summarize(j->verdict, false);
    if (j->sweep) {
        take_rows(s, j->swept);
        s->replies = g_strdup(((struct stage *)j->stages->pdata[0])->text);
        s->trouble = g_strdup(j->trouble);
        struct report r = {.tool = "ipoib-probe", .probed = true, .captures = j, .n = 1};
        GString *text = g_string_new(NULL);
        report_text_probed(text, &r, j, false);
        s->text = g_string_free(text, FALSE);
    } else {
        s->hosts++;
        s->conformant += probe_fixture_verdict(j) == VERDICT_CONFORMANT && summary.passed > 10;
        s->must += summary.must;
        for (guint i = 0; j->stages && i < j->stages->len; i++)
            s->flux += strcmp(((struct stage *)j->stages->pdata[i])->id, "peer.arp-flux") == 0;
        s->unjudged += j->trouble != NULL;
        g_free(s->of_host);
        s->of_host = g_strdup(j->trouble);
    }
    checked_clear(j);
}

static void watch_sent(void *user, const uint8_t *bytes)
{
    struct outcome_of_sweep *s = user;
    const uint8_t *arp = bytes + ENCAP_SIZE, *tpa = arp + ARP_SIZE_FIXED + 2 * LLADDR_SIZE + 4;
    s->sent++;
    s->last_sent = simulated_now();
    if (be16(bytes) != TYPE_ARP || be16(arp + ARP_OP) != ARP_REQUEST)
        return;
    s->last[tpa[3]] = simulated_now();
    if (s->questions[tpa[3]]++ == 0)
        s->first[tpa[3]] = simulated_now();
}

static void forget(struct outcome_of_sweep *s)
{
    g_free(s->replies);
    g_free(s->text);
    g_free(s->trouble);
    g_free(s->of_host);
}

static const char *log_to; /* file for the packet log; NULL: none */

/* Runs a sweep. Of *as, the peer's fields and the faults of peer and SA are used. */
static void sweep_as(struct outcome_of_sweep *s, struct target_option *t, const struct fake *as,
                     const struct options *options)
{
    static struct fake fake;
    struct checked no_target = {.verdict = verdict_new(NULL)};
    struct results idle = {.checked = &no_target};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, options, &idle);
    struct sweep_job job = {t, 1, take_swept, s};
    *s = (struct outcome_of_sweep){0};
    fake_begin(&fake, target, as->fault, !log_to);
    if (log_to) {
        wirelog_free(target->log, NULL);
        target->log = wirelog_new(log_to, NULL);
    }
    fake.many = as->many;
    fake.proxy = as->proxy;
    fake.second = as->second;
    fake.fails_after = as->fails_after;
    fake.ipv6 = as->ipv6;
    fake.no_groups = as->no_groups;
    fake.silent_after = as->silent_after ? fake.asks + as->silent_after : 0;
    unsigned asks = fake.asks, sets = fake.sets;
    fake.watch = watch_sent;
    fake.watch_user = s;
    s->begin = simulated_now();
    sweep_run(target, &job);
    s->end = simulated_now();
    s->asks = fake.asks - asks;
    s->sets = fake.sets - sets;
    assert_int_equal(fake.announced, 0);
    fake_end(target);
    verdict_free(no_target.verdict);
}

/* If the peer has many addresses, it has every second one. */
static void sweep_at(struct outcome_of_sweep *s, uint32_t addresses, bool many, enum fault fault,
                     const struct options *options)
{
    static struct fake as;
    struct target_option t = {
        .name = (char *)"10.0.0.0/8", .ip = {10, 0, 0, 1}, .prefix = true, .n = addresses};
    as.many = many;
    as.fault = fault;
    sweep_as(s, &t, &as, options);
}

static void sweep(struct outcome_of_sweep *s, uint32_t addresses, bool many, enum fault fault,
                  unsigned timeout_ms)
{
    struct options options = {.rate = RATE_FAST, .timeout_ms = timeout_ms};
    memset(options.selection.rule, many, sizeof options.selection.rule);
    sweep_at(s, addresses, many, fault, &options);
}

static void sweep_finds_who_is_there(void **state)
{
    struct outcome_of_sweep s;
    (void)state;
    sweep(&s, 254, true, NO_FAULT, 30);
    assert_int_equal(s.hosts, 127);
    assert_int_equal(s.conformant, 127);
    assert_int_equal(s.rows, 127);
    assert_int_equal(s.in_order, 127);
    assert_int_equal(s.named, 127);
    assert_int_equal(s.at_switch + s.with_cause, 0); /* the SA is asked for problems only */
    assert_memory_equal(s.replies,
                        "127 of 254 addresses reply; no reply: 10.0.0.1, 10.0.0.3, 10.0.0.5, ", 68);
    assert_non_null(strstr(s.replies, " and 27 more ranges"));
    forget(&s);
    sweep(&s, 254, false, NO_FAULT, 30);
    assert_int_equal(s.hosts, 1);
    assert_string_equal(s.replies,
                        "1 of 254 addresses reply; no reply: 10.0.0.1, 10.0.0.3-10.0.0.254");
    assert_null(s.trouble);
    forget(&s);
    sweep(&s, 14, false, IS_ABSENT, 3);
    assert_int_equal(s.hosts, 0);
    assert_non_null(s.trouble); /* no host: no verdict */
    forget(&s);
}

/* An address of this host is not reported as unused. */
static void own_addresses_are_named(void **state)
{
    static const struct fake as = {.fault = NO_FAULT};
    struct options options = {.rate = RATE_FAST, .timeout_ms = 3};
    struct target_option one = {.name = (char *)"10.0.0.5", .ip = {10, 0, 0, 5}, .n = 1};
    struct outcome_of_sweep s;
    (void)state;
    host_has_own = true;
    sweep(&s, 254, false, NO_FAULT, 30);
    assert_string_equal(s.replies, "1 of 254 addresses reply; this host: 10.0.0.5 (ib0); no reply: "
                                   "10.0.0.1, 10.0.0.3-10.0.0.4, 10.0.0.6-10.0.0.254");
    forget(&s);
    sweep_as(&s, &one, &as, &options);
    assert_string_equal(s.of_host,
                        "this host has the address itself, at ib0: probe it from another");
    forget(&s);
    host_has_own = false;
    sweep_as(&s, &one, &as, &options);
    assert_non_null(strstr(s.of_host, "no reply"));
    forget(&s);
}

/* An address of this host that another port announces: the test of that port is no verdict. */
static void own_address_of_another_port_is_never_conformant(void **state)
{
    static const struct fake as = {.proxy = true};
    struct options options = {.rate = RATE_FAST, .timeout_ms = 3};
    struct target_option some = {
        .name = (char *)"10.0.0.4/30", .ip = {10, 0, 0, 4}, .prefix = true, .n = 3};
    struct outcome_of_sweep s;
    (void)state;
    memset(options.selection.rule, true, sizeof options.selection.rule);
    sweep_as(&s, &some, &as, &options);
    assert_int_equal(s.conformant, 3);
    forget(&s);
    host_has_own = true;
    sweep_as(&s, &some, &as, &options);
    assert_int_equal(s.hosts, 3);
    assert_int_equal(s.conformant, 2);
    forget(&s);
    host_has_own = false;
}

/* A link-layer address with many IP addresses is reported; it violates nothing. */
static void a_proxy_is_named(void **state)
{
    struct outcome_of_sweep s;
    (void)state;
    sweep(&s, 254, true, NO_FAULT, 30);
    assert_non_null(strstr(s.text, "127 of them are at\n"
                                   "  00:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:18:95 "
                                   "(QPN 0x000048,\n  GID fe80::2:c903:0:1895, LID 7): a proxy, or "
                                   "a host that has many addresses\n"));
    assert_non_null(strstr(s.text, "127 of 254 addresses reply"));
    assert_int_equal(s.must, 0);
    forget(&s);
    sweep(&s, 254, false, NO_FAULT, 30);
    assert_null(strstr(s.text, "proxy"));
    forget(&s);
}

/* A host's fault is reported for that host, as if it were tested alone. */
static void sweep_finds_faults(void **state)
{
    struct outcome_of_sweep s;
    (void)state;
    sweep(&s, 20, true, MINDS_RESERVED, 5);
    assert_int_equal(s.hosts, 10);
    assert_int_equal(s.must, 10);
    assert_int_equal(s.at_switch, 10);
    assert_int_equal(s.with_cause, 10);
    forget(&s);
    /*
     * With a fifth of the packets lost, six requests in a row are lost once in 5^6 = 15,625 cases:
     * no host is blamed.
     */
    sweep(&s, 20, true, DROPS_FIFTH, 5);
    assert_int_equal(s.hosts, 10);
    assert_int_equal(s.must, 0);
    forget(&s);
}

/*
 * An aborted sweep is not reported as complete: the result says how many addresses were probed and
 * how many replied.
 */
static void sweep_can_be_interrupted(void **state)
{
    static const struct fake as = {.many = true, .fails_after = 60};
    struct options options = {.rate = RATE_FAST, .timeout_ms = 30};
    struct target_option t = {
        .name = (char *)"10.0.0.0/24", .ip = {10, 0, 0, 1}, .prefix = true, .n = ADDRESSES};
    struct outcome_of_sweep s;
    (void)state;
    memset(options.selection.rule, true, sizeof options.selection.rule);
    sweep_as(&s, &t, &as, &options);
    unsigned asked = 0, replied = 0;
    assert_int_equal(sscanf(s.trouble,
                            "%u of 254 addresses were probed, %u replied; then: the link went down",
                            &asked, &replied),
                     2);
    assert_true(asked > 0 && asked < ADDRESSES);
    assert_true(replied > 0);
    assert_int_equal(s.hosts, replied);
    assert_int_equal(s.unjudged, s.hosts);
    forget(&s);
}

/*
 * Another port replies for the address of one host, before or after the host is tested. It is
 * reported, and faults of its packets are not the host's.
 */
static void a_second_owner_in_a_sweep(void **state)
{
    static const unsigned late[] = {1, 50, 600};
    struct options options = {.rate = RATE_FAST, .timeout_ms = 250};
    struct target_option t = {
        .name = (char *)"10.0.0.0/28", .ip = {10, 0, 0, 1}, .prefix = true, .n = 14};
    (void)state;
    memset(options.selection.rule, true, sizeof options.selection.rule);
    for (size_t i = 0; i < G_N_ELEMENTS(late); i++) {
        const struct fake as = {
            .many = true, .second = {.there = true, .late_ms = late[i], .fault = HARDWARE_TYPE_1}};
        struct outcome_of_sweep s;
        sweep_as(&s, &t, &as, &options);
        assert_int_equal(s.hosts, 7);
        assert_int_equal(s.must, 0);
        assert_int_equal(s.flux, 1);
        forget(&s);
    }
}

/* ---- IPv6: requests go to groups that the SA returns */

enum { ADDRESSES6 = 128 };

static void sweep_ipv6(struct outcome_of_sweep *s, const struct fake *as, unsigned rate)
{
    struct options options = {.rate = rate, .timeout_ms = 30};
    struct target_option t = {
        .name = (char *)"fd00::/121", .ip = {0xfd}, .ipv6 = true, .prefix = true, .n = ADDRESSES6};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    sweep_as(s, &t, as, &options);
}

/*
 * If no host has the addresses, each costs one request to the SA, at the rate, and no join of a
 * group that does not exist.
 */
static void ipv6_keeps_the_rate(void **state)
{
    enum { SLOW = 100 };
    static const struct fake no_host = {.ipv6 = true, .no_groups = true};
    struct outcome_of_sweep s;
    (void)state;
    sweep_ipv6(&s, &no_host, SLOW);
    assert_string_equal(s.replies, "0 of 128 addresses reply; no reply: fd00::-fd00::7f");
    assert_int_equal(s.sent, 0);
    assert_true(s.sets <= 1); /* the all-nodes group */
    assert_true(s.asks < ADDRESSES6 + 4);
    assert_true(s.end - s.begin >= (gint64)ADDRESSES6 * G_USEC_PER_SEC / SLOW - 20000);
    forget(&s);
}

/*
 * If the SA is silent, addresses that could not be probed are not reported as unused, and the probe
 * does not wait for the SA at each address.
 */
static void ipv6_without_the_sa(void **state)
{
    static const struct fake all = {.ipv6 = true}, silent = {.ipv6 = true, .silent_after = 1},
                             falls_silent = {.ipv6 = true, .silent_after = 40};
    struct outcome_of_sweep s;
    (void)state;
    sweep_ipv6(&s, &all, RATE_FAST);
    assert_int_equal(s.conformant, ADDRESSES6);
    assert_null(s.trouble);
    forget(&s);
    sweep_ipv6(&s, &silent, RATE_FAST);
    assert_string_equal(s.trouble,
                        "128 of 128 addresses were not probed, because their groups are not known: "
                        "the SA did not answer");
    assert_string_equal(s.replies, "0 of 128 addresses reply");
    assert_true(s.end - s.begin < 10 * G_USEC_PER_SEC);
    forget(&s);
    sweep_ipv6(&s, &falls_silent, RATE_FAST);
    assert_non_null(strstr(s.trouble, "addresses were not probed"));
    assert_true(s.hosts > 0 && s.hosts < ADDRESSES6);
    assert_int_equal(s.must, 0);
    forget(&s);
}

/* ---- the log */

/*
 * Counts the packets without comment. pcapng: blocks with type and length; the options of an
 * Enhanced Packet Block follow its padded packet.
 */
static unsigned count_silent_packets(const char *text, gsize n, unsigned *packets)
{
    enum { EPB = 6, CAPLEN = 20, DATA = 28, COMMENT = 1 };
    unsigned silent = 0;
    uint32_t type, size, caplen;
    uint16_t option;
    for (gsize at = 0; at + 12 <= n; at += size) {
        memcpy(&type, text + at, 4);
        memcpy(&size, text + at + 4, 4);
        if (type != EPB)
            continue;
        memcpy(&caplen, text + at + CAPLEN, 4);
        gsize options = at + DATA + (caplen + 3) / 4 * 4;
        bool commented = false;
        while (!commented && options + 4 < at + size) {
            uint16_t length;
            memcpy(&option, text + options, 2);
            memcpy(&length, text + options + 2, 2);
            commented = option == COMMENT;
            options += 4 + (gsize)(length + 3) / 4 * 4;
        }
        silent += !commented;
        ++*packets;
    }
    return silent;
}

/*
 * Each packet of the file has a comment that says what it belongs to, including those at the start
 * and the end of the run.
 */
static void every_packet_is_commented(void **state)
{
    static const struct fake as[] = {{.ipv6 = true}, {.ipv6 = true, .no_groups = true}};
    char path[] = "/tmp/test_probe_sweepXXXXXX", *text;
    gsize n;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < G_N_ELEMENTS(as); i++) {
        struct outcome_of_sweep s;
        unsigned packets = 0;
        log_to = path;
        sweep_ipv6(&s, &as[i], RATE_FAST);
        log_to = NULL;
        forget(&s);
        assert_true(g_file_get_contents(path, &text, &n, NULL));
        assert_int_equal(count_silent_packets(text, n, &packets), 0);
        assert_true(packets > 0);
        g_free(text);
    }
    unlink(path);
}

/* ---- schedule */

/*
 * The probe waits for one second of silence before each of seven requests
 * (probe/exchange/response_times.c), and tests 64 hosts at a time.
 */
enum { RATE = 2000, TIMEOUT_MS = 500, TIMES_ASKED = 3, AT_ONCE = 64, HOST_US = 8000000 };

/* An address without reply gets three requests, a third of the timeout apart, and no more. */
static void check_absent(const struct outcome_of_sweep *s, unsigned step)
{
    for (unsigned i = 1; i <= ADDRESSES; i += step) {
        assert_int_equal(s->questions[i], TIMES_ASKED);
        assert_true(s->last[i] - s->first[i] >=
                    TIMEOUT_MS * 1000 / TIMES_ASKED * (TIMES_ASKED - 1));
        assert_true(s->last[i] - s->first[i] < TIMEOUT_MS * 1000);
    }
}

static gint64 last_first(const struct outcome_of_sweep *s)
{
    gint64 last = 0;
    for (unsigned i = 1; i <= ADDRESSES; i++)
        last = MAX(last, s->first[i]);
    return last - s->begin;
}

static void print_figures(const char *what, const struct outcome_of_sweep *s)
{
    print_message(
        "%s: %u packets; every address asked after %d ms, the last packet after %d ms, done after %d ms\n",
        what, s->sent, (int)(last_first(s) / 1000), (int)((s->last_sent - s->begin) / 1000),
        (int)((s->end - s->begin) / 1000));
}

static void sweep_keeps_its_schedule(void **state)
{
    struct options options = {.rate = RATE, .timeout_ms = TIMEOUT_MS};
    struct outcome_of_sweep s;
    (void)state;
    sweep_at(&s, ADDRESSES, true, IS_ABSENT, &options);
    print_figures("no host", &s);
    check_absent(&s, 1);
    assert_int_equal(s.sent, TIMES_ASKED * ADDRESSES);
    assert_true(last_first(&s) <= (gint64)ADDRESSES * G_USEC_PER_SEC / RATE);
    assert_true(s.end - s.last_sent <= TIMEOUT_MS * 1000 / TIMES_ASKED + 1000);
    forget(&s);
    memset(options.selection.rule, true, sizeof options.selection.rule);
    sweep_at(&s, ADDRESSES, true, NO_FAULT, &options);
    print_figures("every second one is there", &s);
    assert_int_equal(s.conformant, ADDRESSES / 2);
    check_absent(&s, 2);
    gint64 rounds = (ADDRESSES / 2 + AT_ONCE - 1) / AT_ONCE;
    assert_true(s.end - s.begin <= TIMEOUT_MS * 1000 + rounds * HOST_US);
    assert_true((gint64)s.sent * G_USEC_PER_SEC / RATE <=
                s.last_sent - s.begin + 20000); /* the sender may catch up after a delay */
    forget(&s);
}

/* ---- memory */

/*
 * Peak memory of the program in KB. Freed memory stays in the process, so the largest sweep comes
 * last. getrusage() would include the process that started this one.
 */
static long peak(void)
{
    char line[128];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "r");
    assert_non_null(status);
    while (kb == 0 && fgets(line, sizeof line, status))
        (void)sscanf(line, "VmHWM: %ld kB", &kb);
    fclose(status);
    assert_true(kb > 0);
    return kb;
}

/*
 * LIMIT_KB: 64 hosts are checked at a time, each in a check context of some 1.2 MB. HOSTS_OF_KB:
 * hosts of which the report keeps a line, in a KB.
 */
enum { SIXTEEN = 65534, LIMIT_KB = 96 << 10, FLAT_KB = 8 << 10, HOSTS_OF_KB = 2 };
static long at_start; /* KB: the program itself, which is larger in a build that counts lines */

/*
 * Number of addresses, of which every second one replies: four times the hosts that are tested or
 * may wait. With the argument "large", a /16 as well.
 */
static uint32_t dense = 2046;

/* Memory that a silent address keeps would show: FLAT_KB is 128 bytes per address. */
static void sweep_takes_no_memory(void **state)
{
    struct outcome_of_sweep s;
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* the sanitizer keeps freed memory for some time */
#endif
    sweep(&s, ADDRESSES, false, NO_FAULT, 3);
    forget(&s);
    long before = peak();
    sweep(&s, SIXTEEN, false, NO_FAULT, 1000);
    print_message("a /16 where one replies: %ld KB, before it %ld KB\n", peak(), before);
    assert_int_equal(s.hosts, 1);
    assert_true(peak() - before < FLAT_KB);
    forget(&s);
    sweep(&s, dense, true, NO_FAULT, 1000);
    print_message(
        "%u addresses of which every second one replies: %ld KB, at the start %ld KB, %d s by the simulated clock\n",
        dense, peak(), at_start, (int)((s.end - s.begin) / G_USEC_PER_SEC));
    assert_int_equal(s.hosts, dense / 2);
    assert_true(peak() - at_start < LIMIT_KB + (long)s.hosts / HOSTS_OF_KB);
    forget(&s);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "large") == 0)
        dense = SIXTEEN;
    at_start = peak();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_finds_who_is_there),
        cmocka_unit_test(own_addresses_are_named),
        cmocka_unit_test(own_address_of_another_port_is_never_conformant),
        cmocka_unit_test(a_proxy_is_named),
        cmocka_unit_test(a_second_owner_in_a_sweep),
        cmocka_unit_test(sweep_finds_faults),
        cmocka_unit_test(sweep_can_be_interrupted),
        cmocka_unit_test(ipv6_keeps_the_rate),
        cmocka_unit_test(ipv6_without_the_sa),
        cmocka_unit_test(every_packet_is_commented),
        cmocka_unit_test(sweep_keeps_its_schedule),
        cmocka_unit_test(sweep_takes_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
