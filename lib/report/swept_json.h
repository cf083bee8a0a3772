/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a sweep as JSON. Private to report/. */
#ifndef IPOIB_REPORT_SWEPT_JSON_H
#define IPOIB_REPORT_SWEPT_JSON_H

#include <jansson.h>

#include "report/swept.h"

/* Returns false if TEXT is no "status" of a host. */
bool swept_status_read(enum verdict_status *status, const char *text);
json_t *swept_json_hosts(const struct swept *s);
/* NULL: there is no baseline. */
json_t *swept_json_changes(const struct swept *s);

#endif
