/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the observer fills its events; for the files of model/ only. */
#ifndef IPOIB_MODEL_EVENTS_ADD_H
#define IPOIB_MODEL_EVENTS_ADD_H

#include "model/events.h"

/* Before each packet. */
void events_clear(struct events *e);
void events_add(struct events *e, const struct subnet_event *event);
/* The next listener, zeroed. */
struct listener *events_add_listener(struct events *e);

#endif
