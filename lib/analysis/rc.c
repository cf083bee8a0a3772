/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets that are sent again on reliable connections, and receivers without a receive buffer
 * (IBA 9.7.5.2.8: NAK "PSN sequence error", RNR NAK).
 *
 * A capture may have a packet twice although it was sent once: a tap, or a second capture point. A
 * packet is sent again if a NAK asked for it, or if it comes a third time, or if it comes again at
 * the same capture interface before it was acknowledged; each time long after the copy before. A
 * packet that is sent again after an RNR NAK belongs to that event.
 */
#include "analysis/ends.h"
#include "model/integrity.h"

enum { FLOWS = 1 << 10, RECENT = 64 };
enum { SYNDROME_ACK = 0, SYNDROME_RNR = 1, SYNDROME_NAK = 3, NAK_SEQUENCE = 0 };
enum { THIRD_TIME = 3, COPY_MS = 10 };

struct sent {
    int64_t ns;                  /* of the last time */
    uint32_t frame;              /* the same */
    uint32_t mark;               /* PSN and SENT; 0: unused */
    uint16_t captured_on, times; /* times: without copies */
    bool asks;                   /* for an acknowledgement */
    bool again;                  /* a packet with the PSN came before */
};
enum { SENT = 1 << 24 };

/* The last acknowledgement or NAK, with its PSN. frame 0: none. */
struct answer {
    uint32_t frame, psn;
};

/*
 * The last acknowledgement. Its CRCs are computed only if a packet is repeated, or if it is not in
 * order: most captures have no such packet. size 0: none.
 */
enum { HELD_SIZE = 32, HALF = HELD_SIZE / 2 }; /* an acknowledgement without a GRH has 30 bytes */
struct held_answer {
    struct answer answer;
    struct crcs_count crcs_count;
    uint8_t size;
    uint8_t bytes[HELD_SIZE];
};

/* The data to one side of a connection. The table is a cache, by the connection's number. */
struct rc_flow {
    uint32_t connection; /* 0: unused */
    struct answer acknowledged, lost, not_ready;
    struct answer late;        /* the last packet that came after one with a later PSN */
    struct held_answer held;   /* after acknowledged */
    uint32_t slow, slow_frame; /* late acknowledgements in a row; the first packet */
    struct sent recent[RECENT];
};

struct rc_flows {
    struct rc_flow all[2 * FLOWS]; /* to the responder, to the requester */
};

NEW_HISTORY(rc_flows, rc_flows_new)

/* The flow of the packet's connection; or that of another one, whose place it has. */
static struct rc_flow *place_of(const struct watch *w, bool to_requester)
{
    size_t number = w->p->classification.connection->number;
    return &w->rc->all[number % FLOWS * 2 + to_requester];
}

static bool is_of(const struct rc_flow *f, const struct watch *w)
{
    return f->connection == w->p->classification.connection->number;
}

static void begin_flow(const struct watch *w, struct rc_flow *f)
{
    memset(f, 0, sizeof *f);
    f->connection = w->p->classification.connection->number;
}

static bool is_asked_by(const struct answer *a, uint32_t psn)
{
    return a->frame && psn_distance(a->psn, psn) >= 0;
}

/* ---- an acknowledgement that is held */

static bool is_intact(const struct held_answer *h)
{
    struct ib_packet ib;
    struct view v = view_make(h->bytes, h->size, h->size);
    return ib_decode(v, IB_START_LRH, &ib) == WIRE_OK &&
           integrity_of(h->crcs_count, v, &ib) != INTEGRITY_CORRUPT;
}

/* If it is corrupt, the one before it counts. Two in a row hardly ever are. */
APART static void settle(struct rc_flow *f)
{
    if (f->held.size && is_intact(&f->held))
        f->acknowledged = f->held.answer;
    f->held.size = 0;
}

