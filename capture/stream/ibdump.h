/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vendor's ibdump as a child process that writes its capture to a pipe (--sniffer ibdump). */
#ifndef CAPTURE_IBDUMP_H
#define CAPTURE_IBDUMP_H

#include <glib.h>
#include <stdbool.h>

#include "capture/receive/selection.h"

struct ibdump_plan {
    const char *program; /* NULL: where packages have it */
    const char *device;
    unsigned port, log2_buffers;
    bool buffers_requested, jumbo;
    enum direction direction;
};

struct ibdump {
    int pid; /* 0: none */
    int fd;  /* the pipe from it; the caller closes it */
};

/*
 * Starts it, for root only, and only a program that only root can change. Returns false and sets
 * ERROR if that fails.
 */
bool ibdump_start(struct ibdump *ibdump, const struct ibdump_plan *plan, GError **error);

/* Asks it to end (SIGINT). */
void ibdump_stop(const struct ibdump *ibdump);

/*
 * Waits at most MS for its end, sends it SIGTERM if it does not end, and waits as long again.
 * Returns false and sets ERROR if it did not end well.
 */
bool ibdump_end(struct ibdump *ibdump, int ms, GError **error);

#endif
