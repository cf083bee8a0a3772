/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in reports (analysis/event.h). */
#ifndef IPOIB_REPORT_REPORT_EVENTS_H
#define IPOIB_REPORT_REPORT_EVENTS_H

#include <jansson.h>

#include "analysis/event_table.h"

/* Lines of events in the text report, unless the user wants all. */
enum { EVENTS_SHOWN = 20 };

/* "  frame 20: join_refused: LID 2: the SA refuses ... (4 times, last in frame 26)" and a line end.
 */
void add_event_line(GString *out, const struct link_event *e);

json_t *json_events(const struct event_table *events);

#endif
