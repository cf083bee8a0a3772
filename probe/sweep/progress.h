/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the progress of a sweep on a terminal. */
#ifndef IPOIB_PROBE_PROGRESS_H
#define IPOIB_PROBE_PROGRESS_H

struct sweep;

void sweep_show(struct sweep *s);
/* Removes the progress line before other output to the terminal. */
void sweep_hide(void);
enum { SHOW_AFTER_US = 500000 };

#endif