static bool can_hold(const struct packet *p, const struct rc_flow *f)
{
    bool is_small = p->ib.start == IB_START_LRH && p->bytes.len <= HELD_SIZE &&
                    p->bytes.cap == p->bytes.len;
    const struct answer *last = f->held.size ? &f->held.answer : &f->acknowledged;
    bool in_order = !last->frame || psn_distance(last->psn, p->ib.psn) >= 0;
    return is_small && in_order && !p->integrity.known && !f->lost.frame && !f->not_ready.frame;
}

/* Of two halves of the packet, which may overlap: it has an AETH, so more than one. */
static void hold(const struct packet *p, struct rc_flow *f)
{
    struct held_answer *h = &f->held;
    if (h->size)
        f->acknowledged = h->answer;
    h->answer = (struct answer){p->at.frame, p->ib.psn};
    h->crcs_count = p->crcs_count;
    h->size = (uint8_t)p->bytes.cap;
    memcpy(h->bytes, p->bytes.p, HALF);
    memcpy(h->bytes + h->size - HALF, p->bytes.p + h->size - HALF, HALF);
}

/* ---- data */

static void sent_again(const struct watch *w, bool asked, uint32_t cause, const char *why)
{
    const struct packet *p = w->p;
    const struct connection *c = p->classification.connection;
    bool to_requester = p->classification.to_requester;
    struct sender who = sender_of_side(w, c, !to_requester);
    char other[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_RETRANSMISSION, c,
                                             (uint64_t)to_requester << 1 | asked);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, cause, "it sends packets to %s again, %s; PSN %u is the first",
                end_text(w, c, to_requester, other), why, p->ib.psn);
}

static bool was_acknowledged(const struct rc_flow *f, const struct sent *s)
{
    return f->acknowledged.frame && psn_distance(f->acknowledged.psn, s->mark) <= 0;
}

/* Is it sent again, and not captured again? before: when it was captured last. */
static bool is_retry(const struct watch *w, const struct rc_flow *f, const struct sent *before)
{
    if (before->times + 1 >= THIRD_TIME)
        return true;
    return f->acknowledged.frame && !was_acknowledged(f, before) &&
           before->captured_on == w->p->captured_on && !order_has_copies(&w->f->order);
}

enum { WHY_TEXT = 160 };

/* How far packets of a connection overtake each other. */
enum { OVERTAKEN = 16 };

/* Did the packet come once, and after one with a later PSN that came once too? */
static bool is_late(const struct rc_flow *f, const struct sent *s)
{
    for (unsigned i = 1; i <= OVERTAKEN; i++) {
        uint32_t mark = (((s->mark + i) & PSN_MASK) | SENT);
        const struct sent *later = &f->recent[mark % RECENT];
        if (later->mark == mark && !later->again && later->frame < s->frame)
            return true;
    }
    return false;
}

/* A packet near to this PSN that came late; frame 0: none. */
static struct answer late_near(const struct rc_flow *f, uint32_t psn)
{
    int32_t distance = psn_distance(f->late.psn, psn);
    struct answer found = {0, 0};
    if (f->late.frame && distance <= OVERTAKEN && distance >= -OVERTAKEN)
        found = f->late;
    for (unsigned i = 0; i <= 2 * OVERTAKEN; i++) {
        uint32_t mark = ((psn - OVERTAKEN + i) & PSN_MASK) | SENT;
        const struct sent *s = &f->recent[mark % RECENT];
        if (s->mark == mark && !s->again && s->frame > found.frame && is_late(f, s))
            found = (struct answer){s->frame, mark & PSN_MASK};
    }
    return found;
}

/* The packet comes again: was it late the first time? */
static void note_late(struct rc_flow *f, const struct sent *before)
{
    if (!before->again && is_late(f, before))
        f->late = (struct answer){before->frame, before->mark & PSN_MASK};
}

