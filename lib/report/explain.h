/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --explain RULE: prints the page of a rule or event (doc/rules, doc/events) as text for a
 * terminal. */
#ifndef IPOIB_REPORT_EXPLAIN_H
#define IPOIB_REPORT_EXPLAIN_H

#include <glib.h>
#include <stdbool.h>

/* A page of doc/rules or doc/events, in Markdown. The table is generated at build time. */
struct rule_page {
    const char *id; /* "rfc4391.6.type", "join_refused" */
    const char *text;
};
extern const struct rule_page rule_pages[];
extern const unsigned rule_pages_number;

/*
 * Appends the page of the rule or event NAME: an identifier, or a prefix that only one has. Returns
 * false and sets ERROR if none or several begin with NAME.
 */
bool explain_rule(GString *out, const char *name, GError **error);

/* Appends a Markdown page as text of at most 79 columns. Filters and commands are not wrapped. */
void explain_page(GString *out, const char *markdown);

#endif
