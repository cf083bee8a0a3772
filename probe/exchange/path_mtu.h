/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MTU of the links on the path to the peer, for an advice. */
#ifndef IPOIB_PROBE_PATH_MTU_H
#define IPOIB_PROBE_PATH_MTU_H

#include "probe/run/target.h"

/*
 * A command that shows the MTU of each link to the peer, by the port that packets leave by. If the
 * forwarding tables cannot be read, commands that show these ports first. Free with g_free().
 */
char *path_mtu_command(struct target *t);

#endif
