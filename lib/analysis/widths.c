/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links that work with one lane, although four are enabled (PortInfo, IBA 14.2.5.6). A port of
 * InfiniBand has four lanes or more, except a narrow one that says so: it has no four enabled. Of
 * the other widths, those of both ends would have to be known: a port may offer twelve lanes to one
 * that has four, and a port of HDR works with two.
 */
#include "analysis/smps.h"

enum { WIDTH_ENABLED = 29, WIDTH_SUPPORTED = 30, WIDTH_ACTIVE = 31 };
enum { WIDTH_1X = 1, WIDTH_4X = 2, LOCAL_PORT = PORT_INFO_LOCAL_PORT };

static void report(const struct watch *w, struct port at, uint8_t port)
{
    const struct question_key target = smp_key(w, at);
    struct sender who = smp_target(w, &target);
    const struct event_key key = event_key(w, EVENT_LINK_DEGRADED, NULL, target.about, port);
    GString *text = g_string_new(NULL);
    smp_append_target(text, &target);
    watch_event(w, &key, &who, 0,
                "the port %u at %s works with the width 1X, although it has 4X enabled: a lane is "
                "broken, or the other end has no more",
                port, text->str);
    g_string_free(text, TRUE);
}

void watch_width(const struct watch *w, struct port port, const struct port_info *i)
{
    const struct smp *s = &w->p->mad.smp;
    if (s->mad.method != SMP_GET_RESP || !smp_says(s) || i->state < PORT_INIT)
        return;
    const uint8_t *p = s->data.p;
    if (p[WIDTH_ACTIVE] == WIDTH_1X && p[WIDTH_SUPPORTED] & p[WIDTH_ENABLED] & WIDTH_4X)
        report(w, port, i->port ? i->port : p[LOCAL_PORT]);
}
