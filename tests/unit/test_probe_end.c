/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a peer's test (probe/checks/end.c): what its requests add up to, and whose fault a
 * silence is; and its P_Keys by the SA (checks/path.c). The peer replies to the last request unless
 * said otherwise.
 */
#include "why_run.h"

#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/end.h"
#include "probe/exchange/peer.h"
#include "probe/link/hostif.h"
#include "probe/run/results.h"
#include "wire/port_records.h"
#include "wire/put.h"

static void begin(void)
{
    why_run_begin(NULL);
    why_run_know_peer();
    run.checked.state = "reachable";
}

/* So many requests of that kind, of which that many were answered. */
static void add_requests(enum tally_kind kind, unsigned n, unsigned answered)
{
    struct tally *t = &run.t->peer->tally;
    t->forms[t->n++] = (struct tally_form){
        .kind = kind, .key = 900 + t->n, .first_try = answered, .never = n - answered};
}

/* Packets of requests for its address, and their responses. */
static void add_packets(unsigned n, unsigned responses)
{
    struct tally *t = &run.t->peer->tally;
    t->forms[t->n++] = (struct tally_form){.kind = TALLY_RESOLUTION,
                                           .key = 900 + t->n,
                                           .first_try = responses,
                                           .packets = n,
                                           .responses = responses};
}

static void clear(void)
{
    run.fake.sa_silent = run.fake.sa_busy = false;
    run.fake.group_status = run.fake.refused = 0;
    fake_end(run.t);
    probe_fixture_forget(&run.checked);
}

/* That stage has this outcome, text and advice, and the host's headline this word. text NULL: it is
 * absent. */
static void check(const char *id, int outcome, const char *text, const char *advice,
                  const char *word)
{
    const struct stage *found = NULL;
    end_report(run.t);
    const GPtrArray *all = run.checked.stages;
    for (guint i = 0; all && i < all->len; i++) {
        const struct stage *s = all->pdata[i];
        if (strcmp(s->id, id) == 0)
            found = s;
    }
    if (!text != !found)
        fail_msg("%s: \"%s\"", id, found ? found->text : "absent");
    if (text &&
        (found->outcome != outcome || !strstr(found->text, text) || !strstr(found->advice, advice)))
        fail_msg("%s %d \"%s\", \"%s\"; expected %d \"%s\", \"%s\"", id, found->outcome,
                 found->text, found->advice, outcome, text, advice);
    assert_string_equal(run.checked.state, word);
    clear();
}

/* ---- echo requests */

static void begin_with_source(void)
{
    begin();
    run.t->link->source.given = true;
    memcpy(run.t->link->source.ip, own_ip, 4);
}

