/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in reports (analysis/event.h). Private to report/. */
#ifndef IPOIB_REPORT_REPORT_EVENTS_H
#define IPOIB_REPORT_REPORT_EVENTS_H

#include <jansson.h>

#include "analysis/event_table.h"

json_t *json_events(const struct event_table *events);

#endif
