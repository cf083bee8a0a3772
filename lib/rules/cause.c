/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/check.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

static const struct {
    enum rule_number rule;
    const char *code, *text;
} causes[] = {
#define CAUSE(rule, code, text) {R_##rule, code, text},
#include "rules/causes.def"
#undef CAUSE
};

static bool is_text(const char *text, const char *actual)
{
    const char *varies = strchr(text, '*');
    return varies ? strncmp(text, actual, (size_t)(varies - text)) == 0 &&
                        g_str_has_suffix(actual, varies + 1)
                  : strcmp(text, actual) == 0;
}

/* The first row of the rule, or where it would be: the rows are in the order of the rules. */
static size_t first_of(enum rule_number rule)
{
    size_t begin = 0, end = G_N_ELEMENTS(causes);
    while (begin < end) {
        size_t middle = (begin + end) / 2;
        if (causes[middle].rule < rule)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool is_of(size_t i, enum rule_number rule)
{
    return i < G_N_ELEMENTS(causes) && causes[i].rule == rule;
}

const char *rule_cause(enum rule_number rule, unsigned n)
{
    size_t i = first_of(rule) + n;
    return is_of(i, rule) ? causes[i].code : NULL;
}

bool cause_says_all(enum rule_number rule, const char *cause)
{
    for (size_t i = first_of(rule); is_of(i, rule); i++)
        if (strcmp(causes[i].code, cause) == 0)
            return causes[i].text && !strchr(causes[i].text, '*');
    return false;
}

static const char *cause_of_text(enum rule_number rule, const char *actual)
{
    for (size_t i = first_of(rule); is_of(i, rule); i++)
        if (causes[i].text && is_text(causes[i].text, actual))
            return causes[i].code;
    return "";
}

bool finding_has_number(const struct finding *f)
{
    return f->value && *f->value <= FINDING_NUMBER_MAX;
}

/* "packet life time" is "packet-life-time-differs". */
static void write_name(const char *name, char text[CAUSE_TEXT])
{
    snprintf(text, CAUSE_TEXT, "%s-differs", name);
    for (char *p = text; *p; p++)
        *p = (char)(*p == ' ' || *p == '_' ? '-' : g_ascii_tolower(*p));
}

const char *finding_cause(const struct finding *f, char text[CAUSE_TEXT])
{
    bool is_violation = f->outcome != OUTCOME_PASS && f->outcome != OUTCOME_INCONCLUSIVE &&
                        f->outcome != OUTCOME_NOTED;
    if (!finding_has_number(f))
        return is_violation ? cause_of_text(f->rule, f->actual) : "";
    write_name(f->name ? f->name : "value", text);
    return text;
}
