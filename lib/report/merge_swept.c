/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restores the hosts of a sweep from its JSON report. */
#include "report/merge_swept.h"

#include <arpa/inet.h>

#include "report/merge_read.h"
#include "report/swept_json.h"

/* An absent number is 0: unknown. */
static bool number_up_to(int64_t *n, const json_t *object, const char *key, int64_t most)
{
    const json_t *value = json_object_get(object, key);
    *n = json_integer_value(value);
    return (!value || json_is_integer(value)) && *n >= 0 && *n <= most;
}

static bool read_ip(const char *text, uint8_t ip[16])
{
    return text && (inet_pton(AF_INET, text, ip) == 1 || inet_pton(AF_INET6, text, ip) == 1);
}

static bool read_numbers(struct swept_host *h, const json_t *given)
{
    int64_t lid = 0, switch_lid = 0;
    bool good = number_up_to(&lid, given, "lid", UINT16_MAX) &&
                number_up_to(&switch_lid, given, "switch_lid", UINT16_MAX) &&
                number_up_to(&h->median_us, given, "median_us", INT64_MAX);
    h->lid = (unsigned)lid;
    h->switch_lid = (unsigned)switch_lid;
    return good;
}

static bool read_host(struct swept *s, const json_t *given)
{
    const char *address = merge_string(given, "address"), *gid = merge_string(given, "gid");
    struct swept_host h = {.lid = 0};
    if (!read_ip(address, h.ip) || !gid || !read_numbers(&h, given) ||
        !swept_status_read(&h.status, merge_string(given, "status")))
        return false;
    g_array_append_val(s->hosts, h);
    struct swept_host *kept = &g_array_index(s->hosts, struct swept_host, s->hosts->len - 1);
    kept->address = g_strdup(address);
    kept->gid = g_strdup(gid);
    kept->name = g_strdup(merge_string(given, "name"));
    kept->cause = g_strdup(merge_string(given, "cause"));
    return true;
}

static bool read_hosts(struct swept *s, const json_t *list)
{
    json_t *one;
    size_t i;
    json_array_foreach(list, i, one) if (!read_host(s, one)) return false;
    return true;
}

static bool read_change(struct swept *s, const json_t *given)
{
    const char *kind = merge_string(given, "change"), *address = merge_string(given, "address");
    for (enum swept_kind k = 0; address && k < SWEPT_KINDS; k++) {
        if (g_strcmp0(kind, swept_kind_name(k)) != 0)
            continue;
        swept_add_change(s,
                         (struct swept_change){.kind = k,
                                               .address = g_strdup(address),
                                               .name = g_strdup(merge_string(given, "name")),
                                               .what = g_strdup(merge_string(given, "what")),
                                               .advice = g_strdup(merge_string(given, "advice"))});
        return true;
    }
    return false;
}

/* Only with --baseline. */
static bool read_baseline(struct swept *s, const json_t *given)
{
    const json_t *complete = json_object_get(given, "complete"),
                 *changes = json_object_get(given, "changes");
    json_t *one;
    size_t i;
    if (!given)
        return true;
    s->baseline = g_strdup(merge_string(given, "report"));
    s->incomplete = !json_is_true(complete);
    json_array_foreach(changes, i, one) if (!read_change(s, one)) return false;
    return s->baseline && json_is_boolean(complete) && json_is_array(changes);
}

struct swept *merge_swept(const json_t *entry)
{
    struct swept *s = swept_new();
    if (read_hosts(s, json_object_get(entry, "hosts")) &&
        read_baseline(s, json_object_get(entry, "baseline")))
        return s;
    swept_free(s);
    return NULL;
}
