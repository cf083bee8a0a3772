/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links request and response (ARP, Neighbour Discovery, SA and CM) with each other and shows the
 * time between them.
 */
#include "plugin/transaction.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"

#include "model/hash.h"
#include "wire/nanoseconds.h"

static int hf_ipoib_response_in = -1, hf_ipoib_response_to = -1, hf_ipoib_time = -1;

/* Stored with the frame of the request. */
struct stored_request {
    uint32_t response; /* frame of its first response; 0: not seen yet */
};

/* Stored with the frame of the response. A frame can be both: a CM REP is. */
struct stored_response {
    uint32_t request;
    uint32_t after_low; /* ns after the request, lower 32 bits */
    int32_t after_high : 24;
    uint32_t what : 8; /* number that the dissector of the request chose */
};
enum { AFTER_LOW_BITS = 32 };
static const int64_t after_max = ((int64_t)1 << 55) - 1; /* 417 days */

/* A request to which responses can still be linked. */
struct transaction {
    struct stored_request *stored;
    int64_t requested; /* time of the request, ns since 1970 */
    uint32_t request;
    uint8_t what;
    uint16_t place;             /* in `answered`, from 1; 0: not there */
    struct transaction_key key; /* must be last: only its bytes in use are allocated */
};

static GHashTable *transactions; /* the keys of the transactions; owns them */

/*
 * A request is forgotten after its last response, when this many others were answered. Until then,
 * further responses are linked: those of a second tap, of another server, or the segments of a
 * table.
 */
enum { ANSWERED_KEPT = 1 << 10 };
static struct transaction *answered[ANSWERED_KEPT];
static unsigned answered_count; /* since the start of the file; its rest is the next place */

static size_t size_of(const struct transaction_key *k)
{
    return offsetof(struct transaction_key, bytes) + k->length;
}

guint transaction_key_hash(gconstpointer key)
{
    return hash_bytes(key, size_of(key));
}

gboolean transaction_key_equal(gconstpointer a, gconstpointer b)
{
    /* the length is one of the first bytes, in which keys of different lengths differ */
    return memcmp(a, b, offsetof(struct transaction_key, bytes)) == 0 &&
           memcmp(a, b, size_of(a)) == 0;
}

static struct transaction *transaction_of(gpointer key)
{
    return (struct transaction *)((char *)key - offsetof(struct transaction, key));
}

static void free_transaction(gpointer key)
{
    struct transaction *t = transaction_of(key);
    if (t->place)
        answered[t->place - 1] = NULL;
    g_free(t);
}

static struct transaction *find_transaction(const struct transaction_key *k)
{
    gpointer found = transactions ? g_hash_table_lookup(transactions, k) : NULL;
    return found ? transaction_of(found) : NULL;
}

void transaction_key_add(struct transaction_key *k, const void *p, size_t n)
{
    if (n > sizeof k->bytes - k->length)
        n = sizeof k->bytes - k->length;
    memcpy(k->bytes + k->length, p, n);
    k->length = (uint8_t)(k->length + n);
}

struct transaction_key transaction_key_on(uint8_t kind, uint32_t link)
{
    struct transaction_key k = {.subnet = (uint16_t)(link >> 16), .kind = kind};
    uint16_t pkey = (uint16_t)link;
    transaction_key_add(&k, &pkey, sizeof pkey);
    return k;
}

void transaction_key_add_port(struct transaction_key *k, struct port port)
{
    uint64_t id = port_on(port, 0).id;
    transaction_key_add(k, &id, sizeof id);
}

struct move {
    GPtrArray *keys;
    unsigned from;
};

static gboolean take_if_moved(gpointer key, gpointer value, gpointer user)
{
    (void)value;
    const struct move *move = user;
    const struct transaction_key *k = key;
    if (k->subnet != move->from)
        return FALSE;
    g_ptr_array_add(move->keys, key);
    return TRUE;
}

/*
 * Moves the requests of one interface to another after the model found that both are on one subnet.
 * A request on one may then be answered on the other. All are taken out before the first is put
 * back, because a key that is put back may replace, and free, one of the other interface.
 */
static void merge_transactions(struct interface_merge m)
{
    struct move move = {g_ptr_array_new(), m.from};
    g_hash_table_foreach_steal(transactions, take_if_moved, &move);
    for (unsigned i = 0; i < move.keys->len; i++) {
        struct transaction_key *k = move.keys->pdata[i];
        k->subnet = m.to;
        const struct transaction *same = find_transaction(k);
        if (!same || same->request < transaction_of(k)->request)
            g_hash_table_replace(transactions, k, k);
        else
            free_transaction(k);
    }
    g_ptr_array_free(move.keys, TRUE);
}

