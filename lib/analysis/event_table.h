/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a capture, in the order of their first frames. */
#ifndef IPOIB_ANALYSIS_EVENT_TABLE_H
#define IPOIB_ANALYSIS_EVENT_TABLE_H

#include <glib.h>

#include "analysis/event.h"
#include "model/undone.h"

/* Limit of events with different causes; further ones are refused (model/undone.h). */
enum { EVENTS_MAX = 1 << 14 };

/*
 * Observations with equal keys are the same event. Unused bytes are 0. subnet: the subnet's number;
 * who, about: GIDs, MGIDs or IP addresses.
 */
struct event_key {
    uint32_t kind, subnet;
    uint64_t number;
    uint8_t who[16], about[16];
};

struct event_table;
struct event_table *event_table_new(struct undone *undone);
void event_table_free(struct event_table *t);

unsigned event_table_count(const struct event_table *t);
const struct link_event *event_table_at(const struct event_table *t, unsigned index);

/* The event with this key; NULL: there is none. */
struct link_event *event_table_find(struct event_table *t, const struct event_key *key);
/* The same event, to be changed. */
struct link_event *event_table_own(struct event_table *t, const struct link_event *e);
/* Frees the event. */
void event_table_remove(struct event_table *t, struct link_event *e);
/* Adds an event, all zero but for its kind; NULL: the table is full. */
struct link_event *event_table_add(struct event_table *t, const struct event_key *key);

#endif
