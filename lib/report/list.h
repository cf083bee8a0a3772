/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of the rule table for ipoib-check --list. */
#ifndef IPOIB_REPORT_LIST_H
#define IPOIB_REPORT_LIST_H

#include "report/verdict.h"

/*
 * The selected rules, one per line: identifier, level, document and section, how a violation can be
 * observed, the sentence.
 */
GString *list_text(const struct rule_selection *selection);
GString *list_json(const struct rule_selection *selection, const char *tool, const char *version);

#endif
