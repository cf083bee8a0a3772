/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disables competing heuristic dissectors of InfiniBand payloads and CM private data while an IPoIB
 * frame is dissected. Wireshark moves the heuristic that matched last to the front of its list, and
 * some match too much: SDP's accepts every connection whose Service-ID has bit 16 set, which
 * includes IPoIB connections to QPNs above 0xffff.
 */
#include "plugin/rivals.h"
#include "plugin/frame.h"
#include "plugin/protocol.h"

struct rivals {
    const char *list;
    GPtrArray *entries;  /* heur_dtbl_entry_t, without our own */
    GByteArray *enabled; /* their state before they were disabled */
};

static struct rivals payload = {.list = "infiniband.payload"};
static struct rivals *silent; /* list that is disabled now, or NULL */
static struct rivals private_data = {.list = "infiniband.mad.cm.private"};

static void collect(const gchar *list _U_, struct heur_dtbl_entry *entry, gpointer p)
{
    struct rivals *r = p;
    if (entry->protocol != find_protocol_by_id(proto_ipoib))
        g_ptr_array_add(r->entries, entry);
}

/* Runs at every file, because plugins and scripts may have been loaded or removed. */
static void recollect(struct rivals *r)
{
    if (!r->entries) {
        r->entries = g_ptr_array_new();
        r->enabled = g_byte_array_new();
    }
    g_ptr_array_set_size(r->entries, 0);
    heur_dissector_table_foreach(r->list, collect, r);
    g_byte_array_set_size(r->enabled, r->entries->len);
}

static void recollect_all(void)
{
    rivals_restore();
    recollect(&payload);
    recollect(&private_data);
}

struct rivals *rivals_of(const struct frame *f)
{
    if (f->p.verdict.class == PAYLOAD_IPOIB || f->p.verdict.class == PAYLOAD_PART)
        return &payload;
    return f->p.verdict.class == PAYLOAD_MAD && f->cm_is_ipoib ? &private_data : NULL;
}

void rivals_silence(struct rivals *r)
{
    rivals_restore();
    for (guint i = 0; r->entries && i < r->entries->len; i++) {
        heur_dtbl_entry_t *e = g_ptr_array_index(r->entries, i);
        r->enabled->data[i] = e->enabled;
        e->enabled = FALSE;
    }
    silent = r;
}

void rivals_restore(void)
{
    if (!silent)
        return;
    for (guint i = 0; silent->entries && i < silent->entries->len; i++)
        ((heur_dtbl_entry_t *)g_ptr_array_index(silent->entries, i))->enabled =
            silent->enabled->data[i];
    silent = NULL;
}

void rivals_register(void)
{
    register_init_routine(recollect_all);
}
