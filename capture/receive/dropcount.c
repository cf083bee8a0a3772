/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device counter of dropped frames. See dropcount.h. */
#include "capture/receive/dropcount.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_count(const struct dropcount *d, uint64_t *count)
{
    char text[32], *end;
    ssize_t len = pread(d->fd, text, sizeof(text) - 1, 0);

    if (len <= 0)
        return false;
    text[len] = '\0';
    *count = strtoull(text, &end, 10);
    return end != text;
}

bool dropcount_open(struct dropcount *d, const struct device *device)
{
    char path[sizeof(device->context->device->ibdev_path) + 64];

    snprintf(path, sizeof(path), "%s/ports/%u/hw_counters/out_of_buffer",
             device->context->device->ibdev_path, device->port);
    d->last = 0;
    d->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (d->fd >= 0 && !read_count(d, &d->last))
        dropcount_close(d);
    return d->fd >= 0;
}

void dropcount_close(struct dropcount *d)
{
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}

uint64_t dropcount_more(struct dropcount *d)
{
    uint64_t before = d->last;

    if (d->fd < 0 || !read_count(d, &d->last))
        return 0;
    return d->last > before ? d->last - before : 0; /* less: the counter was reset */
}
