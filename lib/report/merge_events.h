/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in reports that are merged. Private to report/. */
#ifndef IPOIB_REPORT_MERGE_EVENTS_H
#define IPOIB_REPORT_MERGE_EVENTS_H

#include <jansson.h>

#include "analysis/event_table.h"

/* list: the member "events" of a capture. NULL: there is none, or an event is malformed or unknown.
 */
struct event_table *merge_events(const json_t *list);

#endif
