/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a live capture: forms, explanations, values. */
#ifndef CAPTURE_LIVE_TABLE_H
#define CAPTURE_LIVE_TABLE_H

#include "cli/option_table.h"

/* Groups of options: of --list, -p and -b. */
enum { OF_LIST = 1, OF_WRITER = 2, OF_BUFFERS = 4 };

/* It reads into a struct live_options. */
extern const struct cli_program live_program;

#endif
