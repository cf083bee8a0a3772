/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Input files. See inputs.h. */
#include "cli/inputs.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>

struct kept_input {
    char *path;
    int fd;
};

static GQueue kept =
    G_QUEUE_INIT; /* in the order of the command line: mostly the first is wanted */

void inputs_keep(const char *path, int fd)
{
    struct kept_input *k = g_new(struct kept_input, 1);

    *k = (struct kept_input){g_strdup(path), fd};
    g_queue_push_tail(&kept, k);
}

/* Removes LINK from the list. Returns its descriptor. */
static int take(GList *link)
{
    struct kept_input *k = link->data;
    int fd = k->fd;

    g_queue_delete_link(&kept, link);
    g_free(k->path);
    g_free(k);
    return fd;
}

int inputs_open(const char *path)
{
    for (GList *link = kept.head; link; link = link->next)
        if (strcmp(((struct kept_input *)link->data)->path, path) == 0)
            return take(link);
    return open(path, O_RDONLY | O_CLOEXEC);
}
