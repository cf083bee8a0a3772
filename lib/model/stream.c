/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/stream.h"

/* RFC 4755 section 5: a message has at most 2^31 octets; packets carry at least 256 of them. */
#define INDEX_LIMIT (1u << 23)

/* Packets begin to end - 1, seen after a gap. */
struct psn_run {
    uint32_t begin, end;
};

struct message {
    uint32_t number;  /* number within the capture, from 1; 0: unused */
    uint32_t psn;     /* PSN of its first packet */
    uint32_t last;    /* index of its last packet, if seen_last; the smallest that was seen */
    uint32_t reached; /* all packets before this index were seen */
    bool seen_last, whole, ipoib;
    uint8_t n_runs;
    uint32_t bytes; /* payload of its First, as of all of its packets but the last (IBA 9.7.2) */
    struct psn_run *runs; /* n_runs entries, sorted, none adjacent */
};

struct stream_messages {
    struct stream_store *store;
    struct message messages[STREAM_MESSAGES];
    unsigned next;
};

static void drop_runs(struct stream_store *store, struct message *m)
{
    store->runs -= m->n_runs;
    m->n_runs = 0;
    g_free(m->runs);
    m->runs = NULL;
}

static void message_reset(struct stream_store *store, struct message *m)
{
    drop_runs(store, m);
    memset(m, 0, sizeof *m);
}

void stream_clear(struct stream *s)
{
    if (!s->open)
        return;
    for (unsigned i = 0; i < STREAM_MESSAGES; i++)
        message_reset(s->open->store, &s->open->messages[i]);
    s->open->store->streams--;
    g_free(s->open);
    s->open = NULL;
}

/* ---- which packets were seen */

enum seen { SEEN_NOW, SEEN_BEFORE, SEEN_TOO_MANY_GAPS /* not recorded */ };

static void remove_run(struct stream_store *store, struct message *m, unsigned i)
{
    m->n_runs--;
    store->runs--;
    memmove(m->runs + i, m->runs + i + 1, (m->n_runs - i) * sizeof *m->runs);
}

/* Close the gap before the first run if all its packets have been seen. */
static void close_gap(struct stream_store *store, struct message *m)
{
    if (m->n_runs == 0 || m->runs[0].begin != m->reached)
        return;
    m->reached = m->runs[0].end;
    remove_run(store, m, 0);
    if (m->n_runs == 0)
        drop_runs(store, m);
}

/* Insert a packet after a gap, before run i. */
static enum seen add_run(struct stream_store *store, struct message *m, unsigned i, uint32_t index)
{
    if (store->runs >= (uint32_t)STREAM_RUNS_MAX >> store->less ||
        m->n_runs >= STREAM_MESSAGE_RUNS) {
        if (m->ipoib)
            undone_refuse(store->undone, UNDONE_STREAM_RUNS);
        return SEEN_TOO_MANY_GAPS;
    }
    /* at a power of two, the array is full */
    if ((m->n_runs & (m->n_runs - 1)) == 0)
        m->runs = g_renew(struct psn_run, m->runs, m->n_runs ? 2u * m->n_runs : 1);
    memmove(m->runs + i + 1, m->runs + i, (m->n_runs - i) * sizeof *m->runs);
    m->runs[i] = (struct psn_run){index, index + 1};
    m->n_runs++;
    store->runs++;
    return SEEN_NOW;
}

static enum seen mark_after_gap(struct stream_store *store, struct message *m, uint32_t index)
{
    unsigned i = 0;
    while (i < m->n_runs && m->runs[i].end < index)
        i++;
    if (i == m->n_runs || m->runs[i].begin > index + 1)
        return add_run(store, m, i, index);
    struct psn_run *r = &m->runs[i];
    if (index >= r->begin && index < r->end)
        return SEEN_BEFORE;
    if (index + 1 == r->begin) {
        r->begin = index;
        return SEEN_NOW;
    }
    r->end = index + 1;
    if (i + 1u < m->n_runs && r[1].begin == r->end) {
        r->end = r[1].end;
        remove_run(store, m, i + 1);
    }
    return SEEN_NOW;
}

static enum seen mark(struct stream_store *store, struct message *m, uint32_t index)
{
    if (index < m->reached)
        return SEEN_BEFORE;
    if (index > m->reached)
        return mark_after_gap(store, m, index);
    m->reached++;
    close_gap(store, m);
    return SEEN_NOW;
}