/* The receiver's NAK has the PSN that it expects. */
static const char *why_asked(const struct watch *w, const struct rc_flow *f, char text[WHY_TEXT])
{
    uint32_t named = first_psn_frame(w, w->p->classification.to_requester, f->lost.psn);
    if (f->recent[f->lost.psn % RECENT].mark == (f->lost.psn | SENT)) {
        const struct answer late = late_near(f, f->lost.psn);
        if (!late.frame)
            return "because a packet was lost, or came late (NAK: PSN sequence error)";
        g_snprintf(
            text, WHY_TEXT,
            "because a packet came late (NAK: PSN sequence error): the path reorders packets, "
            "PSN %u is in frame %u, after a later PSN",
            late.psn, late.frame);
        return text;
    }
    if (named)
        g_snprintf(text, WHY_TEXT,
                   "because the receiver waits for PSN %u, with which the connection begins "
                   "(frame %u), and no packet with it was captured (NAK: PSN sequence error)",
                   f->lost.psn, named);
    else
        g_snprintf(
            text, WHY_TEXT,
            "because the receiver waits for PSN %u, which was not captured (NAK: PSN sequence "
            "error)",
            f->lost.psn);
    return text;
}

/* A sender ignores the acknowledgement of a PSN that it has not sent. */
static const char *why_unasked(const struct rc_flow *f, const struct sent *s, char text[WHY_TEXT])
{
    const struct answer *a = &f->acknowledged;
    if (!was_acknowledged(f, s))
        return "and no acknowledgement was captured before";
    if (f->recent[a->psn % RECENT].mark == (a->psn | SENT))
        return "although an acknowledgement was captured";
    g_snprintf(text, WHY_TEXT,
               "although an acknowledgement was captured, but of PSN %u, of which no packet was "
               "captured",
               a->psn);
    return text;
}

static void watch_repeated(const struct watch *w, const struct rc_flow *f,
                           const struct sent *before)
{
    char text[WHY_TEXT];
    if (is_asked_by(&f->not_ready, before->mark))
        return;
    if (is_asked_by(&f->lost, before->mark))
        sent_again(w, true, f->lost.frame, why_asked(w, f, text));
    else if (is_retry(w, f, before))
        sent_again(w, false, before->frame, why_unasked(f, before, text));
}

/* Captured again a moment later, without a NAK between that asks for it. */
static bool is_copy(const struct watch *w, const struct rc_flow *f, const struct sent *before)
{
    int64_t ms = w->p->at.ns / 1000000 - before->ns / 1000000;
    bool asked = f->lost.frame > before->frame && is_asked_by(&f->lost, before->mark);
    return ms <= COPY_MS && ms >= -COPY_MS && !asked;
}

/* Returns how often the packet was sent. */
static unsigned repeated(const struct watch *w, struct rc_flow *f, const struct sent *before)
{
    if (is_copy(w, f, before))
        return before->times;
    settle(f);
    watch_repeated(w, f, before);
    return MIN(before->times + 1u, UINT16_MAX);
}

static void note_data(const struct packet *p, struct sent *s, unsigned times)
{
    bool asks = p->bytes.p[p->ib.bth_off + BTH_ACK_REQ] & 0x80;
    *s = (struct sent){p->at.ns, p->at.frame, p->ib.psn | SENT, p->captured_on, (uint16_t)times,
                       asks,     false};
}

/* Data with the PSN of others, or of a new flow. */
APART static void watch_other_data(const struct watch *w, struct rc_flow *f, struct sent *s)
{
    if (is_of(f, w)) {
        note_late(f, s);
        note_data(w->p, s, repeated(w, f, s));
        s->again = true;
        return;
    }
    begin_flow(w, f);
    note_data(w->p, s, 1);
}

static void watch_data(const struct watch *w)
{
    const struct packet *p = w->p;
    struct rc_flow *f = place_of(w, p->classification.to_requester);
    struct sent *s = &f->recent[p->ib.psn % RECENT];
    if (is_of(f, w) && s->mark != (p->ib.psn | SENT))
        note_data(p, s, 1);
    else
        watch_other_data(w, f, s);
}

/* ---- acknowledgements */

