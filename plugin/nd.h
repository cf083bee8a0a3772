/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The link-layer address options of Neighbour Discovery. */
#ifndef IPOIB_PLUGIN_ND_H
#define IPOIB_PLUGIN_ND_H

void nd_register(void);
void nd_handoff(void);

#endif
