/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registration: receives the frames of every link type. */
#ifndef IPOIB_PLUGIN_ENTRY_H
#define IPOIB_PLUGIN_ENTRY_H

void entry_register(void);
void entry_handoff(void);

#endif
