/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/event_table.h"

#include "model/hash.h"

static const struct {
    const char *name, *title;
} kinds[EVENT_KINDS] = {
#define EVENT(symbol, name, title) {name, title},
#include "analysis/events.def"
#undef EVENT
};

const char *event_name(enum event_kind kind)
{
    return kinds[kind].name;
}

enum event_kind event_find(const char *name)
{
    int kind = 0;
    while (kind < EVENT_KINDS && !g_str_equal(kinds[kind].name, name))
        kind++;
    return (enum event_kind)kind;
}

const char *event_title(enum event_kind kind)
{
    return kinds[kind].title;
}

static enum event_rank rank_of_kind(enum event_kind kind)
{
    switch (kind) {
    case EVENT_TWO_FABRICS:
        return RANK_FILE;
    case EVENT_HOST_SILENT:
    case EVENT_REJOIN_MISSING:
    case EVENT_GROUP_UNHEARD:
    case EVENT_PATH_CUT:
    case EVENT_DUPLICATE_LID:
    case EVENT_WRONG_PSN:
        return RANK_ROOT;
    case EVENT_TRAP:
    case EVENT_PORT_STATE:
    case EVENT_MOVED:
    case EVENT_SM_CHANGED:
        return RANK_CHANGE;
    case EVENT_ARP_UNANSWERED:
    case EVENT_ND_UNANSWERED:
    case EVENT_ECHO_UNANSWERED:
    case EVENT_DHCP_UNANSWERED:
    case EVENT_TCP_UNANSWERED:
    case EVENT_LARGE_LOST:
    case EVENT_RETRANSMISSION:
        return RANK_CONSEQUENCE;
    default:
        return RANK_CAUSE;
    }
}

enum event_rank event_rank(const struct link_event *e)
{
    return e->decisive ? RANK_ROOT : rank_of_kind(e->kind);
}

char *event_comment(const struct link_event *e)
{
    char who[SENDER_TEXT_SIZE];
    sender_text(who, &e->who);
    return g_strdup_printf("event: %s: %s%s%s; see: ipoib-check --explain %s", event_name(e->kind),
                           who, *who ? ": " : "", e->what, event_name(e->kind));
}

struct event_entry {
    struct event_key key; /* must be first */
    struct link_event event;
};

struct event_table {
    GHashTable *by_key; /* a set */
    GPtrArray *all;
    struct undone *undone;
};

static guint key_hash(gconstpointer key)
{
    return hash_bytes(key, sizeof(struct event_key));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct event_key)) == 0;
}

static void entry_free(gpointer entry)
{
    g_free(((struct event_entry *)entry)->event.what);
    g_free(entry);
}

struct event_table *event_table_new(struct undone *undone)
{
    struct event_table *t = g_new0(struct event_table, 1);
    t->by_key = g_hash_table_new(key_hash, key_equal);
    t->all = g_ptr_array_new_with_free_func(entry_free);
    t->undone = undone;
    return t;
}

void event_table_free(struct event_table *t)
{
    if (!t)
        return;
    g_hash_table_destroy(t->by_key);
    g_ptr_array_unref(t->all);
    g_free(t);
}

unsigned event_table_count(const struct event_table *t)
{
    return t ? t->all->len : 0;
}

const struct link_event *event_table_at(const struct event_table *t, unsigned index)
{
    return &((const struct event_entry *)t->all->pdata[index])->event;
}

struct link_event *event_table_find(struct event_table *t, const struct event_key *key)
{
    struct event_entry *entry = g_hash_table_lookup(t->by_key, key);
    return entry ? &entry->event : NULL;
}

static struct event_entry *entry_of(const struct link_event *e)
{
    return (struct event_entry *)((char *)e - offsetof(struct event_entry, event));
}

struct link_event *event_table_own(struct event_table *t, const struct link_event *e)
{
    return event_table_find(t, &entry_of(e)->key);
}

void event_table_remove(struct event_table *t, struct link_event *e)
{
    struct event_entry *entry = entry_of(e);
    g_hash_table_remove(t->by_key, entry);
    g_ptr_array_remove(t->all, entry);
}

struct link_event *event_table_add(struct event_table *t, const struct event_key *key)
{
    if (t->all->len >= EVENTS_MAX) {
        undone_refuse(t->undone, UNDONE_EVENTS);
        return NULL;
    }
    struct event_entry *entry = g_new0(struct event_entry, 1);
    entry->key = *key;
    entry->event.kind = (enum event_kind)key->kind;
    g_hash_table_add(t->by_key, entry);
    g_ptr_array_add(t->all, entry);
    return &entry->event;
}
