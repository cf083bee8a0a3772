/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks, for --list and --dry-run. */
#ifndef IPOIB_PROBE_LIST_H
#define IPOIB_PROBE_LIST_H

#include "probe/run/options.h"

/*
 * The selected checks: name, what is sent, what is expected, the rules; then the rules that no
 * check tells of, and why.
 */
GString *list_checks_text(const struct options *o);
GString *list_checks_json(const struct options *o, const char *version);

/* What would be sent to the targets. */
GString *list_dry_run(const struct options *o);

#endif
