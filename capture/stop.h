/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ends a capture: a signal, or the writing thread that cannot write. It wakes the receiving
 * thread.
 */
#ifndef CAPTURE_STOP_H
#define CAPTURE_STOP_H

#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP end the capture from now on, in order. Returns false with errno. */
bool stop_catch_signals(void);

/* Ends the capture, from any thread. */
void stop_request(void);

bool stop_requested(void);

/*
 * The signal that ended it, 0: none did. How many came: a second one says that the user will not
 * wait.
 */
int stop_signal(void);
int stop_signals(void);

/* A file descriptor that can be read once stop_requested is true. */
int stop_fd(void);

#endif
