/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/integrity.h"

#include "model/hash.h"
#include "model/port.h"
#include "model/slab.h"
#include "model/write.h"
#include "wire/icrc.h"
#include "wire/vcrc.h"

/* Direct-mapped cache of recent sources; it saves most hash table lookups. */
enum { RECENT = 256 };

struct icrc_source {
    uint64_t id; /* must be first: the key */
    uint8_t tries;
    bool shown_right;
    uint8_t vcrc_tries, vcrc_rights;
};

struct sources {
    GHashTable *known; /* a set of struct icrc_source */
    struct slab slab;
    unsigned limit;
    uint64_t without; /* packets that were not truncated, of which no CRC was captured */
    struct undone *undone;
    struct icrc_source *recent[RECENT];
};

struct sources *sources_new(unsigned limit, struct undone *undone)
{
    struct sources *s = g_new0(struct sources, 1);
    s->known = g_hash_table_new(hash_uint64, g_int64_equal);
    slab_init(&s->slab, sizeof(struct icrc_source));
    s->limit = limit;
    s->undone = undone;
    return s;
}

void sources_free(struct sources *s)
{
    if (!s)
        return;
    g_hash_table_destroy(s->known);
    slab_clear(&s->slab);
    g_free(s);
}

static struct icrc_source *find_source(struct sources *s, struct port port)
{
    struct port_number key = port_number(&port, 0);
    struct icrc_source **slot = &s->recent[port_number_place(&key) % RECENT], *recent = *slot;
    if (recent && recent->id == port.id)
        return recent;
    struct icrc_source *found = g_hash_table_lookup(s->known, &port.id);
    if (found)
        *slot = found;
    return found;
}

/* NULL: table full. The entries of whole interfaces are not limited: they are few. */
static struct icrc_source *find_or_add(struct sources *s, struct port port)
{
    struct icrc_source *found = find_source(s, port);
    if (found)
        return found;
    if (s->slab.count >= s->limit && port_kind(port) != PORT_NONE) {
        undone_refuse(s->undone, UNDONE_SOURCES);
        return NULL;
    }
    found = slab_add(&s->slab);
    found->id = port.id;
    g_hash_table_add(s->known, found);
    return found;
}

/* A source entry for the interface as a whole, next to those of its ports. */
static struct port all_on(uint16_t interface)
{
    return port_make(PORT_NONE, interface, 0);
}

static bool interface_has_shown_right(struct sources *s, uint16_t interface)
{
    const struct icrc_source *all = find_source(s, all_on(interface));
    return all && all->shown_right;
}

static void show_right(struct sources *s, uint16_t interface, struct icrc_source *from)
{
    from->shown_right = true;
    find_or_add(s, all_on(interface))->shown_right = true;
}

/* *from: NULL if the source is not known yet; set if the packet has an ICRC. */
static bool sees_icrc(struct sources *s, uint16_t interface, struct port port,
                      struct icrc_source **from, struct view bytes, const struct ib_packet *ib)
{
    struct icrc_source *known = *from;
    if (known && (known->shown_right || known->tries == SOURCE_TRIES))
        return known->shown_right;
    enum icrc icrc = icrc_check(bytes, ib);
    if (icrc == ICRC_NOT_THERE) {
        s->without += bytes.cap == bytes.len && bytes.len + ICRC_SIZE == ib->length;
        return false;
    }
    *from = known = find_or_add(s, port);
    if (!known) /* table full: as for the first packet of a source */
        return interface_has_shown_right(s, interface);
    known->tries++;
    if (icrc == ICRC_RIGHT)
        show_right(s, interface, known);
    return known->shown_right || (known->tries == 1 && interface_has_shown_right(s, interface));
}

uint64_t sources_packets_without(const struct sources *s)
{
    return g_hash_table_size(s->known) ? 0 : s->without;
}

unsigned sources_without_right(const struct sources *s)
{
    GHashTableIter i;
    gpointer key;
    unsigned n = 0;
    g_hash_table_iter_init(&i, s->known);
    while (g_hash_table_iter_next(&i, &key, NULL)) {
        const struct icrc_source *from = key;
        n += from->tries && !from->shown_right;
    }
    return n;
}

