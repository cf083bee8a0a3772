/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in reports (analysis/event.h). */
#ifndef IPOIB_REPORT_REPORT_EVENTS_H
#define IPOIB_REPORT_REPORT_EVENTS_H

#include <jansson.h>

#include "analysis/event_table.h"

/*
 * Adds the lines of events, at least one, on one screen (report/event_lines.h): "frame 20:
 * join_refused: LID 2: the SA refuses ... (4 times, last in frame 26)". where_all: what lists all
 * of them, if a line has several. Returns the kind of the first line.
 */
enum event_kind report_add_events(GString *out, const struct event_table *events,
                                  const char *indent, const char *where_all);

json_t *json_events(const struct event_table *events);

#endif
