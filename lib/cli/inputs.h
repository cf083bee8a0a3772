/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Input files, also those that were opened before the capabilities were dropped. */
#ifndef IPOIB_CLI_INPUTS_H
#define IPOIB_CLI_INPUTS_H

/* Keeps the open file FD for the next call of inputs_open() with this PATH. */
void inputs_keep(const char *path, int fd);

/* Opens PATH for reading. Returns the descriptor, or -1 with errno. */
int inputs_open(const char *path);

#endif
