/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command line of "convert". */
#ifndef CAPTURE_CONVERT_OPTIONS_H
#define CAPTURE_CONVERT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/option_table.h"
#include "pcapio/output.h"

struct convert_options {
    const char *in, *out;     /* file names, or "-" */
    enum container container; /* container of the output */
    uint32_t linktype; /* link type of the output; 0: ERF if the input is 247 or share is set, else
                          247 */
    bool share;        /* --share: clear the payload, map the addresses */
    const char *share_key; /* file with the key of the mapping; NULL: a random key */
};

/*
 * Returns -1 if OPTIONS are filled in, otherwise the exit status: 0 after -h (1 if standard output
 * cannot be written), 2 after a message about wrong usage.
 */
int convert_parse_options(int argc, char **argv, struct convert_options *options);

extern const struct cli_program convert_program;

#endif
