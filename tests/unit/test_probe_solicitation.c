/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of Neighbor Solicitations with a link-layer address option (RFC 4391 §9.3), against a
 * peer that conforms or has one fault. The messages are written out from RFC 4861 §4.3, 4.4 and
 * RFC 4391 §6, 9.3; the checksums are computed by hand (RFC 4443 §2.3).
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "probe_fixture.h"

enum { PEER_QPN = 0x48, PEER_LID = 7, OWN_QPN = 0x99, OWN_SECOND_QPN = 0x9a };
enum { SENT_MAX = 64, MESSAGE_SIZE = 92, FLAGS_AT = 72, PADDING_AT = 70, SOURCE_AT = 12 };

#define OWN_IP    "fe800000000000000000000000000077"
#define PEER_IP   "fe800000000000000000000000000002"
#define ALL_NODES "ff020000000000000000000000000001"
#define SOLICITED "ff0200000000000000000001ff000002" /* of the peer: RFC 4291 §2.7.1 */
#define OWN_PORT  "000099fe800000000000000002c90300001896"
#define PEER_PORT "000048fe800000000000000002c90300001895"
#define HEAD(size)                                                                                 \
    "86dd0000"                                                                                     \
    "60000000" size "3aff"

/* The NS from the probe's address: plain, with flags 0x3f, and with padding 0x1234. */
static const char *const plain = HEAD("0030") OWN_IP SOLICITED "87009b5a00000000" PEER_IP "01030000"
                                                               "00" OWN_PORT,
                         *const flags = HEAD("0030") OWN_IP SOLICITED "87005c5a00000000" PEER_IP
                                                                      "01030000"
                                                                      "3f" OWN_PORT,
                         *const padded = HEAD("0030") OWN_IP SOLICITED "8700892600000000" PEER_IP
                                                                       "01031234"
                                                                       "00" OWN_PORT;
/* The NA to the probe's address: solicited and override; and the one to all nodes: override. */
static const char *const na = HEAD("0030") PEER_IP OWN_IP "8800393060000000" PEER_IP "02030000"
                                                          "00" PEER_PORT,
                         *const na_to_all = HEAD("0030") PEER_IP ALL_NODES
                         "8800792420000000" PEER_IP "02030000"
                         "00" PEER_PORT;

struct fake {
    struct transport base;
    bool drops_option, drops_flags, drops_padding, drops_all, replies_to_sender;
    uint8_t sent[SENT_MAX][MESSAGE_SIZE];
    struct ud_to to[SENT_MAX];
    uint32_t n_sent;
    uint8_t reply[MESSAGE_SIZE];
    uint32_t reply_to; /* QPN; 0: no reply is waiting */
    bool to_all;
};

static uint32_t bytes_of(const char *hex, uint8_t *out)
{
    uint32_t n = 0;
    for (unsigned byte; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
        out[n] = (uint8_t)byte;
    return n;
}

static bool is_dropped(const struct fake *f, const uint8_t *ns, uint32_t n)
{
    bool has_option = n == MESSAGE_SIZE;
    return f->drops_all || (has_option && (f->drops_option || (f->drops_flags && ns[FLAGS_AT]) ||
                                           (f->drops_padding && ns[PADDING_AT])));
}

static enum transport_result fake_send(struct transport *t, const struct ud_to *to,
                                       const uint8_t *bytes, uint32_t n)
{
    struct fake *f = (struct fake *)t;
    assert_true(n <= MESSAGE_SIZE && f->n_sent < SENT_MAX);
    memcpy(f->sent[f->n_sent], bytes, n);
    f->to[f->n_sent++] = *to;
    if (is_dropped(f, bytes, n))
        return TRANSPORT_OK;
    f->to_all = bytes[SOURCE_AT] == 0; /* the response to an NS from :: goes to all nodes */
    bytes_of(f->to_all ? na_to_all : na, f->reply);
    f->reply_to = f->replies_to_sender && to->second_qp ? OWN_SECOND_QPN : OWN_QPN;
    return TRANSPORT_OK;
}

static enum transport_result fake_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct fake *f = (struct fake *)t;
    static const uint8_t grh[GRH_SIZE] = {0x60, [24] = 0xff, 0x12, 0x60, 0x1b};
    if (!f->reply_to) {
        g_usleep((gulong)ms * 1000); /* simulated: see probe_peer.c */
        return TRANSPORT_NOTHING;
    }
    *from = (struct ud_from){.bytes = view_make(f->reply, MESSAGE_SIZE, MESSAGE_SIZE),
                             .grh = f->to_all ? grh : NULL,
                             .qpn = PEER_QPN,
                             .to_qpn = f->reply_to,
                             .lid = PEER_LID};
    f->reply_to = 0;
    return TRANSPORT_OK;
}

/* Without its own queue pair, the transport needs no groups of the SA. */
static const struct transport_ops fake_ops = {
    .capabilities = SHOWS_SENDER, .send = fake_send, .receive = fake_receive};

struct tried {
    struct fake fake;
    struct checked checked;
};

static void set_addresses(struct target *t, struct fake *f)
{
    bytes_of(OWN_IP, t->link->source.ip);
    bytes_of("00" OWN_PORT, t->link->lladdr);
    t->link->source.given = t->link->source.usable = t->link->source.ipv6 = true;
    bytes_of(PEER_IP, t->ip);
    bytes_of("00" PEER_PORT, t->peer->lladdr);
    t->ipv6 = t->peer->known = true;
    t->peer->lid = PEER_LID;
    t->peer->qpn = f->base.qpn ? PEER_QPN : 0;
}

