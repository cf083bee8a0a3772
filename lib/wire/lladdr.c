/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/lladdr.h"

bool lladdr_is_zero(const uint8_t *p)
{
    static const uint8_t zero[LLADDR_SIZE];
    return memcmp(p, zero, LLADDR_SIZE) == 0;
}
