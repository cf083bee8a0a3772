/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stream.h"

/* RFC 4755 §5: a message has at most 2^31 octets; packets carry 256 of them or more. */
#define INDEX_LIMIT (1u << 23)

struct stream_messages {
    struct stream_message messages[STREAM_MESSAGES];
    unsigned next;
};

static void message_reset(struct stream_message *m)
{
    if (m->seen)
        g_byte_array_unref(m->seen);
    memset(m, 0, sizeof *m);
}

void stream_clear(struct stream *s)
{
    for (unsigned i = 0; s->open && i < STREAM_MESSAGES; i++)
        message_reset(&s->open->messages[i]);
    g_free(s->open);
    s->open = NULL;
}

/* Mark a packet as seen; false if it was already. */
static bool mark(struct stream_message *m, uint32_t index)
{
    guint byte = index / 8, old = m->seen->len;
    if (byte >= old) {
        g_byte_array_set_size(m->seen, byte + 1);
        memset(m->seen->data + old, 0, byte + 1 - old);
    }
    uint8_t bit = (uint8_t)(1u << index % 8);
    bool is_new = !(m->seen->data[byte] & bit);
    m->seen->data[byte] |= bit;
    return is_new;
}

static struct stream_message *begin(struct stream *s, uint32_t *counter, uint32_t psn, bool ipoib, uint32_t *evicted)
{
    if (!s->open)
        s->open = g_new0(struct stream_messages, 1);
    struct stream_message *m = &s->open->messages[s->open->next];
    s->open->next = (s->open->next + 1) % STREAM_MESSAGES;
    *evicted = m->number && !m->whole ? m->number : 0;
    message_reset(m);
    m->number = ++*counter;
    m->psn = psn;
    m->ipoib = ipoib;
    m->seen = g_byte_array_new();
    return m;
}

/* The message in which psn lies: the one with the nearest begin at or before it. */
static struct stream_message *find(struct stream *s, uint32_t psn)
{
    struct stream_message *best = NULL;
    int32_t best_distance = 0;
    for (unsigned i = 0; s->open && i < STREAM_MESSAGES; i++) {
        struct stream_message *m = &s->open->messages[i];
        int32_t d = psn_distance(m->psn, psn);
        if (m->number && d >= 0 && (!best || d < best_distance)) {
            best = m;
            best_distance = d;
        }
    }
    if (best && best->seen_last && (uint32_t)best_distance > best->last)
        return NULL;
    return best;
}

static struct stream_message *exact(struct stream *s, uint32_t psn)
{
    for (unsigned i = 0; s->open && i < STREAM_MESSAGES; i++)
        if (s->open->messages[i].number && s->open->messages[i].psn == psn)
            return &s->open->messages[i];
    return NULL;
}

static enum stream_verdict add(struct stream_message *m, uint32_t index, bool last, uint32_t octets)
{
    if (!mark(m, index))
        return STREAM_REPEATED;
    m->packets++;
    m->octets += octets;
    if (last && !m->seen_last) {
        m->seen_last = true;
        m->last = index;
    }
    m->whole = m->seen_last && m->packets == m->last + 1;
    return m->whole ? STREAM_WHOLE : STREAM_PART;
}

struct stream_result stream_packet(struct stream *s, uint32_t *counter, enum ib_position position, uint32_t psn,
                                   uint32_t octets, bool ipoib)
{
    struct stream_result r = {.verdict = STREAM_ORPHAN};
    struct stream_message *m = position == IB_FIRST ? exact(s, psn) : find(s, psn);

    if (position == IB_FIRST && !m)
        m = begin(s, counter, psn, ipoib, &r.evicted);
    if (!m)
        return r;
    uint32_t index = (uint32_t)psn_distance(m->psn, psn);
    /* index 0 is a First's alone: another packet there begins a message whose First was lost. */
    if (index > INDEX_LIMIT || (index == 0) != (position == IB_FIRST))
        return r;
    r.number = m->number;
    r.index = index;
    r.ipoib = m->ipoib;
    r.verdict = add(m, index, position == IB_LAST, octets);
    return r;
}
