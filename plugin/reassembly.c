/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/reassembly.h"
#include "plugin/arena.h"
#include "plugin/protocol.h"

#include "wire/encap.h"

/*
 * The longest datagram is IPv6: a header of 40 bytes and 65,535 bytes (RFC 8200 §3; jumbograms are
 * not used over IPoIB). All packets of its message except the last fill the path MTU, which is at
 * least 256 bytes (IBA 9.4.1). A longer message, or one with more packets, is discarded.
 */
enum { MESSAGE_MAX = ENCAP_SIZE + 40 + 65535, PACKET_MIN = 256 };
enum { FRAGMENTS_MAX = (MESSAGE_MAX + PACKET_MIN - 1) / PACKET_MIN };

/*
 * Memory in bytes that an incomplete message takes besides its data, for each fragment and in all.
 * Upper estimates: the message's buffer has space for all of it, of which one page is in use.
 */
enum { FRAGMENT_COST = 32, MESSAGE_COST = 4096 + 512 };

/* A packet of an incomplete message. */
struct fragment {
    uint32_t frame, position, length;
    uint32_t offset; /* of its bytes in the message's buffer */
};

struct incomplete_message {
    uint32_t number, bytes;
    uint32_t last; /* position of the Last, if has_last */
    bool has_last, shortened;
    GArray *fragments; /* struct fragment, in the order of capture */
    uint8_t *data;     /* bytes: its length; in the order of capture */
    uint32_t space;    /* bytes allocated */
    GList link;
};

static GHashTable *incomplete_by_number;
static GQueue incomplete_messages = G_QUEUE_INIT; /* oldest first */
static uint64_t incomplete_cost;
static GPtrArray *complete_messages; /* by number */

static uint64_t cost_of(const struct incomplete_message *m)
{
    return (uint64_t)MESSAGE_COST + (uint64_t)m->fragments->len * FRAGMENT_COST + m->bytes;
}

static struct incomplete_message *find_incomplete(uint32_t number)
{
    return incomplete_by_number
               ? g_hash_table_lookup(incomplete_by_number, GUINT_TO_POINTER(number))
               : NULL;
}

static void incomplete_free(gpointer p)
{
    struct incomplete_message *m = p;
    g_array_free(m->fragments, TRUE);
    g_free(m->data);
    g_free(m);
}

static struct incomplete_message *add_incomplete_message(uint32_t number)
{
    struct incomplete_message *m = g_new0(struct incomplete_message, 1);
    if (!incomplete_by_number)
        incomplete_by_number = g_hash_table_new_full(NULL, NULL, NULL, incomplete_free);
    m->number = number;
    m->link.data = m;
    m->fragments = g_array_new(FALSE, FALSE, sizeof(struct fragment));
    incomplete_cost += cost_of(m);
    g_queue_push_tail_link(&incomplete_messages, &m->link);
    g_hash_table_insert(incomplete_by_number, GUINT_TO_POINTER(number), m);
    return m;
}

static void close_message(struct incomplete_message *m)
{
    if (!m)
        return;
    incomplete_cost -= cost_of(m);
    g_queue_unlink(&incomplete_messages, &m->link);
    g_hash_table_remove(incomplete_by_number, GUINT_TO_POINTER(m->number)); /* frees m */
}

/*
 * Makes space for the payload in the message's buffer. The First contains the datagram's length, so
 * most messages need no larger buffer later.
 */
static void make_space(struct incomplete_message *m, struct view payload)
{
    uint32_t need = m->bytes + payload.len;
    if (m->space == 0) {
        uint32_t named = encap_datagram_length(payload) + ENCAP_SIZE;
        m->space = CLAMP(named, need, MAX(need, MESSAGE_MAX));
        m->data = g_malloc(m->space);
    } else if (need > m->space) {
        m->space = 2 * need;
        m->data = g_realloc(m->data, m->space);
    }
}

static void add_fragment(struct incomplete_message *m, uint32_t frame, uint32_t position,
                         tvbuff_t *tvb)
{
    struct view payload = tvb_view(tvb);
    struct fragment fragment = {frame, position, payload.len, m->bytes};
    incomplete_cost -= cost_of(m);
    make_space(m, payload);
    memcpy(m->data + m->bytes, payload.p, payload.len);
    m->bytes += payload.len;
    g_array_append_val(m->fragments, fragment);
    incomplete_cost += cost_of(m);
}

/*
 * Removes the fragments after the message's last packet. They belong to another message, whose
 * First was lost. Their bytes stay in the buffer until the message is complete.
 */
static void shorten(struct incomplete_message *m, uint32_t last)
{
    incomplete_cost -= cost_of(m);
    for (guint i = m->fragments->len; i-- > 0;)
        if (g_array_index(m->fragments, struct fragment, i).position > last)
            g_array_remove_index(m->fragments, i);
    incomplete_cost += cost_of(m);
}

