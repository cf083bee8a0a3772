/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --explain NAME: prints the page of a rule, an event or a stage of the probe (doc/rules,
 * doc/events, doc/stages) as text for a terminal.
 */
#ifndef IPOIB_REPORT_EXPLAIN_H
#define IPOIB_REPORT_EXPLAIN_H

#include <glib.h>
#include <stdbool.h>

/* A page, in Markdown. The table is generated at build time. */
struct rule_page {
    const char *id; /* "rfc4391.6.type", "join_refused", "fabric.join" */
    const char *text;
    bool is_stage;
};
extern const struct rule_page rule_pages[];
extern const unsigned rule_pages_number;

/*
 * Appends the page of the rule, event or stage NAME: an identifier, or a prefix that only one has.
 * Returns its identifier. Returns NULL and sets ERROR if none or several begin with NAME.
 */
const char *explain_rule(GString *out, const char *name, GError **error);

/* Does the selector (rule_selected()) select a stage? */
bool explain_has_stage(const char *selector);

/* Appends a Markdown page as text of at most 79 columns. Filters and commands are not wrapped. */
void explain_page(GString *out, const char *markdown);

#endif