/* Runs the check against the peer of o->fake. */
static void run_check(struct tried *o)
{
    static volatile int stop;
    struct options options = {.rate = 100000, .timeout_ms = 1, .has_source = true};
    struct probe_fixture fixture;
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct target *t = probe_fixture_make(&fixture, &options, &results);
    o->fake.base.ops = &fake_ops;
    o->fake.base.qpn = OWN_QPN;
    t->link->transport = &o->fake.base;
    t->run->stop = &stop;
    t->log = wirelog_new(NULL, NULL);
    groups_open(t->link);
    set_addresses(t, &o->fake);
    results_begin(&results, "solicitation");
    assert_int_equal(solicitation_checks.n, 1);
    solicitation_checks.checks[0].run(t);
    groups_close(t->link);
    wirelog_free(t->log, NULL);
}

static void clear(struct tried *o)
{
    probe_fixture_forget(&o->checked);
}

static void check_worst(const struct tried *o, int format, int with_flags, int to_qpn)
{
    const struct verdict *v = o->checked.verdict;
    assert_int_equal(verdict_worst(v, R_RFC4391_9_1_1_FORMAT), format);
    assert_int_equal(verdict_worst(v, R_RFC4391_9_1_1_FLAGS_IGNORED), with_flags);
    assert_int_equal(verdict_worst(v, R_RFC4391_9_1_1_TRAFFIC_TO_QPN), to_qpn);
}

static const char *padding_text(const struct tried *o)
{
    assert_non_null(o->checked.stages);
    const struct stage *s = o->checked.stages->pdata[0];
    assert_string_equal(s->id, "peer.nd-padding");
    assert_int_equal(s->outcome, OUTCOME_NOTED);
    return s->text;
}

static void check_sent(const struct fake *f, unsigned i, const char *expected, bool second_qp)
{
    uint8_t bytes[MESSAGE_SIZE];
    assert_int_equal(bytes_of(expected, bytes), MESSAGE_SIZE);
    assert_memory_equal(f->sent[i], bytes, MESSAGE_SIZE);
    assert_int_equal(f->to[i].lid, PEER_LID);
    assert_int_equal(f->to[i].qpn, PEER_QPN);
    assert_int_equal(f->to[i].second_qp, second_qp);
    assert_false(f->to[i].grh);
}

/* ---- the tests */

static void conformant_peer_gets_four_solicitations(void **state)
{
    struct tried o = {.fake.base.second_qpn = OWN_SECOND_QPN};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS);
    assert_non_null(strstr(padding_text(&o), "0x1234 is answered"));
    assert_int_equal(o.fake.n_sent, 4);
    check_sent(&o.fake, 0, plain, false);
    check_sent(&o.fake, 1, flags, false);
    check_sent(&o.fake, 2, plain, true);
    check_sent(&o.fake, 3, padded, false);
    clear(&o);
}

/* There is a response to the NS without an option, so the option is the reason. */
static void option_not_accepted_fails(void **state)
{
    struct tried o = {.fake = {.base.second_qpn = OWN_SECOND_QPN, .drops_option = true}};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_FAIL, -1, -1);
    clear(&o);
}

static void flags_not_ignored_fail(void **state)
{
    struct tried o = {.fake = {.base.second_qpn = OWN_SECOND_QPN, .drops_flags = true}};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_PASS);
    clear(&o);
}

static void na_to_the_sending_qpn_fails(void **state)
{
    struct tried o = {.fake = {.base.second_qpn = OWN_SECOND_QPN, .replies_to_sender = true}};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_FAIL);
    clear(&o);
}

static void without_a_second_queue_pair_the_qpn_is_inconclusive(void **state)
{
    struct tried o = {0};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_INCONCLUSIVE);
    assert_int_equal(o.fake.n_sent, 3);
    clear(&o);
}

/* RFC 4391 §9.3 does not say how a receiver handles a wrong padding. */
static void padding_not_accepted_is_noted(void **state)
{
    struct tried o = {.fake = {.base.second_qpn = OWN_SECOND_QPN, .drops_padding = true}};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS);
    assert_non_null(strstr(padding_text(&o), "0x1234 is not answered"));
    clear(&o);
}

/* A peer that has gone down violates nothing. */
static void peer_without_any_reply_is_inconclusive(void **state)
{
    struct tried o = {.fake = {.base.second_qpn = OWN_SECOND_QPN, .drops_all = true}};
    (void)state;
    run_check(&o);
    check_worst(&o, OUTCOME_INCONCLUSIVE, -1, -1);
    assert_null(o.checked.stages);
    clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conformant_peer_gets_four_solicitations),
        cmocka_unit_test(option_not_accepted_fails),
        cmocka_unit_test(flags_not_ignored_fail),
        cmocka_unit_test(na_to_the_sending_qpn_fails),
        cmocka_unit_test(without_a_second_queue_pair_the_qpn_is_inconclusive),
        cmocka_unit_test(padding_not_accepted_is_noted),
        cmocka_unit_test(peer_without_any_reply_is_inconclusive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
