/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Key of the address map of a shared capture, random or from a file. The file contains 32
 * hexadecimal digits and a line end. Whoever has the key can undo the mapping of addresses, so the
 * file is readable by its owner only.
 */
#ifndef CAPTURE_SHARE_KEY_H
#define CAPTURE_SHARE_KEY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHARE_KEY_SIZE = 16 }; /* bytes */

struct share_key {
    uint8_t bytes[SHARE_KEY_SIZE];
};

/* Makes a random key. Returns false and sets ERROR if that fails. */
bool share_key_random(struct share_key *key, GError **error);

/*
 * Reads the key from the file PATH. If there is no such file, creates it with a random key and mode
 * 0600, completely or not at all. Returns false and sets ERROR, also if other users can access the
 * file.
 */
bool share_key_load(struct share_key *key, const char *path, bool *created, GError **error);

#endif
