/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record of the sniffer that a helper attached: a file in /run/ipoib-capture for each port, locked
 * as long as the helper runs. If the helper was killed, the next one finds the record and a free
 * lock, and detaches that queue pair. A sniffer without a record is somebody else's.
 */
#ifndef CAPTURE_FIRMWARE_RECORD_H
#define CAPTURE_FIRMWARE_RECORD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct attached {
    uint32_t qpn; /* 0: nothing is attached */
    bool sent, received;
};

/*
 * Opens and locks the record of a port. FOUND: what an earlier helper left attached since this
 * machine was started. Returns the descriptor, or -1 and sets ERROR; the lock ends with it.
 */
int record_open(const char *pci, unsigned port, struct attached *found, GError **error);

/* Writes the record. Returns false and sets ERROR if that fails. */
bool record_write(int fd, const struct attached *attached, GError **error);

#endif
