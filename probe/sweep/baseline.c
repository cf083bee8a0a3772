/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An earlier report of a sweep. See baseline.h. The report may come from another host. */
#include "probe/sweep/baseline.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fail.h"
#include "cli/plain.h"
#include "compat/glib.h"
#include "model/hash.h"
#include "probe/link/hostif.h"
#include "wire/view.h"

enum { LARGEST = 256 << 20 }; /* bytes: 65,536 hosts with all their results have less */

struct sweep_baseline {
    char *name;
    GHashTable *hosts; /* struct swept_host by address */
};

static void free_host(gpointer host)
{
    swept_host_clear(host);
    g_free(host);
}

static char *plain_member(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? plain_dup(text) : NULL;
}

static enum verdict_status status_of(const json_t *o)
{
    const char *text = json_string_value(json_object_get(o, "status"));
    return g_strcmp0(text, "ok") == 0      ? VERDICT_CONFORMANT
           : g_strcmp0(text, "fault") == 0 ? VERDICT_VIOLATED
                                           : VERDICT_UNJUDGED;
}

/* Returns false if it is no address. */
static bool read_ip(const char *text, uint8_t ip[16])
{
    memset(ip, 0, 16);
    return text && (inet_pton(AF_INET, text, ip) == 1 || inet_pton(AF_INET6, text, ip) == 1);
}

static bool add_host(struct sweep_baseline *b, const json_t *o)
{
    const char *address = json_string_value(json_object_get(o, "address"));
    struct swept_host h = {.status = status_of(o)};
    if (!read_ip(address, h.ip))
        return false;
    h.address = g_strdup(address);
    h.gid = plain_member(o, "gid");
    h.name = plain_member(o, "name");
    h.cause = plain_member(o, "cause");
    h.lid = (unsigned)json_integer_value(json_object_get(o, "lid"));
    g_hash_table_replace(b->hosts, h.address, compat_memdup(&h, sizeof h));
    return true;
}

static bool add_hosts(struct sweep_baseline *b, const json_t *report)
{
    const json_t *targets = json_object_get(json_object_get(report, "summary"), "targets");
    const json_t *target, *host;
    bool any = false, good = true;
    size_t i, k;
    json_array_foreach(targets, i, target)
    {
        const json_t *hosts = json_object_get(target, "hosts");
        any |= json_is_array(hosts);
        json_array_foreach(hosts, k, host) good = good && add_host(b, host);
    }
    return any && good;
}

static json_t *load(const char *path, GError **error)
{
    json_error_t why;
    struct stat st;
    FILE *file = fopen(path, "re");
    json_t *report = NULL;
    if (!file)
        fail_with(error, "--baseline %s: %s", path, strerror(errno));
    else if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > LARGEST)
        fail_with(error, "--baseline %s: it is no file, or larger than %d MiB", path,
                  LARGEST >> 20);
    else if (!(report = json_loadf(file, JSON_REJECT_DUPLICATES, &why)))
        fail_with(error, "--baseline %s: it is no JSON report: line %d", path, why.line);
    if (file)
        fclose(file);
    return report;
}

struct sweep_baseline *sweep_baseline_open(const char *path, GError **error)
{
    json_t *report = load(path, error);
    if (!report)
        return NULL;
    struct sweep_baseline *b = g_new0(struct sweep_baseline, 1);
    b->name = plain_dup(path);
    b->hosts = g_hash_table_new_full(hash_string, g_str_equal, NULL, free_host);
    bool good = add_hosts(b, report);
    json_decref(report);
    if (good)
        return b;
    sweep_baseline_free(b);
    fail_with(error, "--baseline %s: it has no hosts of a sweep", path);
    return NULL;
}

void sweep_baseline_free(struct sweep_baseline *b)
{
    if (!b)
        return;
    g_hash_table_unref(b->hosts);
    g_free(b->name);
    g_free(b);
}

const struct swept_host *sweep_baseline_host(const struct sweep_baseline *b, const char *address)
{
    return g_hash_table_lookup(b->hosts, address);
}

/* ---- comparing */

