/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of "convert". */
#ifndef CAPTURE_CONVERT_OPTIONS_H
#define CAPTURE_CONVERT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "pcapio/output.h"

struct convert_options {
    const char *in, *out;     /* file names, or "-" */
    enum container container; /* of the output */
    uint32_t linktype;        /* of the output; 0: the other one than the input's */
    bool share;               /* without payload, with other addresses; ERF if linktype is 0 */
};

/*
 * Returns -1 if OPTIONS are filled in, or the exit status: 0 after -h, 2 after a message on a wrong
 * usage.
 */
int convert_parse_options(int argc, char **argv, struct convert_options *options);

#endif
