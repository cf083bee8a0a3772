/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of a capture: it reads each packet, what the model learnt from it, and the model,
 * and reports the events (analysis/event.h). ipoib-check and the plugin call it in the same way.
 */
#ifndef IPOIB_ANALYSIS_ANALYSIS_H
#define IPOIB_ANALYSIS_ANALYSIS_H

#include "analysis/event_table.h"
#include "model/observe.h"

struct analysis;

/* Callback: a new event, in the current frame; or an earlier one that is taken back. */
typedef void analysis_report(void *user, const struct link_event *e);

/* fabric: it must outlive the analysis. report NULL: only the table has the events. */
struct analysis *analysis_new(struct fabric *fabric, analysis_report *report, void *user);
void analysis_free(struct analysis *a);

/*
 * The next packet of the capture, after fabric_observe(). e: what the model learnt from it.
 */
void analysis_packet(struct analysis *a, const struct packet *p, const struct events *e);

/* The events so far. */
struct event_table *analysis_events(const struct analysis *a);
/* The events; the caller frees the table. The analysis starts a new one. */
struct event_table *analysis_take_events(struct analysis *a);

#endif
