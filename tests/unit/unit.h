/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by every unit test: cmocka and the headers that it needs before it. */
#ifndef IPOIB_TESTS_UNIT_H
#define IPOIB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Writes the bytes that TEXT has in hexadecimal, with spaces anywhere; returns how many. */
static inline size_t from_hex(const char *text, uint8_t *bytes, size_t room)
{
    static const char digits[] = "0123456789abcdef";
    size_t digit = 0;

    for (; *text; text++) {
        const char *found = strchr(digits, *text);

        if (!found)
            continue;
        assert_true(digit / 2 < room);
        bytes[digit / 2] = (uint8_t)(bytes[digit / 2] << 4 | (found - digits));
        digit++;
    }
    return digit / 2;
}

#endif
