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
#include "probe/run/options.h"
#include "probe/run/results.h"

enum { AT_SWITCH = 70 };

struct outcome_of_run {
    struct checked checked;
    struct fake fake;
};

static void run(struct outcome_of_run *o, bool lossy, uint16_t damaged_lid)
{
    struct options options = {.rate = 100000, .timeout_ms = 500};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &o->checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    fake_begin(&o->fake, target, NO_FAULT, true);
    o->fake.network.loses_half = lossy;
    o->fake.damaged_lid = damaged_lid;
    memcpy(target->ip, peer_ip, 4);
    checks_run_peer(target, NULL);
    fake_end(target);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_damaged_cable_is_named),
                                       cmocka_unit_test(without_evidence_no_cable_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
