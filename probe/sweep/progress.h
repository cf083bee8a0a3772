/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress of a sweep, on a terminal. */
#ifndef IPOIB_PROBE_PROGRESS_H
#define IPOIB_PROBE_PROGRESS_H

struct sweep;

void sweep_show(struct sweep *s);
/* Takes progress off the terminal, before something else is written there. */
void sweep_hide(void);
enum { SHOW_AFTER_US = 500000 };

#endif
