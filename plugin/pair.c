/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links request and response (ARP, Neighbour Discovery, SA and CM) with each other and shows the
 * time between them.
 */
#include "plugin/pair.h"
#include "plugin/protocol.h"
#include "plugin/state.h"

#include <epan/proto_data.h>

#include "model/hash.h"

static int hf_response_in = -1, hf_response_to = -1, hf_time = -1;

struct pair {
    struct pair_key key;
    uint32_t request, response; /* frame numbers; response 0: not seen yet */
    uint32_t what;              /* number that the dissector of the request chose */
    nstime_t asked;
};

/* A frame can be both a response and a request: a CM REP is. */
struct frame_pairs {
    struct pair *asks, *answers;
};

static wmem_map_t *pairs;

static guint key_hash(gconstpointer p)
{
    return hash_octets(p, sizeof(struct pair_key));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct pair_key)) == 0;
}

void pair_key_add(struct pair_key *k, const void *p, size_t n)
{
    if (n > sizeof k->octets - k->length)
        n = sizeof k->octets - k->length;
    memcpy(k->octets + k->length, p, n);
    k->length = (uint8_t)(k->length + n);
}

struct pair_key pair_key_on(uint8_t kind, uint32_t link)
{
    struct pair_key k = {.subnet = (uint16_t)(link >> 16), .kind = kind};
    uint16_t pkey = (uint16_t)link;
    pair_key_add(&k, &pkey, sizeof pkey);
    return k;
}

void pair_key_add_port(struct pair_key *k, struct port port)
{
    uint64_t id = port_on(port, 0).id;
    pair_key_add(k, &id, sizeof id);
}

static void collect(gpointer key, gpointer value, gpointer keys)
{
    (void)value;
    g_ptr_array_add(keys, key);
}

/*
 * Moves the requests of one interface to another after the model found that both are on one subnet.
 * A request on one may then be answered on the other.
 */
static void merge(struct merge m)
{
    GPtrArray *keys = g_ptr_array_new();
    wmem_map_foreach(pairs, collect, keys);
    for (unsigned i = 0; i < keys->len; i++) {
        struct pair_key *k = g_ptr_array_index(keys, i);
        if (k->subnet != m.from)
            continue;
        struct pair *p = wmem_map_remove(pairs, k);
        k->subnet = m.to;
        const struct pair *same = wmem_map_lookup(pairs, k);
        if (!same || same->request < p->request)
            wmem_map_insert(pairs, k, p);
    }
    g_ptr_array_unref(keys);
}

static unsigned merged;

static void follow_merges(void)
{
    const struct fabric_facts *f = state_facts();
    while (merged < f->merged)
        merge(f->merges[merged++]);
}

static void forget(void)
{
    merged = 0;
}

static struct frame_pairs *frame_pairs(packet_info *pinfo, bool make)
{
    struct frame_pairs *fp = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_PAIRS);
    if (!fp && make) {
        fp = wmem_new0(wmem_file_scope(), struct frame_pairs);
        p_add_proto_data(wmem_file_scope(), pinfo, proto_ipoib, DATA_PAIRS, fp);
    }
    return fp;
}

/*
 * A retransmitted request counts as a new request: the response time is measured from the last one.
 */
void pair_request(packet_info *pinfo, const struct pair_key *k, uint32_t what)
{
    if (pinfo->fd->visited)
        return;
    follow_merges();
    struct pair *p = wmem_new0(wmem_file_scope(), struct pair);
    p->key = *k;
    p->request = pinfo->num;
    p->asked = pinfo->abs_ts;
    p->what = what;
    wmem_map_insert(pairs, &p->key, p); /* the map keeps an existing key until the file is closed */
    frame_pairs(pinfo, true)->asks = p;
}

void pair_response(packet_info *pinfo, const struct pair_key *k)
{
    if (pinfo->fd->visited)
        return;
    follow_merges();
    struct pair *p = wmem_map_lookup(pairs, k);
    if (!p)
        return;
    if (!p->response)
        p->response = pinfo->num;
    frame_pairs(pinfo, true)->answers = p;
}

bool pair_is_known(packet_info *pinfo)
{
    return frame_pairs(pinfo, false) != NULL;
}

uint32_t pair_answers_what(packet_info *pinfo)
{
    const struct frame_pairs *fp = frame_pairs(pinfo, false);
    return fp && fp->answers ? fp->answers->what : 0;
}

void pair_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb)
{
    const struct frame_pairs *fp = frame_pairs(pinfo, false);
    if (!fp)
        return;
    if (fp->asks && fp->asks->response)
        proto_item_set_generated(
            proto_tree_add_uint(tree, hf_response_in, tvb, 0, 0, fp->asks->response));
    if (fp->answers) {
        nstime_t dt;
        nstime_delta(&dt, &pinfo->abs_ts, &fp->answers->asked);
        proto_item_set_generated(
            proto_tree_add_uint(tree, hf_response_to, tvb, 0, 0, fp->answers->request));
        proto_item_set_generated(proto_tree_add_time(tree, hf_time, tvb, 0, 0, &dt));
    }
}

void pair_register(void)
{
    static hf_register_info hf[] = {
        {&hf_response_in,
         {"Response in", "ipoib.response_in", FT_FRAMENUM, BASE_NONE,
          FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE), 0, NULL, HFILL}},
        {&hf_response_to,
         {"Response to", "ipoib.response_to", FT_FRAMENUM, BASE_NONE,
          FRAMENUM_TYPE(FT_FRAMENUM_REQUEST), 0, NULL, HFILL}},
        {&hf_time,
         {"Time from the request", "ipoib.time", FT_RELATIVE_TIME, BASE_NONE, NULL, 0, NULL,
          HFILL}},
    };
    proto_register_field_array(proto_ipoib, hf, array_length(hf));
    register_cleanup_routine(forget);
    pairs = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), key_hash, key_equal);
}