static bool was_seen(const struct message *m, uint32_t index)
{
    bool seen = index < m->reached;
    for (unsigned i = 0; i < m->n_runs && !seen; i++)
        seen = index >= m->runs[i].begin && index < m->runs[i].end;
    return seen;
}

/*
 * The message ends with the packet of this index, which was not seen before. Later packets belong
 * to another message whose First was lost: remove them. true: some were removed.
 */
static bool drop_later_packets(struct stream_store *store, struct message *m, uint32_t index)
{
    unsigned before = m->n_runs;
    while (m->n_runs && m->runs[m->n_runs - 1].begin > index)
        remove_run(store, m, m->n_runs - 1u);
    bool dropped = m->n_runs < before;
    if (m->n_runs == 0)
        drop_runs(store, m);
    return dropped;
}

/* ---- messages */

static struct message *open_message(struct stream *s, struct stream_store *store, uint32_t psn,
                                    uint32_t *evicted)
{
    if (!s->open && store->streams >= (uint32_t)STREAMS_MAX >> store->less)
        return NULL;
    if (!s->open) {
        s->open = g_new0(struct stream_messages, 1);
        s->open->store = store;
        store->streams++;
    }
    struct message *m = &s->open->messages[s->open->next];
    s->open->next = (s->open->next + 1) % STREAM_MESSAGES;
    *evicted = m->number && !m->whole ? m->number : 0;
    message_reset(store, m);
    m->number = ++store->messages;
    m->psn = psn;
    return m;
}

/* The message that contains psn: the one with the nearest start at or before it. */
static struct message *find_message(struct stream *s, uint32_t psn)
{
    struct message *best = NULL;
    int32_t best_distance = 0;
    for (unsigned i = 0; s->open && i < STREAM_MESSAGES; i++) {
        struct message *m = &s->open->messages[i];
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

static struct message *exact(struct stream *s, uint32_t psn)
{
    for (unsigned i = 0; s->open && i < STREAM_MESSAGES; i++)
        if (s->open->messages[i].number && s->open->messages[i].psn == psn)
            return &s->open->messages[i];
    return NULL;
}

static void add_packet(struct stream_store *store, struct message *m, bool last,
                       struct stream_result *r)
{
    if (last && !was_seen(m, r->index)) {
        r->shortened = drop_later_packets(store, m, r->index);
        m->seen_last = true;
        m->last = r->index;
    }
    bool before = mark(store, m, r->index) == SEEN_BEFORE, was_whole = m->whole;
    m->whole = m->seen_last && m->reached > m->last;
    store->ended += m->ipoib && m->whole && !was_whole;
    r->state = before ? STREAM_REPEATED : m->whole ? STREAM_COMPLETE : STREAM_FRAGMENT;
}

/* The First is the start of a message whose other packets will not be recognised. */
static struct stream_result refused_first(const struct stream_store *store, uint32_t bytes,
                                          bool ipoib)
{
    if (ipoib)
        undone_refuse(store->undone, UNDONE_STREAMS);
    return (struct stream_result){
        .state = ipoib ? STREAM_FRAGMENT : STREAM_ORPHAN, .ipoib = ipoib, .bytes = bytes};
}

struct stream_result stream_packet(struct stream *s, struct stream_store *store,
                                   enum ib_position position, uint32_t psn, uint32_t bytes,
                                   bool ipoib)
{
    struct stream_result r = {.state = STREAM_ORPHAN};
    struct message *m = position == IB_FIRST ? exact(s, psn) : find_message(s, psn);

    if (position == IB_FIRST && !m) {
        m = open_message(s, store, psn, &r.evicted);
        if (m) {
            m->bytes = bytes;
            m->ipoib = ipoib;
            store->begun += ipoib;
        }
    }
    if (!m && position == IB_FIRST)
        return refused_first(store, bytes, ipoib);
    if (!m)
        return r;
    uint32_t index = (uint32_t)psn_distance(m->psn, psn);
    /* only a First has index 0: another packet there starts a message whose First was lost */
    if (index > INDEX_LIMIT || (index == 0) != (position == IB_FIRST))
        return r;
    r.number = m->number;
    r.index = index;
    r.ipoib = m->ipoib;
    add_packet(store, m, position == IB_LAST, &r);
    if (m->reached > index)
        r.bytes = (uint64_t)index * m->bytes + bytes;
    return r;
}
