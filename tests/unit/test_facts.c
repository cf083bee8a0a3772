/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A check that reads a fact and does not cite it in its result ends tests/judge/fact_reads.c. */
#include "tests/judge/fact_reads.h" /* before cmocka, which has macros of the same names */

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void ignore(void *user, const struct finding *f)
{
    (void)user;
    (void)f;
}

struct check_run {
    struct fabric *fabric;
    struct packet packet;
    struct events events;
    struct reporter reporter;
    struct check_context check_context;
};

static void begin(struct check_run *c)
{
    *c = (struct check_run){.fabric = fabric_new(), .reporter = {.report = ignore}};
    c->check_context = (struct check_context){
        .r = &c->reporter, .f = fabric_facts(c->fabric), .p = &c->packet, .e = &c->events};
    fact_reads_clear();
}

/*
 * A check that reads a P_Key table, and reports with these facts. passes: it passes another rule in
 * between.
 */
static void check_pkey(const struct check_context *s, struct fact fact, unsigned dropped,
                       bool passes)
{
    static const uint8_t gid[GID_SIZE] = {0xfe, 0x80};
    static const struct endport port;
    const struct result r = {.rule = R_RFC4391_5_PKEY_CONFIGURED,
                             .about = entity_port(gid, 0),
                             .expected = "a P_Key of the port's table",
                             .actual = "another one",
                             .facts = {fact},
                             .dropped = dropped};
    endport_has_pkey(&port, 0xffff);
    if (passes)
        report_pass(s->r, R_RFC4391_7_LINK_MTU);
    report_result(s, &r);
}

/* The signal that ends a process with such a check; 0: none. */
static int end_of(struct fact fact, unsigned dropped, bool passes)
{
    struct check_run c;
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        begin(&c);
        check_pkey(&c.check_context, fact, dropped, passes);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_fact_that_is_cited_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(end_of((struct fact){FACT_PKEYS, .pkey_known = PKEY_NOT_KNOWN}, 0, false), 0);
}

static void a_forgotten_fact_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(end_of((struct fact){0}, 0, false), SIGABRT);
}

static void another_rule_that_passes_does_not_end_the_check(void **state)
{
    (void)state;
    assert_int_equal(end_of((struct fact){0}, 0, true), SIGABRT);
    assert_int_equal(end_of((struct fact){FACT_PKEYS, .pkey_known = PKEY_NOT_KNOWN}, 0, true), 0);
}

static void another_fact_does_not_replace_a_forgotten_one(void **state)
{
    (void)state;
    assert_int_equal(end_of((struct fact){FACT_GIDS, .whose = WHOSE_OTHERS}, 0, false), SIGABRT);
}

static void a_fact_that_is_dropped_explicitly_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(end_of((struct fact){0}, READ_PKEYS, false), 0);
}

/* ---- the decision */

static unsigned outcomes[OUTCOMES];
static const char *reason;

static void count(void *user, const struct finding *f)
{
    (void)user;
    outcomes[f->outcome]++;
    if (f->outcome != OUTCOME_UNPROVED)
        reason = f->actual;
}

/* full: this table has refused an entry; UNDONE_TABLES: none has. */
static void report_with(const struct fact *facts, unsigned n, enum undone_table full)
{
    struct check_run c;
    struct result r = {.rule = R_RFC4391_9_1_1_GID_OF_PORT,
                       .about = entity_link(0xffff),
                       .expected = "this",
                       .actual = "that"};
    begin(&c);
    if (full < UNDONE_TABLES)
        undone_refuse(fabric_undone(c.fabric), full);
    c.reporter.report = count;
    memset(outcomes, 0, sizeof outcomes);
    for (size_t i = 0; i < n; i++)
        r.facts[i] = facts[i];
    report_result(&c.check_context, &r);
    fabric_free(c.fabric);
}

static void report(const struct fact *facts, unsigned n)
{
    report_with(facts, n, UNDONE_TABLES);
}

static void a_result_without_facts_is_a_failure(void **state)
{
    (void)state;
    report(NULL, 0);
    assert_int_equal(outcomes[OUTCOME_FAIL], 1);
}

static void one_uncertain_fact_makes_the_result_inconclusive(void **state)
{
    const struct fact facts[] = {{FACT_INTERFACE, .known = true},
                                 {FACT_UD_QPNS, .announced = ANNOUNCED_UNKNOWN}};
    (void)state;
    report(facts, 1);
    assert_int_equal(outcomes[OUTCOME_FAIL], 1);
    report(facts, 2);
    assert_int_equal(outcomes[OUTCOME_FAIL], 0);
    assert_int_equal(outcomes[OUTCOME_INCONCLUSIVE], 1);
    assert_string_equal(reason,
                        "the announcement of the port's link-layer address was not captured");
}

/* From its first refusal on, a table proves nothing: a refused entry may outdate the fact. */
static void a_full_table_makes_the_facts_that_depend_on_it_uncertain(void **state)
{
    const struct fact fact = {FACT_INTERFACE, .known = true}; /* a queue pair is an interface's */
    const uint32_t depends = UNDONE_SET(ENDPORTS) | UNDONE_SET(QPS) | UNDONE_SET(INTERFACES) |
                             UNDONE_SET(APART) | UNDONE_SET(MERGES) | UNDONE_SET(TRANSACTIONS);
    (void)state;
    for (unsigned table = 0; table < UNDONE_TABLES; table++) {
        bool uncertain = depends & UINT32_C(1) << table;
        report_with(&fact, 1, (enum undone_table)table);
        assert_int_equal(outcomes[OUTCOME_INCONCLUSIVE], uncertain);
        assert_int_equal(outcomes[OUTCOME_FAIL], !uncertain);
        assert_int_equal(strstr(reason, undone_texts[table].words) != NULL, uncertain);
    }
}

static void every_fact_depends_on_the_table_of_ports(void **state)
{
    (void)state;
    for (unsigned kind = FACT_NONE + 1; kind < FACT_KINDS; kind++) {
        const struct fact fact = {.kind = (enum fact_kind)kind};
        report_with(&fact, 1, UNDONE_ENDPORTS);
        assert_int_equal(outcomes[OUTCOME_INCONCLUSIVE], 1);
        assert_non_null(strstr(reason, "the table of ports is full"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fact_that_is_cited_is_accepted),
        cmocka_unit_test(a_forgotten_fact_ends_the_program),
        cmocka_unit_test(another_rule_that_passes_does_not_end_the_check),
        cmocka_unit_test(another_fact_does_not_replace_a_forgotten_one),
        cmocka_unit_test(a_fact_that_is_dropped_explicitly_is_accepted),
        cmocka_unit_test(a_result_without_facts_is_a_failure),
        cmocka_unit_test(one_uncertain_fact_makes_the_result_inconclusive),
        cmocka_unit_test(a_full_table_makes_the_facts_that_depend_on_it_uncertain),
        cmocka_unit_test(every_fact_depends_on_the_table_of_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
