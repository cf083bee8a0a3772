/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel requires a buffer for the whole MAD. This buffer has addresses for all of it but
 * little memory: all windows after the first map the same memory, which the kernel overwrites
 * repeatedly.
 */
#include "hca/drain.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/umad.h>

enum { WINDOW = 1 << 22 };

/*
 * Maps SIZE bytes (whole windows). The first window has its own memory, because libibumad reads it
 * afterwards. Returns NULL with errno if the mapping fails.
 */
static uint8_t *map_windows(int memory, size_t size)
{
    uint8_t *all = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    for (size_t at = WINDOW; at < size; at += WINDOW)
        if (mmap(all + at, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory, 0) ==
            MAP_FAILED) {
            munmap(all, size);
            return NULL;
        }
    return all;
}

bool drain_mad(int fd, int length)
{
    size_t needed = umad_size() + (size_t)length, size = (needed + WINDOW - 1) / WINDOW * WINDOW;
    int memory = memfd_create("drain", MFD_CLOEXEC);
    uint8_t *all = memory < 0 || ftruncate(memory, WINDOW) != 0 ? NULL : map_windows(memory, size);
    bool drained = all && umad_recv(fd, all, &length, 0) >= 0;
    if (all)
        munmap(all, size);
    if (memory >= 0)
        close(memory);
    return drained;
}
