/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptors that a child process does not inherit. */
#ifndef CAPTURE_DESCRIPTORS_H
#define CAPTURE_DESCRIPTORS_H

#include <spawn.h>

/*
 * Adds to FILES that the child closes every descriptor from FIRST on that is open now. This process
 * may have inherited some, without FD_CLOEXEC, from the one that started it.
 */
void descriptors_close(posix_spawn_file_actions_t *files, int first);

#endif
