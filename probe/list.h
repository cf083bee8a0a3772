/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of checks for --list, and of packets for --dry-run. */
#ifndef IPOIB_PROBE_LIST_H
#define IPOIB_PROBE_LIST_H

#include "probe/run/options.h"

/*
 * The selected checks: name, what the probe sends, what it expects, the rules. Then the selected
 * rules without a check of their own.
 */
GString *list_checks_text(const struct options *o);
GString *list_checks_json(const struct options *o, const char *version);

/* Appends to the page of the rule how the probe checks it; nothing if it does not. */
void list_how(GString *out, const char *id);

/* Describes what the probe would send to the targets. */
GString *list_dry_run(const struct options *o);

#endif
