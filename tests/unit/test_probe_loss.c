/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lost packets, and the ports that count damaged ones (probe/checks/end.c,
 * probe/exchange/path_errors.c). The path loses every second packet; the agents of all ports
 * answer, and the PortRcvErrors of one of them grow.
 */
#include "probe_fixture.h"
#include "probe_peer.h"

#include <string.h>

#include "probe/checks/checks.h"
#include "probe/checks/path_loss.h"
#include "probe/exchange/path_mtu.h"
#include "probe/exchange/peer.h"
#include "probe/run/options.h"
#include "probe/run/results.h"

enum { AT_SWITCH = 70 };

struct outcome_of_run {
    struct checked checked;
    struct fake fake;
};

struct path {
    bool lossy;
    uint16_t damaged_lid;
    struct two_switches switches;
};

/* ping: after the test, as if some pings had no reply. Returns whether they are lost on the path.
 */
static bool run_on(struct outcome_of_run *o, const struct path *p, bool ping)
{
    struct options options = {.rate = 100000, .timeout_ms = 500};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    fake_begin(&o->fake, target, NO_FAULT, true);
    o->fake.network.loses_half = p->lossy;
    o->fake.damaged_lid = p->damaged_lid;
    o->fake.switches = p->switches;
    memcpy(target->ip, peer_ip, 4);
    checks_run_peer(target, NULL);
    bool on_path = ping && path_loss_report_pings(target, "peer.ping", "some pings are lost");
    fake_end(target);
    return on_path;
}

static void run(struct outcome_of_run *o, bool lossy, uint16_t damaged_lid)
{
    run_on(o, &(struct path){.lossy = lossy, .damaged_lid = damaged_lid}, false);
}

static const struct stage *find(const struct outcome_of_run *o, const char *id)
{
    const GPtrArray *all = o->checked.stages;
    for (guint i = 0; all && i < all->len; i++) {
        const struct stage *s = g_ptr_array_index(all, i);
        if (strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

static void the_damaged_cable_is_named(void **state)
{
    static const struct {
        uint16_t lid;
        const char *text;
    } all[] = {
        {OWN_LID, "damaged at this host's port (LID 3 port 1): port_rcv_errors grew by 1 to "},
        {AT_SWITCH, "damaged at the port at the other end of this host's cable (LID 70 port 5)"},
        {PEER_LID, "damaged at the peer's port (LID 7 port 1): port_rcv_errors grew by 1 to "},
    };
    struct outcome_of_run o;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        run(&o, true, all[i].lid);
        const struct stage *s = find(&o, "peer.loss");
        assert_non_null(s);
        assert_int_equal(s->outcome, OUTCOME_FAIL);
        if (!strstr(s->text, all[i].text))
            fail_msg("%s", s->text);
        probe_fixture_forget(&o.checked);
    }
}

/* Without a growth, losses are no fault of a cable; without losses no agent but this port's is
 * asked.
 */
static void without_evidence_no_cable_is_named(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, true, 0);
    const struct stage *s = find(&o, "peer.loss");
    assert_non_null(s);
    assert_int_equal(s->outcome, OUTCOME_INCONCLUSIVE);
    assert_null(strstr(s->text, "damaged"));
    probe_fixture_forget(&o.checked);
    run(&o, false, PEER_LID);
    assert_null(find(&o, "peer.loss"));
    assert_int_equal(o.fake.damaged, 0);
    probe_fixture_forget(&o.checked);
}

/* The peer is behind a second switch, and the damage between the two. */
static void the_link_between_switches_is_named(void **state)
{
    static const struct {
        uint16_t damaged_lid;
        struct two_switches switches;
        int outcome;
        const char *text;
    } all[] = {
        {71,
         {.damaged_port = 8},
         OUTCOME_FAIL,
         "; packets are damaged on the link between the switch with LID 70 (port 9) and the switch "
         "with LID 71 (port 8): port_rcv_errors grew by 1 to 1 at the latter"},
        {70,
         {.damaged_port = 9},
         OUTCOME_FAIL,
         "; packets are damaged on the link between the switch with LID 71 (port 8) and the switch "
         "with LID 70 (port 9): port_rcv_errors grew by 1 to 1 at the latter"},
        {70,
         {.damaged_port = 9, .discards = true},
         OUTCOME_FAIL,
         "; packets are dropped at the switch with LID 70, which sends them by port 9 to the switch "
         "with LID 71: port_xmit_discards grew by 1 to 1: that link is congested or down"},
        {71,
         {.damaged_port = 6},
         OUTCOME_FAIL,
         "; packets are damaged at the port at the other end of the peer's cable (LID 71 port 6)"},
        {71,
         {.damaged_port = 3}, /* not on the path */
         OUTCOME_INCONCLUSIVE,
         " %); no port that shows its counters counts errors"},
        {0,
         {.mute_lid = 71},
         OUTCOME_INCONCLUSIVE,
         "; no port that shows its counters counts errors, and LID 71 shows none"},
        {71,
         {.damaged_port = 8, .tables_are_hidden = true},
         OUTCOME_INCONCLUSIVE,
         ", and the links between the switches were not looked at: their forwarding tables cannot "
         "be read"},
    };
    struct outcome_of_run o;
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct path p = {true, all[i].damaged_lid, all[i].switches};
        p.switches.there = true;
        run_on(&o, &p, false);
        const struct stage *s = find(&o, "peer.loss");
        assert_non_null(s);
        if (s->outcome != all[i].outcome || !strstr(s->text, all[i].text))
            fail_msg("%zu: %s", i, s->text);
        if (s->outcome == OUTCOME_FAIL) {
            char *place = g_strdup_printf(" %u %u; ibqueryerrors ", p.damaged_lid,
                                          p.switches.damaged_port);
            assert_non_null(strstr(s->advice, place));
            g_free(place);
        }
        probe_fixture_forget(&o.checked);
    }
}

