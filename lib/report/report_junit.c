/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as JUnit XML, valid for both Ant's schema and that of Jenkins' xUnit plugin. Each
 * capture is a testsuite: its first testcase is whether the capture could be judged, then one for
 * each rule; doc/reports.md lists them.
 */
#include "report/report.h"

#include <libxml/xmlwriter.h>
#include <string.h>

#include "cli/plain.h"
#include "report/words.h"

struct junit {
    xmlTextWriterPtr xml;
    const struct report *report;
    const struct checked *checked;
    char *classname;
};

/*
 * libxml2's character type xmlChar is a byte of UTF-8. Its calls fail only for lack of memory,
 * which also ends GLib programs.
 */
static void start_element(const struct junit *x, const char *element)
{
    xmlTextWriterStartElement(x->xml, (const xmlChar *)element);
}

static void end_element(const struct junit *x)
{
    xmlTextWriterEndElement(x->xml);
}

static void attribute(const struct junit *x, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(x->xml, (const xmlChar *)name, (const xmlChar *)value);
}

static void number(const struct junit *x, const char *name, unsigned value)
{
    char text[16];
    g_snprintf(text, sizeof text, "%u", value);
    attribute(x, name, text);
}

static void content(const struct junit *x, const char *text)
{
    xmlTextWriterWriteString(x->xml, (const xmlChar *)text);
}

/* ---- result of a rule */

enum junit_kind { KIND_PASSED, KIND_FAILED, KIND_SKIPPED };

static enum junit_kind result_kind(const struct junit *x, enum rule_number rule)
{
    int worst = verdict_worst(x->checked->verdict, rule);
    if (report_fails(x->report, rule, worst))
        return KIND_FAILED;
    return worst == OUTCOME_PASS ? KIND_PASSED : KIND_SKIPPED;
}

/* The first case with its frames, on one line. */
static void add_first_case(GString *out, const struct verdict_result *r)
{
    if (!r || r->n_cases == 0)
        return;
    g_string_append(out, out->len ? ": " : "");
    words_add_case(out, &r->cases[0], true);
    g_string_append(out, r->frames.n ? "; " : "");
    words_add_frames(out, &r->frames);
    if (r->cases[0].senders.n) {
        g_string_append(out, "; sent by ");
        words_add_senders(out, &r->cases[0].senders);
    }
}

/* Adds the command that prints the rule's page. */
static void add_lead(const struct junit *x, GString *message, enum rule_number rule,
                     const struct verdict_result *r)
{
    if (!r)
        return;
    g_string_append(message, "; see: ");
    words_add_help(message, x->report->probed, rule);
}

/* Adds the inconclusive cases of a rule that other packets decide, below a heading. */
static void add_undecided(GString *out, const struct junit *x, enum rule_number rule,
                          const char *heading)
{
    const struct verdict_result *r = checked_undecided(x->checked, rule);
    if (!r)
        return;
    g_string_append_printf(out, "%s\n", heading);
    words_add_cases(out, r, "  ");
}

static void write_kind(const struct junit *x, enum rule_number rule)
{
    int worst = verdict_worst(x->checked->verdict, rule);
    const struct verdict_result *r = worst < 0 ? NULL
                                               : verdict_result(x->checked->verdict, rule,
                                                                (enum outcome)worst);
    bool failed = result_kind(x, rule) == KIND_FAILED;
    bool violated = failed && worst == OUTCOME_FAIL;
    GString *message = g_string_new(violated ? NULL : why_skipped(worst));
    GString *text = g_string_new(NULL);
    add_first_case(message, r);
    add_lead(x, message, rule, r);
    words_add_place(text, &rules[rule]);
    g_string_append_printf(text, ": %s\n", rules[rule].text);
    if (r)
        words_add_cases(text, r, "");
    add_undecided(text, x, rule, "Inconclusive:");
    start_element(x, failed ? "failure" : "skipped");
    attribute(x, "message", message->str);
    if (failed)
        attribute(x, "type", rule_level_name(rules[rule].level));
    content(x, text->str);
    end_element(x);
    g_string_free(message, TRUE);
    g_string_free(text, TRUE);
}

/* ---- testcases */

static void begin_testcase(const struct junit *x, const char *name)
{
    start_element(x, "testcase");
    attribute(x, "classname", x->classname);
    attribute(x, "name", name);
    attribute(x, "time", "0");
}

static void write_rule(const struct junit *x, enum rule_number rule)
{
    begin_testcase(x, rules[rule].id);
    if (result_kind(x, rule) != KIND_PASSED)
        write_kind(x, rule);
    end_element(x);
}

/* Writes a stage of the diagnosis of a fabric as a testcase. */
static void write_stage(const struct junit *x, const struct stage *s)
{
    begin_testcase(x, s->id);
    if (s->outcome != OUTCOME_PASS && s->outcome != OUTCOME_NOTED) {
        bool failed = s->outcome == OUTCOME_FAIL;
        char *why = g_strdup_printf("%s: %s", outcome_name((enum outcome)s->outcome), s->text);
        start_element(x, failed ? "failure" : "skipped");
        attribute(x, "message", failed ? s->text : why);
        g_free(why);
        if (failed)
            attribute(x, "type", "STAGE");
        content(x, s->advice);
        end_element(x);
    }
    end_element(x);
}

