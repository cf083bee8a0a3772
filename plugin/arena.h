/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for bytes that are kept until the file is closed: those of complete messages. */
#ifndef IPOIB_PLUGIN_ARENA_H
#define IPOIB_PLUGIN_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* n: at most ARENA_MAX. Not aligned, and not set to 0. */
enum { ARENA_MAX = 1 << 17 };
uint8_t *arena_alloc(size_t n);
void arena_forget(void);

#endif