bool sources_share(struct sources *s, uint16_t interface, const struct ib_packet *ib)
{
    struct icrc_source *from = find_source(s, port_gid(interface, ib->sgid));
    const struct icrc_source *port = find_source(s, port_lid(interface, ib->slid));
    bool shared = from && port && port->shown_right;
    if (shared)
        from->shown_right = true;
    return shared;
}

/* Wrong VCRCs of a source, and none that is right, before they show anything. */
enum { VCRCS_WRONG = 8 };

/* The interfaces on which a source has shown right VCRCs: a set. */
static GHashTable *interfaces_with_vcrcs(const struct sources *s)
{
    GHashTable *out = g_hash_table_new(NULL, NULL);
    GHashTableIter i;
    gpointer key;
    g_hash_table_iter_init(&i, s->known);
    while (g_hash_table_iter_next(&i, &key, NULL)) {
        const struct icrc_source *from = key;
        if (from->vcrc_rights == VCRCS_SHOWN)
            g_hash_table_add(out, GUINT_TO_POINTER(port_interface((struct port){from->id}) + 1u));
    }
    return out;
}

/* Each port has a LID, and perhaps a GID: its LID counts. Ports without one share the permissive
 * LID. */
static bool lacks_vcrc(const struct icrc_source *from, GHashTable *interfaces)
{
    const struct port port = {from->id};
    return from->vcrc_tries >= VCRCS_WRONG && !from->vcrc_rights && port_kind(port) == PORT_LID &&
           port_to_lid(port) != LID_PERMISSIVE &&
           g_hash_table_contains(interfaces, GUINT_TO_POINTER(port_interface(port) + 1u));
}

unsigned sources_without_vcrc(const struct sources *s)
{
    GHashTable *interfaces = interfaces_with_vcrcs(s);
    GHashTableIter i;
    gpointer key;
    unsigned n = 0;
    g_hash_table_iter_init(&i, s->known);
    while (g_hash_table_iter_next(&i, &key, NULL))
        n += lacks_vcrc(key, interfaces);
    g_hash_table_destroy(interfaces);
    return n;
}

/* The frame continues after the VCRC, so the LRH's length, which locates the CRCs, is wrong. */
static bool is_longer(struct view bytes, const struct ib_packet *ib)
{
    return bytes.len > ib->length + VCRC_SIZE;
}

static bool sees_vcrc(struct icrc_source *from, struct view bytes, const struct ib_packet *ib)
{
    if (from->vcrc_rights == VCRCS_SHOWN || from->vcrc_tries == SOURCE_TRIES)
        return from->vcrc_rights == VCRCS_SHOWN;
    /* if all frames are longer, the source adds data after each packet */
    enum vcrc vcrc = is_longer(bytes, ib) ? VCRC_WRONG : vcrc_check(bytes, ib);
    from->vcrc_tries += vcrc != VCRC_NOT_THERE;
    from->vcrc_rights += vcrc == VCRC_RIGHT;
    return false;
}

struct crcs_count sources_see(struct sources *s, uint16_t interface, struct view bytes,
                              const struct ib_packet *ib)
{
    if (!ib->has_lrh)
        return (struct crcs_count){false, false};
    struct port port = ib->has_grh ? port_gid(interface, ib->sgid) : port_lid(interface, ib->slid);
    struct icrc_source *from = find_source(s, port);
    bool icrc = sees_icrc(s, interface, port, &from, bytes, ib);
    return (struct crcs_count){icrc, from && sees_vcrc(from, bytes, ib)};
}

enum integrity integrity_of(struct crcs_count counts, struct view bytes, const struct ib_packet *ib)
{
    if (!counts.icrc && !counts.vcrc)
        return INTEGRITY_UNKNOWN;
    if (counts.vcrc && is_longer(bytes, ib))
        return INTEGRITY_CORRUPT;
    enum icrc icrc = icrc_check(bytes, ib);
    if (icrc == ICRC_NOT_THERE)
        return INTEGRITY_UNKNOWN;
    if (counts.vcrc && vcrc_check(bytes, ib) == VCRC_WRONG)
        return INTEGRITY_CORRUPT;
    if (!counts.icrc)
        return INTEGRITY_UNKNOWN;
    return icrc == ICRC_RIGHT ? INTEGRITY_INTACT : INTEGRITY_CORRUPT;
}
