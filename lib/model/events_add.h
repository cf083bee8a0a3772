/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing to struct events; only for the files of model/. */
#ifndef IPOIB_MODEL_EVENTS_ADD_H
#define IPOIB_MODEL_EVENTS_ADD_H

#include "model/events.h"

/* Empty the list; called before each packet. */
void events_clear(struct events *e);
void events_add(struct events *e, const struct subnet_event *event);
/* Append a listener, zeroed. */
struct listener *events_add_listener(struct events *e);

#endif
