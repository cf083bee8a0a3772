/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes texts safe for reports and terminals. */
#ifndef IPOIB_CLI_PLAIN_H
#define IPOIB_CLI_PLAIN_H

#include <stddef.h>

/*
 * Writes TEXT into OUT (SIZE bytes, at least 8) as valid UTF-8 of visible characters and spaces
 * only. Other bytes become \xNN; other characters (control characters, bidirectional marks,
 * characters not allowed in XML) become \u{N}, below U+0100 \xNN. A text that does not fit ends in
 * "...". Returns OUT.
 */
char *plain_text(const char *text, char *out, size_t size);

/*
 * Returns TEXT itself if it is visible ASCII shorter than SIZE bytes, which is the usual case;
 * otherwise calls plain_text() with BUFFER.
 */
const char *plain_short(const char *text, char *buffer, size_t size);

/* Like plain_text(), of any length; free with g_free(). */
char *plain_dup(const char *text);

#endif
