/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges: what opening the devices needs is given back when they are open. */
#ifndef IPOIB_PROBE_PRIVILEGES_H
#define IPOIB_PROBE_PRIVILEGES_H

#include <stdbool.h>

/* files: a report is still to be written, perhaps where the file's rights alone would not allow it. */
void privileges_drop(bool files);

#endif
