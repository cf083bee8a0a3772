/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events in the probe's file, as comments. See logevents.h. */
#include "probe/link/logevents.h"

#include <string.h>

#include "analysis/analysis.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"
#include "rules/checker.h"

enum { COMMENT_LIMIT = 2000 }; /* bytes of a comment; texts of events are shorter */

struct logevents {
    struct fabric *fabric;
    struct checker *checker;
    struct analysis *analysis;
    GByteArray *options;
};

static void add_comment(void *user, const struct link_event *event)
{
    struct logevents *e = user;
    uint8_t option[OPTION_HEAD + COMMENT_LIMIT + 4];
    char *text = event_comment(event);
    const uint8_t *end = pcapng_put_comment(option, text, COMMENT_LIMIT);
    g_byte_array_append(e->options, option, (guint)(end - option));
    g_free(text);
}

static void analyse_packet(void *user, const struct packet *p, const struct events *e)
{
    analysis_packet(user, p, e);
}

/* The frames' results are reported elsewhere (wirelog.h), for the entity under test only. */
static void ignore_finding(void *user, uint32_t frame, const struct finding *f)
{
    (void)user;
    (void)frame;
    (void)f;
}

struct logevents *logevents_new(void)
{
    struct logevents *e = g_new0(struct logevents, 1);
    e->options = g_byte_array_new();
    e->fabric = fabric_new();
    fabric_take_interfaces(e->fabric, INTERFACES_ONE);
    e->analysis = analysis_new(e->fabric, add_comment, e);
    e->checker = checker_new(e->fabric, NULL, ignore_finding, NULL);
    checker_mute(e->checker, true);
    checker_watch_packets(e->checker, analyse_packet, e->analysis);
    return e;
}

void logevents_free(struct logevents *e)
{
    if (!e)
        return;
    checker_free(e->checker);
    analysis_free(e->analysis);
    fabric_free(e->fabric);
    g_byte_array_unref(e->options);
    g_free(e);
}

const GByteArray *logevents_frame(struct logevents *e, const struct capture_frame *frame)
{
    g_byte_array_set_size(e->options, 0);
    checker_frame(e->checker, frame);
    return e->options;
}
