/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ends a capture on a signal, or when the writing thread cannot write, and wakes the receiving
 * thread.
 */
#ifndef CAPTURE_STOP_H
#define CAPTURE_STOP_H

#include <stdbool.h>

/*
 * From now on, SIGINT, SIGTERM and SIGHUP end the capture in an orderly way; SIGHUP stays ignored
 * if it was (nohup). Returns false with errno.
 */
bool stop_catch_signals(void);

/*
 * While MESSAGE is set, a signal prints it and ends the program at once, with exit status 128 plus
 * its number: in a read that a signal does not interrupt. NULL: no longer.
 */
void stop_at_once(const char *message);

/* Ends the capture; may be called from any thread. */
void stop_request(void);

/* Whether the capture is to end. */
bool stop_requested(void);

/*
 * stop_signal: the last signal received, 0 if none. stop_signals: number of signals received; a
 * second one means that the user does not want to wait.
 */
int stop_signal(void);
int stop_signals(void);

/* File descriptor that becomes readable when stop_requested is true. */
int stop_fd(void);

#endif
