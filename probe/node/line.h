/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target node in one line. */
#ifndef IPOIB_PROBE_NODE_LINE_H
#define IPOIB_PROBE_NODE_LINE_H

#include <glib.h>

struct node_run;

/*
 * "ok: ib0 0xffff mtu 2044, ib1 0x8001 mtu 4092", or "fault: ib0 0xffff: CAUSE; COMMAND". With a
 * line end.
 */
GString *node_line(const struct node_run *n);

#endif
