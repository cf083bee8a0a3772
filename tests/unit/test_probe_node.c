/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target node (probe/node): what vanishes while it is read, the kernel's groups, whose turn it
 * is to be asked about, and a state of which any part is missing.
 */
#include "unit.h"

#include <string.h>

#include "probe/node/facts.h"
#include "probe/node/judge.h"
#include "probe/node/state.h"
#include "probe/node/turn.h"

static void vanished_device_is_a_fault(void **state)
{
    static const struct choice gone[] = {
        {.interface = "no-such-ib0", .device = "no-such-hca", .port = 1},
        {.device = "no-such-hca", .port = 1},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(gone); i++) {
        struct node_link l;
        struct node_state s = {.links = g_array_new(FALSE, FALSE, sizeof(struct node_memory))};
        struct checked j = {.verdict = verdict_new(NULL)};
        node_read(&l, &gone[i]);
        assert_true(l.vanished);
        node_judge(&j, &l, &s, true);
        assert_int_equal(node_word_of(&j), NODE_FAULT);
        assert_non_null(strstr(((const struct stage *)j.stages->pdata[0])->text, "vanished"));
        checked_clear(&j);
        g_array_unref(s.links);
    }
}

static void groups_of_the_kernel(void **state)
{
    unsigned joined, waiting;
    (void)state;
    assert_false(node_read_groups("", &joined, &waiting));
    assert_true(node_read_groups("GID: ff12:401b:ffff:0:0:0:ffff:ffff\n"
                                 "  created: 4294893000\n  queuelen:         0\n"
                                 "  complete:       yes\n  send_only:       no\n\n"
                                 "GID: ff12:401b:ffff:0:0:0:0:1\n"
                                 "  complete:        no\n  send_only:       no\n\n"
                                 "GID: ff12:401b:ffff:0:0:0:0:2\n"
                                 "  complete:        no\n  send_only:      yes\n\n",
                                 &joined, &waiting));
    assert_int_equal(joined, 1);
    assert_int_equal(waiting, 1);
}

/* ---- whose turn it is */

static struct node_link link_of(const char *interface, bool carrier)
{
    struct node_link l = {
        .at = {.device = "hca0", .port = 1}, .carrier = carrier, .answer = NODE_NOT_ASKED};
    g_strlcpy(l.at.interface, interface, sizeof l.at.interface);
    return l;
}

static void remember(struct node_state *s, const char *interface, bool asked, bool at_odds)
{
    struct node_memory m = {.device = "hca0", .port = 1, .asked = asked, .at_odds = at_odds};
    g_strlcpy(m.interface, interface, sizeof m.interface);
    g_array_append_val(s->links, m);
}

static void each_interface_has_its_turn(void **state)
{
    GArray *links = g_array_new(FALSE, FALSE, sizeof(struct node_link));
    struct node_state s = {.links = g_array_new(FALSE, FALSE, sizeof(struct node_memory))};
    static const char *const names[] = {"ib0", "ib0.8001", "ib0.8002"};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        struct node_link l = link_of(names[i], true);
        g_array_append_val(links, l);
    }
    assert_int_equal(node_turn(links, 0, &s), 0);
    remember(&s, "ib0", true, false);
    assert_int_equal(node_turn(links, 0, &s), 1);
    g_array_set_size(s.links, 0);
    remember(&s, "ib0.8002", true, false);
    assert_int_equal(node_turn(links, 0, &s), 0);
    g_array_index(links, struct node_link, 2).carrier = false;
    assert_int_equal(node_turn(links, 0, &s), 2);
    remember(&s, "ib0.8001", false, true);
    assert_int_equal(node_turn(links, 0, &s), 1);
    for (guint i = 0; i < links->len; i++)
        g_array_index(links, struct node_link, i).answer = NODE_NOTHING;
    assert_int_equal(node_turn(links, 0, &s), -1);
    g_array_unref(s.links);
    g_array_unref(links);
}

/* ---- the state */

static GString *a_state(struct node_state *s)
{
    struct node_memory m = {.interface = "ib0", .device = "hca0", .port = 1, .pkey = 0xffff};
    *s = (struct node_state){.boot = "boot",
                             .now_us = 100,
                             .now_wall_us = 200,
                             .links = g_array_new(FALSE, FALSE, sizeof(struct node_memory))};
    m.counters.known[0] = true;
    m.counters.value[0] = UINT64_MAX;
    g_array_append_val(s->links, m);
    m.interface[0] = '\0';
    g_array_append_val(s->links, m);
    GString *text = node_state_text(s, s->links);
    g_array_set_size(s->links, 0);
    return text;
}

static void state_is_what_was_kept(void **state)
{
    struct node_state s;
    GString *text = a_state(&s);
    (void)state;
    assert_true(node_state_parse(&s, text->str));
    assert_int_equal(s.links->len, 2);
    const struct node_memory *m = node_state_find(&s, "ib0", "hca0", 1);
    assert_non_null(m);
    assert_true(m->counters.known[0] && m->counters.value[0] == UINT64_MAX);
    assert_false(m->counters.known[1]);
    assert_non_null(node_state_find(&s, "", "hca0", 1));
    assert_null(node_state_find(&s, "ib1", "hca0", 1));
    g_string_free(text, TRUE);
    g_array_unref(s.links);
}

/* However it ends early, nothing of it is used. */
static void part_of_a_state_is_damaged(void **state)
{
    struct node_state s;
    GString *text = a_state(&s);
    gsize whole = text->len - 1; /* without the last line end it is whole */
    (void)state;
    for (gsize n = 0; n < whole; n++) {
        char *part = g_strndup(text->str, n);
        assert_false(node_state_parse(&s, part));
        assert_string_equal(s.why, "it is damaged");
        assert_true(!s.usable && s.links->len == 0);
        g_free(part);
    }
    g_string_free(text, TRUE);
    g_array_unref(s.links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vanished_device_is_a_fault),  cmocka_unit_test(groups_of_the_kernel),
        cmocka_unit_test(each_interface_has_its_turn), cmocka_unit_test(state_is_what_was_kept),
        cmocka_unit_test(part_of_a_state_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
