/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The P_Key table of a port. See pkeys.h. */
#include "hca/pkeys.h"

#include <glib.h>

#include "wire/pkey.h"

bool pkeys_find(const uint16_t *table, unsigned n, uint16_t wanted, unsigned *index)
{
    bool found = false;

    for (unsigned i = 0; i < n; i++) {
        if (!is_partition(table[i]) || (wanted && !same_partition(table[i], wanted)))
            continue;
        if (!found || (table[i] & PKEY_MEMBERSHIP))
            *index = i;
        found = true;
        wanted = table[i];
        if (table[i] & PKEY_MEMBERSHIP)
            break;
    }
    return found;
}

char *pkeys_text(const uint16_t *table, unsigned n)
{
    GString *text = g_string_new(NULL);

    for (unsigned i = 0; i < n; i++)
        if (table[i])
            g_string_append_printf(text, " 0x%04x", table[i]);
    return g_string_free(text->len ? text : g_string_assign(text, ": none"), FALSE);
}