static void add_part(GString *what, const char *name, const char *now, const char *before)
{
    g_string_append_printf(what, "%s%s %s, was %s", what->len ? "; " : "", name,
                           now ? now : "unknown", before ? before : "unknown");
}

static const char *result_text(const struct swept_host *h)
{
    return h->cause ? h->cause : h->status == VERDICT_CONFORMANT ? "ok" : "not judged";
}

/* What one side does not know is no change. */
static char *difference(const struct swept_host *now, const struct swept_host *before)
{
    GString *what = g_string_new(NULL);
    char lids[2][16];
    g_snprintf(lids[0], sizeof lids[0], "%u", now->lid);
    g_snprintf(lids[1], sizeof lids[1], "%u", before->lid);
    if (now->name && before->name && strcmp(now->name, before->name) != 0)
        add_part(what, "host", now->name, before->name);
    if (before->gid && strcmp(now->gid, before->gid) != 0)
        add_part(what, "GID", now->gid, before->gid);
    if (now->lid && before->lid && now->lid != before->lid)
        add_part(what, "LID", lids[0], lids[1]);
    if (now->status != before->status || g_strcmp0(now->cause, before->cause) != 0)
        add_part(what, "result", result_text(now), result_text(before));
    return g_string_free(what, what->len == 0);
}

static void add_change(struct swept *s, enum swept_kind kind, const struct swept_host *h,
                       char *what)
{
    swept_add_change(s, (struct swept_change){.kind = kind,
                                              .address = g_strdup(h->address),
                                              .name = g_strdup(h->name),
                                              .what = what});
}

static bool is_in(const struct target_option *t, const struct swept_host *h)
{
    unsigned at = t->ipv6 ? 12 : 0;
    return (strchr(h->address, ':') != NULL) == t->ipv6 && memcmp(h->ip, t->ip, at) == 0 &&
           be32(h->ip + at) - be32(t->ip + at) < t->n;
}

static int by_address(gconstpointer a, gconstpointer b)
{
    const struct swept_host *x = *(struct swept_host *const *)a,
                            *y = *(struct swept_host *const *)b;
    return memcmp(x->ip, y->ip, sizeof x->ip);
}

/* This host's own addresses do not reply: the report may be that of another host. */
static bool is_own(const struct swept_host *h)
{
    char *interface = host_has_address(strchr(h->address, ':') != NULL, h->ip);
    bool own = interface != NULL;
    g_free(interface);
    return own;
}

static void add_gone(const struct sweep_baseline *b, struct swept *s, const struct target_option *t,
                     GHashTable *found)
{
    GPtrArray *gone = g_ptr_array_new();
    GHashTableIter it;
    gpointer host;
    g_hash_table_iter_init(&it, b->hosts);
    while (g_hash_table_iter_next(&it, NULL, &host))
        if (is_in(t, host) && !g_hash_table_contains(found, ((struct swept_host *)host)->address) &&
            !is_own(host))
            g_ptr_array_add(gone, host);
    g_ptr_array_sort(gone, by_address);
    for (guint i = 0; i < gone->len; i++)
        add_change(s, SWEPT_GONE, gone->pdata[i], NULL);
    g_ptr_array_unref(gone);
}

static void compare_host(const struct sweep_baseline *b, struct swept *s,
                         const struct swept_host *now)
{
    const struct swept_host *before = g_hash_table_lookup(b->hosts, now->address);
    char *what = before ? difference(now, before) : NULL;
    if (!before)
        add_change(s, SWEPT_NEW, now, NULL);
    else if (what)
        add_change(s, SWEPT_CHANGED, now, what);
}

void sweep_baseline_compare(const struct sweep_baseline *b, struct swept *s,
                            const struct target_option *t, bool complete)
{
    GHashTable *found = g_hash_table_new(hash_string, g_str_equal);
    s->baseline = g_strdup(b->name);
    s->incomplete = !complete;
    for (guint i = 0; i < s->hosts->len; i++) {
        const struct swept_host *now = &g_array_index(s->hosts, struct swept_host, i);
        g_hash_table_add(found, now->address);
        compare_host(b, s, now);
    }
    if (complete)
        add_gone(b, s, t, found);
    g_hash_table_unref(found);
}
