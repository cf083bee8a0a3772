/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture, from its options to its exit status. */
#ifndef CAPTURE_LIVE_H
#define CAPTURE_LIVE_H

#include "capture/live_options.h"

/*
 * Runs the program without a subcommand: a capture or --list. Returns the exit status: 0, 1 or 2.
 */
int live_main(int argc, char **argv);

/*
 * Captures until the end. Returns the exit status: 0, or 1 after a message (an error, or frames
 * were lost).
 */
int live_run(const struct live_options *options);

#endif
