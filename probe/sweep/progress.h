/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the progress of a sweep on a terminal. */
#ifndef IPOIB_PROBE_PROGRESS_H
#define IPOIB_PROBE_PROGRESS_H

struct sweep;

/* Shows it at most five times a second; progress_erase() removes it. */
void sweep_show(struct sweep *s);
enum { SHOW_AFTER_US = 500000 };

#endif
