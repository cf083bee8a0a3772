/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP receivers without room: they announce the window 0, and answer each probe of the sender with
 * the window 0 again (RFC 9293 section 3.8.6.1). An announcement is a segment without data that
 * acknowledges the same byte as the one before: only a segment of the sender brings it about. If
 * other bytes are acknowledged, the window was open, even if the capture lost what says so.
 */
#include "analysis/tcp.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"

enum { CLOSED = 1 << 5, ANSWERS = 3, LASTS_MS = 5000, PAUSE_MS = 130000 };

/* A cache. times 0: unused. */
struct zero_windows {
    struct closed_window {
        struct question_key key;
        bool by_first;
        uint32_t acknowledged, times, frame; /* of the first announcement */
        int64_t first_ms, last_ms;
    } all[CLOSED];
};

NEW_HISTORY(zero_windows, zero_windows_new)

static void report(const struct watch *w, const struct ip_datagram *d,
                   const struct closed_window *c)
{
    struct ip from = ip_sender(d), to = ip_receiver(d);
    struct sender who = sender_with_ip(sender_of(w->f, w->p), &from);
    uint16_t own = be16(d->body.p + TCP_PORTS), other = be16(d->body.p + TCP_TO);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_TCP_ZERO_WINDOW, from.bytes, to.bytes,
                                           MIN(own, other));
    watch_event(w, &key, &who, c->frame,
                "its TCP port %u has had no room (window 0) for data of %s, TCP port %u, since "
                "frame %u, for %.0f s, and answers %u window probes so: the program there does not "
                "read",
                own, ip_text(text, &to), other, c->frame, (double)(c->last_ms - c->first_ms) / 1000,
                c->times - 1);
}

/* A sender probes with a byte that the receiver may take. */
static bool goes_on(const struct watch *w, const struct closed_window *c, uint32_t acknowledged)
{
    return acknowledged - c->acknowledged <= c->times && watch_ms(w) - c->last_ms <= PAUSE_MS;
}

void watch_zero_window(const struct watch *w, const struct ip_datagram *d,
                       const struct question_key *key, bool by_first)
{
    struct closed_window *c = &w->zero_windows->all[question_key_place(key) & (CLOSED - 1)];
    bool known = c->times && c->by_first == by_first && question_key_same(&c->key, key);
    uint32_t acknowledged = be32(d->body.p + TCP_ACKNOWLEDGED);
    if (!tcp_has_zero_window(d->body.p)) {
        c->times = known ? 0 : c->times;
        return;
    }
    if (tcp_data(d) || watch_is_sent_again(w))
        return;
    if (!known || !goes_on(w, c, acknowledged))
        *c = (struct closed_window){*key,           by_first,    acknowledged, 0,
                                    w->p->at.frame, watch_ms(w), watch_ms(w)};
    c->times++;
    c->last_ms = watch_ms(w);
    if (c->times > ANSWERS && c->last_ms - c->first_ms >= LASTS_MS)
        report(w, d, c);
}
