/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/progress.h"

#include <glib.h>
#include <stdbool.h>

#include "cli/plain.h"
#include "cli/progress.h"
#include "pcapio/capfile.h"

/* FIRST_AFTER and THEN_EVERY are in microseconds */
enum { FRAMES_PER_CHECK = 1024, FIRST_AFTER = G_USEC_PER_SEC, THEN_EVERY = G_USEC_PER_SEC / 5 };

struct reading_progress {
    char *name;
    const struct capfile *file;
    gint64 next; /* time of the next display; 0: never */
    bool shown;
};

struct reading_progress *progress_new(const char *name, const struct capfile *file)
{
    struct reading_progress *p = g_new0(struct reading_progress, 1);
    p->name = plain_dup(name);
    p->file = file;
    if (progress_has_terminal())
        p->next = g_get_monotonic_time() + FIRST_AFTER;
    return p;
}

static void print_progress(struct reading_progress *p, uint32_t number)
{
    double done = capfile_progress(p->file);
    if (done < 0)
        progress_line("%s: %" G_GUINT32_FORMAT " frames", p->name, number);
    else
        progress_line("%s: %d %%", p->name, (int)(done * 100));
    p->shown = true;
}

void progress_frame(struct reading_progress *p, uint32_t number)
{
    if (p->next == 0 || number % FRAMES_PER_CHECK != 0)
        return;
    gint64 now = g_get_monotonic_time();
    if (now < p->next)
        return;
    print_progress(p, number);
    p->next = now + THEN_EVERY;
}

void progress_free(struct reading_progress *p)
{
    if (p->shown)
        progress_erase();
    g_free(p->name);
    g_free(p);
}
