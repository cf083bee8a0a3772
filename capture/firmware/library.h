/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mstflint's library, loaded into the helper process only. Its functions are declared here as far
 * as they are needed.
 */
#ifndef CAPTURE_FIRMWARE_LIBRARY_H
#define CAPTURE_FIRMWARE_LIBRARY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct mst_device; /* the library's own (mfile) */

struct mst_library {
    void *handle;
    struct mst_device *(*open)(const char *name); /* NULL with errno */
    int (*close)(struct mst_device *device);
    /* A register; return 4, the bytes that were read or written, or an error. */
    int (*read4)(struct mst_device *device, unsigned address, uint32_t *value);
    int (*write4)(struct mst_device *device, unsigned address, uint32_t value);
    /* Returns 0, or one of the library's error codes (status.h). */
    int (*command)(struct mst_device *device, int opcode, void *data, int size, int skip_write);
};

/*
 * Loads the library from PATH (NULL: from where packages of mstflint have it). The file and each
 * folder on the way to it must belong to root, and nobody else may be able to write to them.
 * Returns false and sets ERROR if that fails.
 */
bool mst_library_load(struct mst_library *library, const char *path, GError **error);

#endif
