/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/names.h"

const char *names_find(const struct name *table, uint32_t value)
{
    for (; table->name; table++)
        if (table->value == value)
            return table->name;
    return NULL;
}
