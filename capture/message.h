/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program tells its user, on stderr. */
#ifndef CAPTURE_MESSAGE_H
#define CAPTURE_MESSAGE_H

/* Writes "ipoib-capture: ", the message and a line end to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