/* Time that the sender waits, in units of 10 us (IBA 9.7.5.2.8, encoding of the RNR timer). */
static const uint16_t rnr_10us[] = {
    65535, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static void not_ready(const struct watch *w, struct rc_flow *f, bool to_requester, uint8_t timer)
{
    const struct packet *p = w->p;
    const struct connection *c = p->classification.connection;
    const struct sent *s = &f->recent[p->ib.psn % RECENT];
    bool copy = f->not_ready.frame && f->not_ready.psn == p->ib.psn &&
                s->mark == (p->ib.psn | SENT) &&
                s->frame < f->not_ready.frame; /* the packet was not sent again since */
    struct sender who = sender_of_side(w, c, to_requester);
    char other[SENDER_TEXT_SIZE];
    if (copy)
        return;
    const struct event_key key = key_of_ends(w, EVENT_RNR, c, to_requester);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, 0,
                "it has no receive buffer for a packet of %s (RNR NAK, PSN %u): the sender waits "
                "%.2f ms",
                end_text(w, c, !to_requester, other), p->ib.psn, rnr_10us[timer] / 100.0);
    f->not_ready = (struct answer){p->at.frame, p->ib.psn};
}

/* It acknowledges all packets up to this PSN, so what was asked for has arrived. */
static void acknowledged(const struct watch *w, struct rc_flow *f)
{
    const struct packet *p = w->p;
    if (f->acknowledged.frame && psn_distance(f->acknowledged.psn, p->ib.psn) < 0)
        return;
    f->acknowledged = (struct answer){p->at.frame, p->ib.psn};
    if (f->lost.frame && psn_distance(f->lost.psn, p->ib.psn) >= 0)
        f->lost.frame = 0;
    if (f->not_ready.frame && psn_distance(f->not_ready.psn, p->ib.psn) >= 0)
        f->not_ready.frame = 0;
}

/* ---- a PSN that the receiver does not expect */

/* Lost packets explain no difference of so many: as many are not on the way at once. */
enum { FAR = 1 << 12 };

static bool is_far(uint32_t from, uint32_t to)
{
    int32_t distance = psn_distance(from, to);
    return distance >= FAR || distance <= -FAR;
}

/* Has the receiver been sent the PSN, or one near to it? */
static bool has_near(const struct watch *w, const struct rc_flow *f, uint32_t psn)
{
    for (unsigned i = 0; is_of(f, w) && i < RECENT; i++)
        if (f->recent[i].mark && !is_far(psn, f->recent[i].mark & PSN_MASK))
            return true;
    return false;
}

/*
 * The receiver still waits for the first PSN, which it has named, and the sender sends others. The
 * model knows them by the receiver's queue pair only.
 */
APART static void watch_waited_for(const struct watch *w, const struct rc_flow *f,
                                   bool to_requester)
{
    const struct packet *p = w->p;
    const struct connection *c = p->classification.connection;
    const struct sequence *sent = to_requester ? &c->requester.flow.sequence
                                               : &c->responder.flow.sequence;
    uint32_t named = first_psn_frame(w, to_requester, p->ib.psn);
    if (!named || !sent->known || sent->first_frame < named || !is_far(p->ib.psn, sent->psn) ||
        has_near(w, f, p->ib.psn))
        return;
    struct sender who = sender_of_side(w, c, !to_requester);
    char other[SENDER_TEXT_SIZE];
    const struct event_key key = key_of_ends(w, EVENT_WRONG_PSN, c, to_requester);
    watch_event(w, &key, &who, named,
                "its packets to %s have other PSNs (%u) than the receiver expects: it named PSN %u "
                "for the first one, in frame %u, and refuses them (NAK: PSN sequence error)",
                end_text(w, c, to_requester, other), sent->psn, p->ib.psn, named);
}

static void sequence_error(const struct watch *w, struct rc_flow *f, bool to_requester)
{
    f->lost = (struct answer){w->p->at.frame, w->p->ib.psn};
    watch_waited_for(w, f, to_requester);
}

