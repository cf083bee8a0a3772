/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disables competing heuristic dissectors of InfiniBand payloads and CM private data while an IPoIB
 * frame is dissected. Wireshark moves the heuristic that matched last to the front of its list, and
 * some match too much: SDP's accepts every connection whose Service-ID has bit 16 set, which
 * includes IPoIB connections to QPNs above 0xffff.
 */
#include "plugin/competing.h"
#include "plugin/frame.h"
#include "plugin/protocol.h"

struct competing {
    const char *list;
    GPtrArray *entries; /* the heur_dtbl_entry_t that the user left enabled, without our own */
};

static struct competing payload = {.list = "infiniband.payload"};
static struct competing *silent; /* list that is disabled now, or NULL */
static struct competing private_data = {.list = "infiniband.mad.cm.private"};

static void collect(const gchar *list _U_, struct heur_dtbl_entry *entry, gpointer p)
{
    struct competing *r = p;
    if (entry->enabled && entry->protocol != find_protocol_by_id(proto_ipoib))
        g_ptr_array_add(r->entries, entry);
}

/*
 * Runs at every file and whenever Wireshark dissects the file again, because plugins and scripts
 * may have been loaded or removed, and the user may have enabled or disabled dissectors.
 */
static void recollect(struct competing *r)
{
    if (!r->entries)
        r->entries = g_ptr_array_new();
    g_ptr_array_set_size(r->entries, 0);
    heur_dissector_table_foreach(r->list, collect, r);
}

static void recollect_all(void)
{
    competing_restore();
    recollect(&payload);
    recollect(&private_data);
}

struct competing *competing_of(const struct frame *f)
{
    if (f->p.classification.class == PAYLOAD_IPOIB || f->p.classification.class == PAYLOAD_FRAGMENT)
        return &payload;
    return f->p.classification.class == PAYLOAD_MAD && f->cm_is_ipoib ? &private_data : NULL;
}

static void set_enabled(const struct competing *r, bool enabled)
{
    if (!r->entries)
        return;
    gpointer *entry = r->entries->pdata, *end = entry + r->entries->len;
    for (; entry < end; entry++)
        ((heur_dtbl_entry_t *)*entry)->enabled = enabled;
}

void competing_disable(struct competing *r)
{
    competing_restore();
    set_enabled(r, false);
    silent = r;
}

void competing_restore(void)
{
    if (!silent)
        return;
    set_enabled(silent, true);
    silent = NULL;
}

void competing_register(void)
{
    register_init_routine(recollect_all);
}
