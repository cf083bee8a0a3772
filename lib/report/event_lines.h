/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of events in the text report, on one screen. Private to report/ and check/. */
#ifndef IPOIB_REPORT_EVENT_LINES_H
#define IPOIB_REPORT_EVENT_LINES_H

#include "analysis/event_table.h"

/* Lines of events in the text report, unless the user wants all. */
enum { EVENT_LINES = 20 };

/* An event, or several of one kind. */
struct event_line {
    const struct link_event *first;
    unsigned events;
    unsigned ports; /* to which they happened */
    uint32_t last_frame;
};

/* Up to EVENT_LINES lines (struct event_line): first causes, then what follows from them. */
GArray *event_lines(const struct event_table *events);

#endif