APART static void watch_syndrome(const struct watch *w, struct rc_flow *f)
{
    const struct packet *p = w->p;
    bool to_requester = !p->classification.to_requester;
    uint8_t syndrome = p->bytes.p[p->ib.bth_off + BTH_SIZE], value = syndrome & 0x1f;
    if (packet_is_corrupt(p))
        return;
    settle(f);
    if (syndrome >> 5 == SYNDROME_ACK)
        acknowledged(w, f);
    else if (syndrome >> 5 == SYNDROME_RNR)
        not_ready(w, f, to_requester, value);
    else if (syndrome >> 5 == SYNDROME_NAK && value == NAK_SEQUENCE)
        sequence_error(w, f, to_requester);
    else if (syndrome >> 5 == SYNDROME_NAK)
        watch_nak(w, value);
}

APART static void watch_acknowledgement(const struct watch *w, struct rc_flow *f)
{
    if (can_hold(w->p, f))
        hold(w->p, f);
    else
        watch_syndrome(w, f);
}

/* The first packet of its flow that was captured is an answer. */
APART static void watch_first_answer(const struct watch *w, struct rc_flow *f)
{
    begin_flow(w, f);
    watch_syndrome(w, f);
}

/*
 * So late, an acknowledgement is no matter of the adapter, which sends it without its host, but of
 * the way or of a host that does not run. The timeout may be longer, so nothing is sent again.
 */
enum { SLOW_MS = 100, SLOW_TIMES = 10 };

APART static void acknowledges_late(const struct watch *w, struct rc_flow *f, const struct sent *s)
{
    const struct packet *p = w->p;
    const struct connection *c = p->classification.connection;
    bool to_requester = p->classification.to_requester;
    struct sender who = sender_of_side(w, c, !to_requester);
    const struct event_key key = key_of_ends(w, EVENT_ACK_SLOW, c, to_requester);
    char other[SENDER_TEXT_SIZE];
    if (!f->slow++)
        f->slow_frame = s->frame;
    if (f->slow < SLOW_TIMES)
        return;
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, f->slow_frame,
                "it acknowledges packets of %s late: %u in a row, since frame %u, each after %u ms "
                "or more",
                end_text(w, c, to_requester, other), f->slow, f->slow_frame, SLOW_MS);
}

/* The acknowledgement of one packet that was sent once, on the same clock. */
static void watch_delay(const struct watch *w, struct rc_flow *f)
{
    const struct packet *p = w->p;
    struct sent *s = &f->recent[p->ib.psn % RECENT];
    if (s->mark != (p->ib.psn | SENT) || !s->asks || s->times != 1 ||
        s->captured_on != p->captured_on)
        return;
    s->asks = false; /* a tap may have the answer twice */
    if ((p->at.ns - s->ns) / 1000000 >= SLOW_MS)
        acknowledges_late(w, f, s);
    else
        f->slow = 0;
}

APART static void watch_answer(const struct watch *w)
{
    const struct packet *p = w->p;
    uint32_t at = p->ib.bth_off + BTH_SIZE;
    if (view_has(p->bytes, at, AETH_SIZE) != WIRE_OK)
        return;
    struct rc_flow *f = place_of(w,
                                 !p->classification.to_requester); /* the data go the other way */
    if (!is_of(f, w)) {
        watch_first_answer(w, f);
    } else if (p->bytes.p[at] >> 5 == SYNDROME_ACK) {
        watch_delay(w, f);
        watch_acknowledgement(w, f);
    } else
        watch_syndrome(w, f);
}

APART static bool has_sent(const struct watch *w)
{
    const struct packet *p = w->p;
    const struct rc_flow *f = place_of(w, p->classification.to_requester);
    return is_of(f, w) && f->recent[p->ib.psn % RECENT].mark == (p->ib.psn | SENT);
}

bool watch_is_sent_again(const struct watch *w)
{
    const struct connection *c = w->p->classification.connection;
    return c && w->p->ib.transport == IB_RC && connection_is_ipoib(c) && has_sent(w);
}

void watch_rc(const struct watch *w)
{
    const struct packet *p = w->p;
    if (p->ib.transport != IB_RC)
        return;
    if (p->ib.opcode == OPCODE_ACKNOWLEDGE)
        watch_answer(w);
    else if (p->ib.kind == IB_KIND_SEND)
        watch_data(w);
}
