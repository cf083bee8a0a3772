/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Assertions of the fuzz harnesses: print the condition and abort if it is false. */
#ifndef IPOIB_FUZZ_MUST_H
#define IPOIB_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(holds) must_say(holds, "")
#define must_say(holds, of)                                                                        \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s %s\n", __FILE__, __LINE__, #holds, of);      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