/*
 * True for a message that is too large for a datagram, or that was shortened twice: an earlier last
 * packet was found for it. The second limit exists because shorten() takes time for each
 * fragment.
 */
static bool is_beyond_bounds(struct incomplete_message *m, const struct stream_result *part)
{
    bool again = part->shortened && m->shortened;
    m->shortened |= part->shortened;
    return again || part->index >= FRAGMENTS_MAX || m->fragments->len > FRAGMENTS_MAX ||
           m->bytes > MESSAGE_MAX;
}

/*
 * Discards the oldest incomplete messages, but never the current one, whose size is_beyond_bounds()
 * limits.
 */
static void discard_messages(const struct incomplete_message *at_hand, uint64_t limit)
{
    while (incomplete_cost > limit && incomplete_messages.head->data != at_hand)
        close_message(incomplete_messages.head->data);
}

static int by_position(gconstpointer a, gconstpointer b)
{
    uint32_t i = ((const struct fragment *)a)->position, j = ((const struct fragment *)b)->position;
    return (i > j) - (i < j);
}

static bool is_sequence(const GArray *fragments)
{
    for (guint i = 0; i < fragments->len; i++)
        if (g_array_index(fragments, struct fragment, i).position != i)
            return false;
    return true;
}

/*
 * Returns true if each packet of the message is there once; the fragments are then sorted. Most
 * messages were captured in order.
 */
static bool has_all_fragments(struct incomplete_message *m)
{
    if (!m->has_last || m->fragments->len != m->last + 1)
        return false;
    if (is_sequence(m->fragments))
        return true;
    g_array_sort(m->fragments, by_position);
    return is_sequence(m->fragments);
}

/*
 * Copies the message's bytes, in its order. The caller frees the buffer of the incomplete message,
 * so that the next message finds its memory in the cache, and needs no new pages.
 */
static const uint8_t *copy_bytes(const struct incomplete_message *m,
                                 const struct complete_message *w)
{
    uint8_t *bytes = arena_alloc(w->length), *to = bytes;
    for (guint i = 0; i < m->fragments->len; i++) {
        const struct fragment *fragment = &g_array_index(m->fragments, struct fragment, i);
        memcpy(to, m->data + fragment->offset, fragment->length);
        to += fragment->length;
    }
    return bytes;
}

static void finish_message(struct incomplete_message *m, uint32_t frame)
{
    guint n = m->fragments->len;
    struct complete_message *w = g_malloc0(sizeof *w + n * sizeof(struct message_packet));
    w->frame = frame;
    w->count = n;
    for (guint i = 0; i < n; i++) {
        const struct fragment *fragment = &g_array_index(m->fragments, struct fragment, i);
        w->packets[i] = (struct message_packet){fragment->frame, fragment->length};
        w->length += fragment->length;
    }
    w->bytes = copy_bytes(m, w);
    if (!complete_messages)
        complete_messages = g_ptr_array_new_with_free_func(g_free);
    if (complete_messages->len <= m->number)
        g_ptr_array_set_size(complete_messages, (gint)m->number + 1);
    g_ptr_array_index(complete_messages, m->number) = w;
}

void reassembly_add(uint32_t frame, const struct stream_result *part, bool last, tvbuff_t *tvb,
                    uint64_t limit)
{
    if (part->evicted)
        close_message(find_incomplete(part->evicted));
    struct incomplete_message *m = find_incomplete(part->number);
    if (!m && part->index != 0)
        return; /* the message was discarded */
    if (!m)
        m = add_incomplete_message(part->number);
    add_fragment(m, frame, part->index, tvb);
    if (last) {
        m->has_last = true;
        m->last = part->index;
    }
    if (is_beyond_bounds(m, part)) {
        close_message(m);
        return;
    }
    discard_messages(m, limit);
    if (part->shortened)
        shorten(m, part->index);
    if (part->state != STREAM_COMPLETE)
        return;
    if (has_all_fragments(m))
        finish_message(m, frame);
    close_message(m);
}

const struct complete_message *reassembly_find(uint32_t number)
{
    return complete_messages && number < complete_messages->len
               ? g_ptr_array_index(complete_messages, number)
               : NULL;
}

static void forget_messages(void)
{
    g_clear_pointer(&complete_messages, g_ptr_array_unref);
    arena_forget();
    g_clear_pointer(&incomplete_by_number, g_hash_table_destroy);
    g_queue_init(
        &incomplete_messages); /* the links were inside the messages that the table freed */
    incomplete_cost = 0;
}

void reassembly_register(void)
{
    register_cleanup_routine(forget_messages);
}
