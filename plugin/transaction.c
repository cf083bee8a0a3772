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
struct transaction {
    int64_t requested;          /* time of the request, ns since 1970 */
    uint32_t request, response; /* frame numbers; response 0: not seen yet */
    uint16_t what;              /* number that the dissector of the request chose */
    struct transaction_key key; /* must be last: only its bytes in use are allocated */
};

/* Stored with the frame of the response. A frame can be both: a CM REP is. */
struct link_to_transaction {
    struct transaction *transaction;
};

static GHashTable *transactions; /* the keys of the transactions */

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

/*
 * Moves the requests of one interface to another after the model found that both are on one subnet.
 * A request on one may then be answered on the other.
 */
static void merge_transactions(struct interface_merge m)
{
    guint n;
    gpointer *keys = g_hash_table_get_keys_as_array(transactions, &n);
    for (guint i = 0; i < n; i++) {
        struct transaction_key *k = keys[i];
        if (k->subnet != m.from)
            continue;
        g_hash_table_remove(transactions, k);
        k->subnet = m.to;
        const struct transaction *same = find_transaction(k);
        if (!same || same->request < transaction_of(k)->request)
            g_hash_table_replace(transactions, k, k);
    }
    g_free(keys);
}

static unsigned merged;

static void follow_merges(void)
{
    const struct fabric_facts *f = state_facts();
    if (!transactions)
        transactions = g_hash_table_new(transaction_key_hash, transaction_key_equal);
    while (merged < f->merged)
        merge_transactions(f->merges[merged++]);
}

static void forget_transactions(void)
{
    merged = 0;
    g_clear_pointer(&transactions, g_hash_table_destroy);
}

static int64_t time_of(const packet_info *pinfo)
{
    return nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs);
}

/* The transaction of which the frame is the response; NULL: none. */
static const struct transaction *answered_by(packet_info *pinfo)
{
    const struct link_to_transaction *link = store_find(pinfo->num, DATA_RESPONSE);
    return link ? link->transaction : NULL;
}

/*
 * A retransmitted request counts as a new request: the response time is measured from the last one.
 */
void transaction_request(packet_info *pinfo, const struct transaction_key *k, uint16_t what)
{
    follow_merges();
    struct transaction *p = store_add(pinfo->num, DATA_REQUEST,
                                      offsetof(struct transaction, key) + size_of(k));
    memcpy(&p->key, k, size_of(k));
    p->request = pinfo->num;
    p->requested = time_of(pinfo);
    p->what = what;
    g_hash_table_replace(transactions, &p->key, &p->key);
}

void transaction_response(packet_info *pinfo, const struct transaction_key *k)
{
    follow_merges();
    struct transaction *p = find_transaction(k);
    if (!p)
        return;
    if (!p->response)
        p->response = pinfo->num;
    struct link_to_transaction *link = store_add(pinfo->num, DATA_RESPONSE, sizeof *link);
    link->transaction = p;
}

uint32_t transaction_request_value(packet_info *pinfo)
{
    const struct transaction *p = answered_by(pinfo);
    return p ? p->what : 0;
}

static nstime_t time_between(int64_t from, int64_t to)
{
    int64_t ns = 0;
    if (__builtin_sub_overflow(to, from, &ns))
        ns = to < from ? INT64_MIN : INT64_MAX;
    return (nstime_t){.secs = (time_t)(ns / NANOSECONDS), .nsecs = (int)(ns % NANOSECONDS)};
}

void transaction_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb)
{
    const struct transaction *request = store_find(pinfo->num, DATA_REQUEST);
    const struct transaction *response = answered_by(pinfo);
    if (request && request->response)
        proto_item_set_generated(
            proto_tree_add_uint(tree, hf_ipoib_response_in, tvb, 0, 0, request->response));
    if (!response)
        return;
    nstime_t dt = time_between(response->requested, time_of(pinfo));
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