static guint n_stages(const struct junit *x)
{
    return x->checked->stages ? x->checked->stages->len : 0;
}

static void count_stages(const struct junit *x, unsigned kinds[3])
{
    for (guint i = 0; i < n_stages(x); i++) {
        int outcome = ((const struct stage *)x->checked->stages->pdata[i])->outcome;
        kinds[outcome == OUTCOME_FAIL                               ? KIND_FAILED
              : outcome == OUTCOME_PASS || outcome == OUTCOME_NOTED ? KIND_PASSED
                                                                    : KIND_SKIPPED]++;
    }
}

static void write_could_be_judged(const struct junit *x)
{
    begin_testcase(x, "could be judged");
    if (!checked_wholly(x->report, x->checked)) {
        start_element(x, "error");
        attribute(x, "message", checked_why_not(x->report, x->checked));
        attribute(x, "type", "unjudged");
        end_element(x);
    }
    end_element(x);
}

/* ---- testsuites */

static void count_attributes(const struct junit *x)
{
    unsigned kinds[] = {0, 0, 0}, tests = 1 + n_stages(x);
    count_stages(x, kinds);
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        if (checked_tests(x->report, x->checked, (enum rule_number)rule)) {
            tests++;
            kinds[result_kind(x, (enum rule_number)rule)]++;
        }
    number(x, "tests", tests);
    number(x, "failures", kinds[KIND_FAILED]);
    number(x, "errors", !checked_wholly(x->report, x->checked));
    number(x, "skipped", kinds[KIND_SKIPPED]);
}

static void host_and_times(const struct junit *x)
{
    GDateTime *now = g_date_time_new_now_utc();
    char *stamp = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S"),
         *host = plain_dup(g_get_host_name());
    char seconds[G_ASCII_DTOSTR_BUF_SIZE];
    attribute(x, "timestamp", stamp);
    attribute(x, "hostname", host[0] ? host : "localhost");
    attribute(x, "time", g_ascii_formatd(seconds, sizeof seconds, "%.3f", x->checked->seconds));
    g_free(host);
    g_free(stamp);
    g_date_time_unref(now);
}

static void write_property(const struct junit *x, const char *name, const char *value)
{
    start_element(x, "property");
    attribute(x, "name", name);
    attribute(x, "value", value);
    end_element(x);
}

static void write_properties(const struct junit *x)
{
    struct verdict_summary s = checked_summary(x->report, x->checked);
    start_element(x, "properties");
    write_property(x, "version", x->report->version);
    write_property(x, "strict", x->report->strict ? "true" : "false");
    write_property(x, "deviations", x->report->deviations);
    write_property(x, "verdict", status_name(s.status));
    end_element(x);
}

/*
 * The text report, which contains the notes and inconclusive results: CI services show it as the
 * output of the test, and a testcase that passed has no text of its own. A probe's text names one
 * outcome of each rule, so the inconclusive results of the others follow it.
 */
static void write_output(const struct junit *x)
{
    GString *text = g_string_new(NULL);
    report_text_of(text, x->report, x->checked, false);
    for (size_t rule = 0; x->report->probed && rule < RULE_COUNT; rule++) {
        char *heading = g_strdup_printf("inconclusive  %s", rules[rule].id);
        add_undecided(text, x, (enum rule_number)rule, heading);
        g_free(heading);
    }
    start_element(x, "system-out");
    content(x, text->str);
    end_element(x);
    start_element(x, "system-err");
    content(x, x->checked->trouble ? x->checked->trouble : "");
    end_element(x);
    g_string_free(text, TRUE);
}

static void write_suite(const struct junit *x, unsigned id)
{
    char *name = g_strdup_printf("%s %s", x->report->tool, x->checked->name);
    start_element(x, "testsuite");
    number(x, "id", id);
    attribute(x, "package", x->report->tool);
    attribute(x, "name", name);
    count_attributes(x);
    host_and_times(x);
    write_properties(x);
    write_could_be_judged(x);
    for (guint i = 0; i < n_stages(x); i++)
        write_stage(x, x->checked->stages->pdata[i]);
    for (size_t rule = 0; rule < RULE_COUNT; rule++)
        if (checked_tests(x->report, x->checked, (enum rule_number)rule))
            write_rule(x, (enum rule_number)rule);
    write_output(x);
    end_element(x);
    g_free(name);
}

static GString *junit_part(const struct report *r, const struct checked *j,
                           struct written_so_far *written)
{
    xmlBufferPtr buffer = xmlBufferCreate();
    struct junit x = {xmlNewTextWriterMemory(buffer, 0), r, j, NULL};
    /*
     * Readers take the part before the last dot as a package; without this, the class would be the
     * file's suffix.
     */
    x.classname = g_strdelimit(g_strdup(j->name), ".", '_');
    xmlTextWriterSetIndent(x.xml, 1);
    write_suite(&x, written->captures++);
    xmlTextWriterFlush(x.xml);
    xmlFreeTextWriter(x.xml);
    GString *out = g_string_new((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    g_free(x.classname);
    return out;
}

static GString *junit_head(const struct report *r, const struct written_so_far *written)
{
    (void)r;
    (void)written;
    return g_string_new("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
}

static GString *junit_tail(const struct report *r)
{
    (void)r;
    return g_string_new("</testsuites>\n");
}

const struct report_parts report_parts_junit = {junit_head, junit_part, junit_tail};
