/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe never removes the host's interface from its link. It stays in a group that it joined if
 * an interface that is up may need the membership; otherwise it leaves.
 */
#include "group_sa.h"
#include "probe_peer.h"

#include <string.h>

#include "probe/link/message.h"
#include "sa_answer.h"
#include "wire/put.h"
#include "probe/fabric/made_group.h"
#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

static const uint8_t all_nodes[16] = {0xff, 0x02, [15] = 1};
static struct group_sa sa;

/* ---- the SA as the probe's transport */

static enum transport_result query(struct transport *t, const struct sa_query *q, int ms,
                                   struct sa_response *a)
{
    uint8_t record[SA_DATA_SIZE] = {0};
    (void)t;
    (void)ms;
    a->stride = 0;
    sa_answer_head(q, group_sa_respond(q, record), a);
    if (a->status == 0)
        g_byte_array_append(a->records, record, sizeof record);
    return TRANSPORT_OK;
}

struct check_context {
    struct options options;
    struct fake fake;
    struct probe_fixture fixture;
    const struct transport_ops *before;
    struct transport_ops ops;
};

/* The probe runs on partition 0xffff of port 1; the port is in no group. */
static void begin(struct check_context *s, struct host_of_test host)
{
    uint8_t mgid[16];
    *s = (struct check_context){.options = {.rate = 1000, .timeout_ms = 1}};
    struct target *t = probe_fixture_make(&s->fixture, &s->options, NULL);
    memset(&sa, 0, sizeof sa);
    group_sa = &sa;
    fake_begin(&s->fake, t, NO_FAULT, true);
    s->before = s->fixture.link.transport->ops;
    s->ops = *s->before;
    s->ops.query = query;
    s->fixture.link.transport->ops = &s->ops;
    sa.host = host;
    group_sa_add(s->fixture.link.group.mgid, 0);
    message_ipv6_mgid(mgid, 2, 0xffff, all_nodes);
    group_sa_add(mgid, 0);
}

static void end(struct check_context *s)
{
    groups_leave(&s->fixture.target);
    s->fixture.link.transport->ops = s->before;
    fake_end(&s->fixture.target);
}

static void join(struct check_context *s, const uint8_t *mgid, uint8_t state)
{
    struct mc_group g;
    uint16_t status;
    assert_int_equal(group_join(&s->fixture.target, mgid, state, false, &g, &status), SA_SUCCESS);
    assert_true(group_sa_find(mgid)->held & state);
}

/* Returns the port's JoinState in the group after a run that joined it. */
static uint8_t after_run(struct host_of_test host, const uint8_t *mgid, uint8_t state)
{
    struct check_context s;
    begin(&s, host);
    join(&s, mgid ? mgid : s.fixture.link.group.mgid, state);
    uint8_t group[16];
    memcpy(group, mgid ? mgid : s.fixture.link.group.mgid, 16);
    end(&s);
    return group_sa_find(group)->held;
}

static const struct host_of_test up = {.up = true, .port = 1, .pkey = 0xffff},
                                 down = {.port = 1, .pkey = 0xffff};

/* ---- the tests */

/*
 * The interface is up with NO-CARRIER, and has not joined when the probe checks. Later it relies on
 * the probe's membership.
 */
static void interface_that_is_up_keeps_its_groups(void **state)
{
    uint8_t nodes[16];
    (void)state;
    message_ipv6_mgid(nodes, 2, 0xffff, all_nodes);
    assert_int_equal(after_run(up, NULL, JOIN_FULL), JOIN_FULL);
    assert_int_equal(after_run(up, nodes, JOIN_FULL), JOIN_FULL);
    assert_int_equal(sa.deletes, 0);
    /* the kernel joins in this state when it sends to the group */
    assert_int_equal(after_run(up, nodes, JOIN_SEND_ONLY_FULL), JOIN_SEND_ONLY_FULL);
    assert_int_equal(
        after_run((struct host_of_test){.up = true, .port = 1, .pkey = 0x7fff}, NULL, JOIN_FULL),
        JOIN_FULL);
}

/*
 * A port that joins with JoinState 0x9 and leaves with 0x1 leaves its group behind in OpenSM. The
 * probe leaves in the reverse order.
 */
static void joins_are_undone_in_the_reverse_order(void **state)
{
    struct check_context s;
    (void)state;
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    join(&s, s.fixture.link.group.mgid, JOIN_SEND_ONLY_FULL);
    end(&s);
    assert_int_equal(sa.deletes, 2);
    assert_false(sa.leaks);
}

static void groups_without_an_interface_are_left(void **state)
{
    uint8_t nodes[16];
    (void)state;
    message_ipv6_mgid(nodes, 2, 0xffff, all_nodes);
    assert_int_equal(after_run(down, NULL, JOIN_FULL), 0);
    assert_int_equal(after_run(down, nodes, JOIN_FULL), 0);
    assert_int_equal(
        after_run((struct host_of_test){.up = true, .port = 2, .pkey = 0xffff}, NULL, JOIN_FULL),
        0);
    /* a child interface */
    assert_int_equal(
        after_run((struct host_of_test){.up = true, .port = 1, .pkey = 0x8001}, NULL, JOIN_FULL),
        0);
    /* JoinStates that no interface uses */
    assert_int_equal(after_run(up, nodes, JOIN_SEND_ONLY_NON), 0);
    assert_int_equal(after_run(up, nodes, JOIN_NON), 0);
    assert_int_equal(after_run(up, NULL, JOIN_SEND_ONLY_FULL), 0);
}