static void echoes_without_a_reply(void **state)
{
    static const struct {
        bool asked;
        const char *unusable, *text, *advice;
    } all[] = {
        {false, NULL,
         "it answers none of 4 echo requests: it drops ICMP echo, has no route back, or its requests "
         "to the group do not reach this port",
         "on the peer: ip route get 10.0.0.77; nft list ruleset; or test without --source"},
        {true, NULL, "it resolves the probe's address, so it has a route back, and drops ICMP echo",
         "on the peer: ip route get 10.0.0.77"},
        {true, "a wrong ICMP checksum", "requests: its replies have a wrong ICMP checksum",
         "on the peer: ethtool -k INTERFACE; does its adapter compute checksums?"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin_with_source();
        add_requests(TALLY_ECHO, 4, 0);
        run.t->peer->asked = all[i].asked;
        run.t->peer->unusable_echo = all[i].unusable;
        check("peer.echo", OUTCOME_INCONCLUSIVE, all[i].text, all[i].advice, "reachable");
    }
    begin_with_source();
    add_requests(TALLY_ECHO, 4, 1);
    check("peer.echo", 0, NULL, NULL, "reachable");
}

static void an_address_that_was_not_asked_for(void **state)
{
    (void)state;
    for (int asked = 0; asked <= 1; asked++) {
        begin_with_source();
        add_requests(TALLY_ECHO, 4, 4);
        run.t->peer->announced = true;
        run.t->peer->asked = asked;
        check("peer.broadcast", OUTCOME_NOTED,
              asked
                  ? NULL
                  : "it replied to echo requests only after the probe had announced its address by "
                    "unicast, and no request for that address arrived",
              "test with another unused address; if the same: ibroute -C fake0 -P 1 -M 70",
              "reachable");
    }
}

/* ---- connections */

static void messages_that_are_not_acknowledged(void **state)
{
    (void)state;
    begin();
    run.t->peer->messages_lost = 2;
    check("peer.connections", OUTCOME_FAIL,
          "none of 2 messages over connections was acknowledged, and requests over UD are answered",
          "ibtracert -C fake0 -P 1 3 7; perfquery -C fake0 -P 1; perfquery -C fake0 -P 1 7 1: is a",
          "reachable");
    begin();
    run.t->peer->messages_lost = 2;
    run.options.timeout_ms = 500;
    for (unsigned i = 0; i < 3; i++)
        times_add(&run.t->peer->over_ud, 200000); /* 0.2 s */
    check(
        "peer.connections", VERDICT_SKIPPED,
        "none of 2 messages over connections was acknowledged in time; a consequence of peer.slow",
        "", "reachable");
    begin();
    run.t->peer->messages_lost = 2;
    run.t->peer->messages_acknowledged = 1;
    check("peer.connections", 0, NULL, NULL, "reachable");
}

static void reqs_without_an_answer(void **state)
{
    (void)state;
    begin();
    add_requests(TALLY_CONNECTION, 3, 0);
    g_strlcpy(run.t->peer->no_connection, "no REP", sizeof run.t->peer->no_connection);
    check(
        "peer.connections", OUTCOME_INCONCLUSIVE,
        "it announces connected mode, and none of 3 REQs got a REP or REJ: no REP; so applications "
        "over RDMA CM cannot connect either",
        "on the peer: dmesg; lsmod | grep ib_cm; rdma system", "reachable");
    begin();
    add_requests(TALLY_CONNECTION, 3, 0);
    run.t->peer->cm_unresolved = true;
    g_strlcpy(run.t->peer->no_connection, "no path", sizeof run.t->peer->no_connection);
    check("peer.connections", OUTCOME_INCONCLUSIVE,
          "and this host's kernel sent none of 3 REQs: no path", "ipoib-probe -d ib0 fabric",
          "reachable");
}

/* Connections that fail because the SA went away say nothing of the peer. */
static void an_sa_that_went_away(void **state)
{
    (void)state;
    begin();
    add_requests(TALLY_CONNECTION, 3, 0);
    run.fake.sa_busy = true;
    check("peer.end", OUTCOME_INCONCLUSIVE, "the SA (LID 1) is busy",
          "ipoib-probe -d ib0 fabric; then test again", "not fully tested");
}

/* ---- a peer that is silent at the end */

static void a_silence_of_this_side(void **state)
{
    static const struct {
        bool down, no_pkey, sa_silent, outside;
        uint16_t status; /* of answers about groups */
        unsigned limit_ms;
        const char *slow, *text;
    } all[] = {
        {.down = true, .text = "fake0 port 1 is no longer active"},
        {.no_pkey = true, .text = "fake0 port 1 is no longer in partition 0xffff"},
        {.sa_silent = true, .text = "the SA (LID 1) no longer answers"},
        {.sa_silent = true, .limit_ms = 700, .text = "the SA (LID 1) did not answer within 0.7 s"},
        {.sa_silent = true, .slow = "the SA is slow", .text = "the SA is slow"},
        {.status = 0x0300, .text = "the SA no longer has the broadcast group"},
        {.status = 0x000c, .text = "there is no SA at LID 1"},
        {.outside = true, .text = "this port is no longer in the broadcast group"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.fault = IS_ABSENT;
        run.fake.sent = 2;
        run.fake.down_after = all[i].down;
        run.fake.pkey_gone_after = all[i].no_pkey;
        run.fake.sa_silent = all[i].sa_silent;
        run.fake.group_status = all[i].status;
        run.fake.member = !all[i].outside;
        run.t->run->sa.limit_ms = all[i].limit_ms;
        g_strlcpy(run.t->run->sa.slow, all[i].slow ? all[i].slow : "", sizeof run.t->run->sa.slow);
        check("peer.end", OUTCOME_INCONCLUSIVE, all[i].text,
              "ipoib-probe -d ib0 fabric; then test again", "not fully tested");
    }
}

/* The cause follows as the stage peer.no-reply, but not in a sweep. */
static bool only_wait(struct target *t, int ms, packet_match *match, void *user)
{
    (void)t;
    (void)match;
    (void)user;
    g_usleep((gulong)ms * 1000);
    return false;
}

static void a_silence_of_the_peer(void **state)
{
    (void)state;
    for (int sweep = 0; sweep <= 1; sweep++) {
        begin();
        run.fake.fault = IS_ABSENT;
        run.t->yield = sweep ? only_wait : NULL;
        check(sweep ? "peer.end" : "peer.no-reply", OUTCOME_INCONCLUSIVE,
              sweep ? "it no longer replies to the request of the beginning: "
                    : "no packet comes back from the peer's port",
              sweep ? "ipoib-probe --why n2" : "ibtracert", "no longer reachable");
    }
    why_run_begin("fd00::2");
    why_run_know_peer();
    run.checked.state = "reachable";
    run.fake.refused = 0x0700; /* the SA refuses to show the target's group */
    run.fake.refused_attribute = SA_MC_MEMBER_RECORD;
    check("peer.end", OUTCOME_INCONCLUSIVE, "the last request was not sent", "", "reachable");
}

/* ---- losses */

static void packets_that_are_lost(void **state)
{
    static const struct {
        unsigned packets, responses;
        bool shortened;
        const char *text, *word;
    } all[] = {
        {40, 20, true, "requests lost (49 %), so the test was shortened",
         "reachable, but packets are lost"},
        {40, 20, false, "20 of 41 requests lost (49 %)", "reachable, but packets are lost"},
        {40, 37, false, NULL, "reachable, but packets are lost"}, /* 7 %: a word, no stage */
        {40, 38, false, NULL, "reachable"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        add_packets(all[i].packets, all[i].responses);
        run.t->peer->loses_most = all[i].shortened;
        check("peer.loss", OUTCOME_INCONCLUSIVE, all[i].text, "perfquery", all[i].word);
    }
    begin();
    add_packets(40, 20);
    run.t->peer->pings_lost = true; /* of this host's kernel: the same losses */
    results_stage(&run.results, "peer.ping", OUTCOME_FAIL, "", "pings are lost");
    check("peer.ping", VERDICT_SKIPPED, "a consequence of peer.loss", "",
          "reachable, but packets are lost");
}

/* ---- the peer's partitions, by the SA's P_KeyTableRecord */

static const uint16_t *pkeys; /* two; NULL: the SA lists none */

static enum transport_result list_pkeys(struct transport *t, const struct sa_query *q, int ms,
                                        struct sa_response *a)
{
    uint8_t record[80] = {0};
    (void)t;
    (void)ms;
    assert_int_equal(q->attribute, SA_PKEY_TABLE_RECORD);
    assert_int_equal(be16(q->record), PEER_LID);
    a->stride = sizeof record; /* a multiple of 8 */
    put16(record, PEER_LID);
    for (unsigned i = 0; pkeys && i < 2; i++)
        put16(record + PKEY_RECORD_BLOCK + (size_t)2 * i, pkeys[i]);
    g_byte_array_append(a->records, record, sizeof record);
    memset(a->mad, 0, MAD_SIZE);
    a->mad[MAD_BASE_VERSION] = 1;
    a->mad[MAD_CLASS] = MAD_CLASS_SA;
    a->mad[MAD_CLASS_VERSION] = 2;
    a->mad[MAD_METHOD] = SA_GET_TABLE_RESP;
    put16(a->mad + MAD_ATTRIBUTE, q->attribute);
    return TRANSPORT_OK;
}

/* IBA 10.9.1.1: the high bit is that of a full member. */
static void the_peers_partitions(void **state)
{
    static const struct {
        uint16_t own, pkeys[2];
        int limited, twins, overlap; /* the outcomes of the three rules */
    } all[] = {
        {0xffff, {0xffff, 0}, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS},
        {0xffff, {0x7fff, 0}, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_PASS},
        {0x7fff, {0x7fff, 0}, OUTCOME_NOTED, OUTCOME_PASS, OUTCOME_PASS},
        {0x7fff, {0xffff, 0x7fff}, OUTCOME_PASS, OUTCOME_NOTED, OUTCOME_NOTED},
        {0xffff, {0xffff, 0x8001}, OUTCOME_PASS, OUTCOME_PASS, OUTCOME_NOTED},
        {0xffff, {0, 0}, VERDICT_SKIPPED, VERDICT_SKIPPED, VERDICT_SKIPPED},
    };
    const struct check *c = NULL;
    (void)state;
    for (unsigned i = 0; (c = check_at(i)) && strcmp(c->name, "partitions") != 0;)
        i++;
    assert_non_null(c);
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.t->link->pkey = all[i].own;
        pkeys = all[i].pkeys[0] ? all[i].pkeys : NULL;
        enum transport_result (*query)(struct transport *, const struct sa_query *, int,
                                       struct sa_response *) = run.ops.query;
        run.ops.query = list_pkeys;
        c->run(run.t);
        run.ops.query = query;
        const struct verdict *v = run.checked.verdict;
        assert_int_equal(
            verdict_count(v, R_PARTITION_LIMITED_TO_LIMITED, (enum outcome)all[i].limited), 1);
        assert_int_equal(verdict_count(v, R_PARTITION_MEMBERSHIP_TWINS, (enum outcome)all[i].twins),
                         1);
        assert_int_equal(verdict_count(v, R_PARTITION_OVERLAP, (enum outcome)all[i].overlap), 1);
        clear();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echoes_without_a_reply),
        cmocka_unit_test(an_address_that_was_not_asked_for),
        cmocka_unit_test(messages_that_are_not_acknowledged),
        cmocka_unit_test(reqs_without_an_answer),
        cmocka_unit_test(an_sa_that_went_away),
        cmocka_unit_test(a_silence_of_this_side),
        cmocka_unit_test(a_silence_of_the_peer),
        cmocka_unit_test(packets_that_are_lost),
        cmocka_unit_test(the_peers_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
