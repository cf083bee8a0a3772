/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does this host's kernel send to where the peer is? */
#ifndef IPOIB_PROBE_PING_PATH_H
#define IPOIB_PROBE_PING_PATH_H

#include "probe/link/hostseen.h"
#include "probe/run/target.h"

enum ping_path { PATH_UNKNOWN, PATH_RIGHT, PATH_OLD };

/* What the kernel says of its path to the peer, which replies. */
enum ping_path ping_path_look(const struct target *t, const char *interface);
/*
 * The kernel's ping is not answered. Reports the stage and returns true if its path is old, or, of
 * an unknown one (path), if the peer reacts to the probe's ping from the kernel's own address.
 * seen: what passed the interface during the kernel's ping; NULL: not known.
 */
bool ping_path_report(struct target *t, const char *stage, const char *interface,
                      enum ping_path path, const struct host_seen *seen);

#endif