/* The P_Key in the group's MGID decides, not the partition of the probe. */
static void child_interface_keeps_its_groups(void **state)
{
    const struct host_of_test child = {.up = true, .port = 1, .pkey = 0x8001};
    uint8_t mgid[16];
    struct check_context s;
    (void)state;
    message_broadcast_mgid(mgid, 2, 0x8001);
    begin(&s, child);
    group_sa_add(mgid, 0);
    join(&s, mgid, JOIN_FULL);
    end(&s);
    assert_int_equal(group_sa_find(mgid)->held, JOIN_FULL);
}

static void interface_comes_up_during_the_run(void **state)
{
    struct check_context s;
    (void)state;
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    sa.host.up = true;
    end(&s);
    assert_int_equal(sa.deletes, 0);
    assert_int_equal(group_sa_find(s.fixture.link.group.mgid)->held, JOIN_FULL);
}

/* The interface's join reaches the SA before the probe's Delete. */
static void interface_comes_up_while_the_group_is_left(void **state)
{
    struct host_of_test late = down;
    (void)state;
    late.comes_up_at_delete = true;
    assert_int_equal(after_run(late, NULL, JOIN_FULL), JOIN_FULL);
    assert_int_equal(sa.deletes, 1);
    assert_int_equal(sa.sets, 2);
}

/*
 * If the SA hides the JoinState, the probe joins again; if the SA rejects that, it tries only once.
 */
static void sa_without_join_state_is_asked_once_more(void **state)
{
    struct check_context s;
    (void)state;
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    sa.host.comes_up_at_delete = sa.hides_states = true;
    end(&s);
    assert_int_equal(group_sa_find(s.fixture.link.group.mgid)->held, JOIN_FULL);
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    sa.host.comes_up_at_delete = sa.refuses_again = true;
    end(&s);
    assert_int_equal(sa.sets, 2);
}

/* A group that the probe created is left, unless the interface wants it. */
static void own_groups_are_left(void **state)
{
    uint8_t mgid[16];
    struct mc_group g;
    uint16_t status;
    struct check_context s;
    (void)state;
    for (int wants = 0; wants <= 1; wants++) {
        begin(&s, up);
        sa.host.wants_all = wants;
        assert_int_equal(made_group_mgid(&s.fixture.target, mgid, &status), SA_SUCCESS);
        assert_int_equal(group_join(&s.fixture.target, mgid, JOIN_FULL, true, &g, &status),
                         SA_SUCCESS);
        end(&s);
        assert_int_equal(group_sa_find(mgid)->held, wants ? JOIN_FULL : 0);
    }
    /* The group existed before: another port wants it, or the host sends to it. */
    begin(&s, up);
    group_sa_add(mgid, 0);
    assert_int_equal(group_join(&s.fixture.target, mgid, JOIN_FULL, true, &g, &status), SA_SUCCESS);
    end(&s);
    assert_int_equal(group_sa_find(mgid)->held, JOIN_FULL);
}

/* Memberships from before the run stay. */
static void memberships_from_before_stay(void **state)
{
    struct check_context s;
    (void)state;
    begin(&s, down);
    group_sa_add(s.fixture.link.group.mgid, JOIN_FULL);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    join(&s, s.fixture.link.group.mgid, JOIN_NON);
    end(&s);
    assert_int_equal(group_sa_find(s.fixture.link.group.mgid)->held, JOIN_FULL);
}

static char *not_left_after(uint16_t refused)
{
    struct check_context s;
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    sa.refuses_delete = refused;
    groups_leave(&s.fixture.target);
    char *text = groups_take_not_left(&s.fixture.link);
    assert_null(groups_take_not_left(&s.fixture.link)); /* each is reported once */
    sa.refuses_delete = 0;
    end(&s);
    return text;
}

/* A leave that the SA refuses is reported, with the status. */
static void refused_leaves_are_reported(void **state)
{
    (void)state;
    assert_null(not_left_after(0));
    char *denied = not_left_after(0x0700), *invalid = not_left_after(0x0200);
    assert_string_equal(denied,
                        "not done: leaving group ff12:401b:ffff::ffff:ffff: the SA refuses: "
                        "status 0x0700, request denied (ERR_REQ_DENIED)");
    assert_non_null(strstr(invalid, "status 0x0200")); /* the port is still a member */
    g_free(denied);
    g_free(invalid);
}

/* The SA has already removed the membership: it refuses the Delete as invalid. */
static void leave_of_a_lost_membership_is_done(void **state)
{
    struct check_context s;
    (void)state;
    begin(&s, down);
    join(&s, s.fixture.link.group.mgid, JOIN_FULL);
    group_sa_find(s.fixture.link.group.mgid)->held = 0; /* the SM was restarted */
    groups_leave(&s.fixture.target);
    assert_null(groups_take_not_left(&s.fixture.link));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interface_that_is_up_keeps_its_groups),
        cmocka_unit_test(joins_are_undone_in_the_reverse_order),
        cmocka_unit_test(groups_without_an_interface_are_left),
        cmocka_unit_test(child_interface_keeps_its_groups),
        cmocka_unit_test(interface_comes_up_during_the_run),
        cmocka_unit_test(interface_comes_up_while_the_group_is_left),
        cmocka_unit_test(sa_without_join_state_is_asked_once_more),
        cmocka_unit_test(own_groups_are_left),
        cmocka_unit_test(memberships_from_before_stay),
        cmocka_unit_test(refused_leaves_are_reported),
        cmocka_unit_test(leave_of_a_lost_membership_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
