/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the analysis in the first pass (analysis/analysis.h), and shows its events in each pass. */
#ifndef IPOIB_PLUGIN_EVENTS_H
#define IPOIB_PLUGIN_EVENTS_H

#include <epan/packet.h>

#include "model/observe.h"

/* First pass only: analyses the packet after the model has observed it. */
void events_observe(const struct packet *p, const struct events *e);
/* The events of the file, up to the current frame; NULL: the protocol is disabled. */
struct event_table *events_of_file(void);
/* Shows the events of the frame as a tree with expert items. */
void events_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree);
void events_register(void);

#endif