static unsigned merged;

static void follow_merges(void)
{
    const struct fabric_facts *f = state_facts();
    if (!transactions)
        transactions = g_hash_table_new_full(transaction_key_hash, transaction_key_equal,
                                             free_transaction, NULL);
    while (merged < f->merged)
        merge_transactions(f->merges[merged++]);
}

static void forget_transactions(void)
{
    merged = 0;
    answered_count = 0;
    g_clear_pointer(&transactions, g_hash_table_destroy);
}

static int64_t time_of(const packet_info *pinfo)
{
    return nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
}

/* At most after_max, also if a clock was set between the frames. */
static int64_t ns_between(int64_t from, int64_t to)
{
    int64_t ns = 0;
    if (__builtin_sub_overflow(to, from, &ns))
        ns = to < from ? -after_max : after_max;
    return CLAMP(ns, -after_max, after_max);
}

static int64_t response_time(const struct stored_response *r)
{
    return r->after_high * ((int64_t)1 << AFTER_LOW_BITS) + r->after_low;
}

/*
 * A retransmitted request counts as a new request: the response time is measured from the last one.
 */
void transaction_request(packet_info *pinfo, const struct transaction_key *k, uint8_t what)
{
    follow_merges();
    struct transaction *t = g_malloc(offsetof(struct transaction, key) + size_of(k));
    t->stored = store_add(pinfo->num, DATA_REQUEST, sizeof *t->stored,
                          alignof(struct stored_request));
    t->requested = time_of(pinfo);
    t->request = pinfo->num;
    t->what = what;
    t->place = 0;
    memcpy(&t->key, k, size_of(k));
    g_hash_table_replace(transactions, &t->key, &t->key);
}

/* Forgets the transaction whose place it takes. */
static void keep_answered(struct transaction *t)
{
    struct transaction **place = &answered[answered_count++ % ANSWERED_KEPT];
    if (t->place)
        answered[t->place - 1] = NULL;
    if (*place)
        g_hash_table_remove(transactions, &(*place)->key);
    *place = t;
    t->place = (uint16_t)(place - answered + 1);
}

void transaction_response(packet_info *pinfo, const struct transaction_key *k)
{
    follow_merges();
    struct transaction *t = find_transaction(k);
    if (!t)
        return;
    if (!t->stored->response)
        t->stored->response = pinfo->num;
    struct stored_response *r = store_add(pinfo->num, DATA_RESPONSE, sizeof *r,
                                          alignof(struct stored_response));
    int64_t after = ns_between(t->requested, time_of(pinfo));
    r->after_low = (uint32_t)after;
    r->after_high = (int32_t)(after >> AFTER_LOW_BITS);
    r->request = t->request;
    r->what = t->what;
    keep_answered(t);
}

uint8_t transaction_request_value(packet_info *pinfo)
{
    const struct stored_response *r = store_find(pinfo->num, DATA_RESPONSE);
    return r ? r->what : 0;
}

void transaction_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb)
{
    const struct stored_request *request = store_find(pinfo->num, DATA_REQUEST);
    const struct stored_response *response = store_find(pinfo->num, DATA_RESPONSE);
    if (request && request->response)
        proto_item_set_generated(
            proto_tree_add_uint(tree, hf_ipoib_response_in, tvb, 0, 0, request->response));
    if (!response)
        return;
    int64_t after = response_time(response);
    nstime_t dt = {.secs = (time_t)(after / NANOSECONDS), .nsecs = (int)(after % NANOSECONDS)};
    proto_item_set_generated(
        proto_tree_add_uint(tree, hf_ipoib_response_to, tvb, 0, 0, response->request));
    proto_item_set_generated(proto_tree_add_time(tree, hf_ipoib_time, tvb, 0, 0, &dt));
}

void transaction_register(void)
{
    static hf_register_info hf[] = {
        {&hf_ipoib_response_in,
         {"Response in", "ipoib.response_in", FT_FRAMENUM, BASE_NONE,
          FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE), 0, NULL, HFILL}},
        {&hf_ipoib_response_to,
         {"Request in", "ipoib.response_to", FT_FRAMENUM, BASE_NONE,
          FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0, NULL, HFILL}},
        {&hf_ipoib_time,
         {"Response time", "ipoib.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    register_cleanup_routine(forget_transactions);
}
