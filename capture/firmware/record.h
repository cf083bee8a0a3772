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
    uint64_t
        device; /* inode of the RDMA device's folder in sysfs: another one after a driver reload */
    uint32_t qpn;        /* 0: nothing is attached */
    bool sent, received; /* the directions that are attached, or may be */
};

enum { RECORD_PATH_SIZE = 100 };

/* The path of a port's record. */
void record_path(char path[RECORD_PATH_SIZE], const char *pci, unsigned port);

/*
 * Opens and locks the record of a port. FOUND->device is given; the rest becomes what an earlier
 * helper left attached since this machine was started and its driver was loaded. Returns the
 * descriptor, or -1 and sets ERROR; the lock ends with it.
 */
int record_open(const char *pci, unsigned port, struct attached *found, GError **error);

/* Writes the record; one that cannot be written stays as it was. Returns false and sets ERROR if
 * that fails. */
bool record_write(int fd, const struct attached *attached, GError **error);

#endif
