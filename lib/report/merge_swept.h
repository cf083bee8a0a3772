/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts of a sweep in reports that are merged. Private to report/. */
#ifndef IPOIB_REPORT_MERGE_SWEPT_H
#define IPOIB_REPORT_MERGE_SWEPT_H

#include <jansson.h>

#include "report/swept.h"

/*
 * entry: a target with the members "hosts" and "baseline" of report/swept_json.h. NULL: one of them
 * is malformed.
 */
struct swept *merge_swept(const json_t *entry);

#endif
