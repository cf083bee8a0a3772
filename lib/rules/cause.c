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

const char *rule_cause(enum rule_number rule, unsigned n)
{
    for (size_t i = 0; i < G_N_ELEMENTS(causes); i++)
        if (causes[i].rule == rule && n-- == 0)
            return causes[i].code;
    return NULL;
}

bool cause_says_all(enum rule_number rule, const char *cause)
{
    for (size_t i = 0; i < G_N_ELEMENTS(causes); i++)
        if (causes[i].rule == rule && strcmp(causes[i].code, cause) == 0)
            return causes[i].text && !strchr(causes[i].text, '*');
    return false;
}

static const char *cause_of_text(enum rule_number rule, const char *actual)
{
    for (size_t i = 0; i < G_N_ELEMENTS(causes); i++)
        if (causes[i].rule == rule && causes[i].text && is_text(causes[i].text, actual))
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
        *p = *p == ' ' || *p == '_' ? '-' : g_ascii_tolower(*p);
}

const char *finding_cause(const struct finding *f, char text[CAUSE_TEXT])
{
    bool is_violation = f->outcome != OUTCOME_PASS && f->outcome != OUTCOME_INCONCLUSIVE &&
                        f->outcome != OUTCOME_NOTED;
    if (finding_has_number(f))
        write_name(f->name ? f->name : "value", text);
    else
        g_strlcpy(text, is_violation ? cause_of_text(f->rule, f->actual) : "", CAUSE_TEXT);
    return text;
}
