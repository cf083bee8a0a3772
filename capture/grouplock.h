/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several captures on one port are one member to the subnet administrator: the last of them leaves
 * a group. Each holds a shared lock for it, an octet of a file that stands for the group. Without
 * that file each capture is for itself. The file is one user's: captures of another user are
 * another member.
 */
#ifndef CAPTURE_GROUPLOCK_H
#define CAPTURE_GROUPLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the file, or -1 after a message. */
int grouplock_open(void);

/* From before it is joined until it is left. */
void grouplock_take(int fd, const char *device, unsigned port, const uint8_t *mgid);

/*
 * Whether this was the last one, who is to leave the group, and to call grouplock_end thereafter.
 */
bool grouplock_is_last(int fd, const char *device, unsigned port, const uint8_t *mgid);
void grouplock_end(int fd, const char *device, unsigned port, const uint8_t *mgid);

#endif