/* Before a filter is suspected, the probe's own packets are counted, and the ports asked. */
static void lost_pings_may_be_lost_on_the_path(void **state)
{
    struct outcome_of_run o;
    (void)state;
    assert_true(run_on(&o, &(struct path){true, 71, {.there = true, .damaged_port = 8}}, true));
    const struct stage *s = find(&o, "peer.ping");
    assert_non_null(s);
    assert_int_equal(s->outcome, OUTCOME_FAIL);
    assert_non_null(strstr(s->text, "some pings are lost, and 30 of 60 requests of the probe are "
                                    "lost too: packets are damaged on the link between the"));
    probe_fixture_forget(&o.checked);
    assert_true(run_on(&o, &(struct path){.lossy = true}, true));
    s = find(&o, "peer.ping");
    assert_non_null(s);
    assert_int_equal(s->outcome, OUTCOME_INCONCLUSIVE);
    assert_non_null(strstr(s->text, "are lost too: packets are lost on the path"));
    probe_fixture_forget(&o.checked);
    assert_false(run_on(&o, &(struct path){.switches.there = true}, true));
    assert_null(find(&o, "peer.ping"));
    probe_fixture_forget(&o.checked);
}

/* By the ports that packets leave by; without the forwarding tables, the way to find them. */
static void the_mtu_of_each_link_is_asked_for(void **state)
{
    static const struct {
        struct two_switches switches;
        const char *command;
    } all[] = {{{.there = true},
                "smpquery -C fake0 -P 1 portinfo 3 1 | grep -i mtu; "
                "smpquery -C fake0 -P 1 portinfo 70 9 | grep -i mtu; "
                "smpquery -C fake0 -P 1 portinfo 71 6 | grep -i mtu"},
               {{.there = true, .tables_are_hidden = true},
                "ibtracert -C fake0 -P 1 3 7  # the ports; for each: smpquery -C fake0 -P 1 "
                "portinfo LID PORT"}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct options options = {.rate = 100000, .timeout_ms = 500};
        struct checked checked = {.name = (char *)"peer", .verdict = verdict_new(NULL)};
        struct results results = {.checked = &checked};
        struct probe_fixture fixture;
        struct target *target = probe_fixture_make(&fixture, &options, &results);
        struct fake *fake = g_new0(struct fake, 1);
        fake_begin(fake, target, NO_FAULT, true);
        fake->switches = all[i].switches;
        target->peer->lid = PEER_LID;
        char *command = path_mtu_command(target);
        assert_string_equal(command, all[i].command);
        g_free(command);
        fake_end(target);
        g_free(fake);
        probe_fixture_forget(&checked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_damaged_cable_is_named),
                                       cmocka_unit_test(without_evidence_no_cable_is_named),
                                       cmocka_unit_test(the_link_between_switches_is_named),
                                       cmocka_unit_test(lost_pings_may_be_lost_on_the_path),
                                       cmocka_unit_test(the_mtu_of_each_link_is_asked_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
