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

GPtrArray *hash_take(GHashTable *set, bool (*is_on)(const void *entry, uint16_t interface),
                     uint16_t interface)
{
    GPtrArray *taken = g_ptr_array_new();
    GHashTableIter i;
    gpointer entry;
    g_hash_table_iter_init(&i, set);
    while (g_hash_table_iter_next(&i, &entry, NULL))
        if (is_on(entry, interface)) {
            g_ptr_array_add(taken, entry);
            g_hash_table_iter_steal(&i);
        }
    return taken;
}

guint hash_gid(gconstpointer key)
{
    enum { GID_BYTES = 16 };
    return hash_bytes(key, GID_BYTES);
}

/* The hash of each part of the text is in front of the next part. */
guint hash_string(gconstpointer key)
{
    guint8 chunk[HASH_OCTETS_MAX] = {0};
    guint before = 0;
    const char *text = key;
    size_t left = strlen(text), n;
    do {
        n = MIN(left, sizeof chunk - sizeof before);
        memcpy(chunk, &before, sizeof before);
        memcpy(chunk + sizeof before, text, n);
        before = hash_bytes(chunk, sizeof before + n);
        text += n;
        left -= n;
    } while (left > 0);
    return before;
}
