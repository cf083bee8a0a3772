/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that do no harm in any report or terminal. */
#ifndef IPOIB_CLI_PLAIN_H
#define IPOIB_CLI_PLAIN_H

#include <stddef.h>

/*
 * Writes text into the buffer of size octets (at least 8) as valid UTF-8 without anything that is
 * not a visible character or a space: other octets become \xNN, other characters \u{N} (control
 * characters, marks that turn the direction of writing, what no XML may hold). A text that does not
 * fit ends in "...". Returns the buffer.
 */
char *plain_text(const char *text, char *out, size_t size);

/*
 * The text itself if it is visible ASCII that fits into size octets, as nearly all are; else as
 * plain_text() writes it into the buffer.
 */
const char *plain_short(const char *text, char *buffer, size_t size);

/* As plain_text(), of any length; to be freed with g_free(). */
char *plain_dup(const char *text);

#endif
