/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the capture file, and keys of per-packet data. */
#ifndef IPOIB_PLUGIN_STATE_H
#define IPOIB_PLUGIN_STATE_H

#include "model/observe.h"
#include "plugin/frame.h"
#include "plugin/store.h"

struct fabric *state_fabric(void);
/* What the model knows of the capture file. */
const struct fabric_facts *state_facts(void);
/* What the model learnt from the packet that it observed last. */
struct events *state_events(void);
/* The connection with this number; NULL for 0. */
struct connection *state_connection(uint32_t number);

/*
 * The key of per-packet data of this frame. It differs for each nesting depth, so a frame and the
 * frame that carries it keep their own data.
 */
uint32_t frame_key(const struct frame *f, enum data_key key);

void state_register(void);

#endif
