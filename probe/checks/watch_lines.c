/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a watched peer: a request that has ended, or an event. */
#include "probe/checks/watch_parts.h"
#include "report/wrap.h"

unsigned watch_events(const struct peer_watch *w)
{
    const unsigned *n = w->w.changes;
    return n[CHANGE_SILENT] + n[CHANGE_MOVED] + n[CHANGE_SECOND_PORT] + n[CHANGE_OWN_PORT] +
           n[CHANGE_OWN_INTERFACE] + n[CHANGE_COUNTERS];
}

static char *time_text(void)
{
    GDateTime *now = g_date_time_new_now_local();
    char *text = g_date_time_format(now, "%F %T");
    g_date_time_unref(now);
    return text;
}

static bool is_of_this_host(const struct watch_line *l)
{
    return l->kind == WATCH_CHANGE &&
           (l->change == CHANGE_OWN_PORT || l->change == CHANGE_OWN_INTERFACE ||
            l->change == CHANGE_COUNTERS);
}

/* A link-layer address, which is never broken, has 60 columns with its comma. */
enum { INDENT = 4 };

/* The events of this host do not begin with the name of the peer. */
static char *line_text(const struct peer_watch *w, const struct watch_line *l)
{
    char *time = time_text(), *text = is_of_this_host(l)
                                          ? g_strdup(l->text)
                                          : g_strdup_printf("%s: %s", w->t->name, l->text);
    GString *line = g_string_new(NULL);
    g_string_printf(line, "%s %s", time, l->kind == WATCH_CHANGE ? " EVENT " : "");
    wrap_words(line, text, line->len, INDENT);
    g_string_truncate(line, line->len - 1); /* the newline */
    g_free(text);
    g_free(time);
    return g_string_free(line, FALSE);
}

void watch_say(const struct peer_watch *w, const struct watch_line *l)
{
    const struct run *r = w->t->run;
    if (r->show)
        r->show(r->say_to, l);
    if (!r->say)
        return;
    char *line = line_text(w, l);
    r->say(r->say_to, line);
    g_free(line);
}

void watch_say_change(struct peer_watch *w, enum watch_change change, const char *text)
{
    w->w.changes[change]++;
    watch_say(w, &(struct watch_line){&w->w, WATCH_CHANGE, change, 0, text});
}

void watch_note_event(struct peer_watch *w, enum watch_change change, char *text)
{
    char *time = time_text(), *kept = wrap_cut(text, EVENT_SIZE - sizeof "2026-11-29 03:00:01 ");
    /* of counters that grow again and again, the last time is enough */
    if (!w->kept || change != CHANGE_COUNTERS || w->last_kept != CHANGE_COUNTERS)
        w->kept++;
    w->last_kept = change;
    g_snprintf(w->recent[(w->kept - 1) % KEPT_EVENTS], EVENT_SIZE, "%s %s", time, kept);
    watch_say_change(w, change, text);
    g_free(kept);
    g_free(time);
    g_free(text);
}
