/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The protocol "ipoib", and what every dissector of the plugin needs. */
#ifndef IPOIB_PLUGIN_PROTOCOL_H
#define IPOIB_PLUGIN_PROTOCOL_H

#include "plugin/compat.h"

#include <epan/packet.h>

#include "wire/names.h"
#include "wire/view.h"

/*
 * The built-in protocol "ipoib" (Wireshark's own dissector of DLT 242). The plugin adds its fields
 * under this filter name.
 */
extern int proto_ipoib;

/* VALS() for a table of wire/, which has the layout of value_string. */
#define VALS_OF(table) (table)
_Static_assert(sizeof(struct name) == sizeof(value_string),
               "struct name is not laid out as value_string");
_Static_assert(offsetof(struct name, name) == offsetof(value_string, strptr), "as above");

/*
 * Is the protocol "ipoib" enabled? If not, the plugin does nothing, with two exceptions: link type
 * 247 is still dissected as InfiniBand, and the built-in heuristic stays disabled (payload.c).
 */
bool plugin_enabled(void);

/* "the protocol ... is disabled", if that explains why no IPoIB was seen; else NULL. */
const char *disabled_protocol(void);

/* The captured bytes of a tvb. Reading them never throws. */
struct view tvb_view(tvbuff_t *tvb);

#endif
