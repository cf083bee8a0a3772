/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses numbers of a command line. See numbers.h. */
#include "cli/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses the number at the start of TEXT; REST points after it. */
static bool begin_number(const char *text, uint64_t *out, char **rest)
{
    if (!isdigit((unsigned char)text[0])) /* strtoull would accept a sign and spaces */
        return false;
    errno = 0;
    *out = strtoull(text, rest, 0);
    return errno == 0 && *rest != text;
}

bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    char *rest;

    return begin_number(text, out, &rest) && *rest == '\0' && *out >= min && *out <= max;
}

bool parse_pkey(const char *text, uint64_t *out)
{
    return parse_number(text, 1, 0xffff, out) && (*out & 0x7fff) != 0;
}

bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    static const char units[] = "kmg";
    const char *unit;
    char *rest;
    int shift;

    if (!begin_number(text, out, &rest))
        return false;
    if (*rest != '\0') {
        unit = strchr(units, tolower((unsigned char)*rest));
        if (!unit || rest[1] != '\0')
            return false;
        shift = 10 * (int)(unit - units + 1);
        if (*out > UINT64_MAX >> shift)
            return false;
        *out <<= shift;
    }
    return *out >= min && *out <= max;
}

bool parse_seconds(const char *text, uint64_t *out)
{
    uint64_t unit = 100000000;
    const char *at = text;

    for (*out = 0; isdigit((unsigned char)*at); at++) {
        *out = *out * 10 + (uint64_t)(*at - '0');
        if (*out > 1000000000) /* about 30 years */
            return false;
    }
    *out *= 1000000000;
    if (at == text)
        return false;
    if (*at == '.')
        for (at++; isdigit((unsigned char)*at); at++, unit /= 10)
            *out += (uint64_t)(*at - '0') * unit;
    return *at == '\0' && *out > 0;
}
