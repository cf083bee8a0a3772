/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/hash.h"

uint64_t hash_factors[HASH_FACTORS];

__attribute__((constructor)) static void draw_factors(void)
{
    for (unsigned i = 0; i < HASH_FACTORS; i++)
        hash_factors[i] = (uint64_t)g_random_int() << 32 | g_random_int();
}

guint hash_number(gconstpointer key)
{
    guint number = GPOINTER_TO_UINT(key);
    return hash_bytes(&number, sizeof number);
}

guint hash_uint32(gconstpointer key)
{
    return hash_bytes(key, sizeof(uint32_t));
}

guint hash_uint64(gconstpointer key)
{
    return hash_bytes(key, sizeof(uint64_t));
}
