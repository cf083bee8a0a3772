/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP segments that are sent again and again, and never acknowledged: the beginning of a connection
 * (SYN), or data, of which large segments are lost where a path has a smaller MTU.
 */
#include "analysis/tcp.h"

#include "rules/check_context.h"

enum { CONNECTIONS = 1 << 9, SENT = 4, OVER_MS = 1000, AGAIN_MS = 120000 };
/* The oldest segment of one direction that is not acknowledged. */
struct tcp_flow {
    uint32_t sequence, length;
    uint32_t first_frame, last_frame, sent;
    int64_t first_ms, last_ms;
    bool waits; /* there is such a segment */
};

/* A cache: one that is overwritten counts as not seen. */
struct tcp_connection {
    struct question_key key;
    struct tcp_flow flows[2];
};

struct tcp_flows {
    struct tcp_connection all[CONNECTIONS];
    bool had_zero_window; /* any of them */
};

NEW_HISTORY(tcp_flows, tcp_flows_new)

/* Of two ends, the one with the lower address is the first, or that with the lower port. */
static bool is_sent_by_first(const struct ip_datagram *d)
{
    int order = memcmp(d->from, ip_to(d), d->address_size);
    return order < 0 || (order == 0 && be16(d->body.p + TCP_PORTS) < be16(d->body.p + TCP_TO));
}

/* The same for both directions. */
static struct question_key key_of(const struct watch *w, const struct ip_datagram *d, bool by_first)
{
    uint32_t ports = be32(d->body.p + TCP_PORTS);
    struct question_key key = question_key(w, QUESTION_NONE, packet_link_key(w->p), NULL, NULL);
    memcpy(key.who, by_first ? d->from : ip_to(d), d->address_size);
    memcpy(key.about, by_first ? ip_to(d) : d->from, d->address_size);
    key.requester |= (uint64_t)(by_first ? ports : ports << 16 | ports >> 16) << 32;
    return key;
}

APART static void report(const struct watch *w, const struct ip_datagram *d,
                         const struct tcp_flow *f)
{
    struct ip from = ip_sender(d), to = ip_receiver(d);
    struct sender who = sender_with_ip(sender_of(w->f, w->p), &from);
    char target[SENDER_TEXT_SIZE], what[48];
    bool begins = d->body.p[TCP_FLAGS] & FLAG_SYN;
    const struct event_key key = event_key(w, EVENT_TCP_UNANSWERED, from.bytes, to.bytes,
                                           (uint64_t)begins << 16 | be16(d->body.p + TCP_TO));
    bool answers = begins && d->body.p[TCP_FLAGS] & FLAG_ACK;
    g_snprintf(what, sizeof what,
               answers  ? "answer to a request to connect (SYN, ACK)"
               : begins ? "request to connect (SYN)"
                        : "segment of %u bytes",
               f->length);
    watch_event(
        w, &key, &who, f->first_frame,
        "no answer of %s, TCP port %u, to its %s was captured: sent %u times since frame %u",
        ip_receiver_text(target, d), be16(d->body.p + TCP_TO), what, f->sent, f->first_frame);
}

APART static void unanswered(const struct watch *w, const struct ip_datagram *d,
                             const struct tcp_flow *f)
{
    const struct port to = port_lid(w->p->at.interface, w->p->ib.dlid);
    enum answer_seen seen = question_answer_of(w, to, PSN_DATA, f->first_frame, f->last_frame);
    if (seen == ANSWER_MAY_BE_LOST)
        return;
    w->sink->last = NULL;
    report(w, d, f);
    if (seen == ANSWER_SILENT)
        question_may_take_back(w, to, PSN_DATA, f->first_frame, NULL);
}

/* length: with the SYN, which counts as a byte */
static void sent(const struct watch *w, const struct ip_datagram *d, struct tcp_flow *f,
                 uint32_t length)
{
    uint32_t sequence = be32(d->body.p + TCP_SEQUENCE);
    int64_t ms = watch_ms(w);
    bool is_old = ms - f->last_ms > AGAIN_MS, is_later = (int32_t)(sequence - f->sequence) > 0;
    if (f->waits && is_later && !is_old)
        return;
    if (!f->waits || is_old || sequence != f->sequence)
        *f = (struct tcp_flow){sequence, length, w->p->at.frame, w->p->at.frame, 0, ms, ms, true};
    f->sent++;
    if (f->sent >= SENT && ms - f->first_ms >= OVER_MS && question_hears_sender(w))
        unanswered(w, d, f);
    f->last_ms = ms;
    f->last_frame = w->p->at.frame;
}

/* A receiver without room acknowledges the byte before, with the window 0 (RFC 9293 3.8.6.1). */
static void acknowledged(const uint8_t *tcp, struct tcp_flow *f)
{
    int32_t more = (int32_t)(be32(tcp + TCP_ACKNOWLEDGED) - f->sequence);
    if (tcp[TCP_FLAGS] & FLAG_RST || more > 0 || (more == 0 && !be16(tcp + TCP_WINDOW)))
        f->waits = false;
}

void watch_tcp(const struct watch *w, const struct ip_datagram *d)
{
    const uint8_t *tcp = d->body.p;
    if (view_has(d->body, 0, TCP_SIZE) != WIRE_OK)
        return;
    uint32_t length = tcp_data(d) + !!(tcp[TCP_FLAGS] & FLAG_SYN);
    bool by_first = is_sent_by_first(d), has_data = length && !(tcp[TCP_FLAGS] & FLAG_RST);
    const struct question_key key = key_of(w, d, by_first);
    w->tcp->had_zero_window |= tcp_has_zero_window(tcp);
    if (w->tcp->had_zero_window)
        watch_zero_window(w, d, &key, by_first);
    struct tcp_connection *c = &w->tcp->all[question_key_place(&key) & (CONNECTIONS - 1)];
    if (!question_key_same(&c->key, &key)) {
        if (!has_data)
            return;
        *c = (struct tcp_connection){.key = key};
    }
    if (tcp[TCP_FLAGS] & (FLAG_ACK | FLAG_RST))
        acknowledged(tcp, &c->flows[by_first]);
    if (has_data && !watch_is_sent_again(w))
        sent(w, d, &c->flows[!by_first], length);
}
