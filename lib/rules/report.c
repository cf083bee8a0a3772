/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "rules/report.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/mix.h"
#include "model/subnet.h"
#include "wire/lladdr.h"
#include "wire/pkey.h"

const char truncated_by_capture[] = "the packet was truncated by the capture";

/*
 * The deduplication cache: sets of a few entries. If the set of a new entity is full, the number of
 * sets is doubled, up to a limit. Then the entity is refused: its findings are reported each time.
 * A fabric of 50,000 ports with a finding for each stays below the limit.
 */
enum { REPORTED_SETS = 1 << 11, REPORTED_SETS_MAX = 1 << 16, REPORTED_WAYS = 8 };

struct entry {
    uint64_t who, what; /* who 0: unused */
};

struct reported {
    struct entry *entries; /* of `sets` sets, a power of 2 */
    unsigned sets;
    bool has_rule[RULE_COUNT]; /* was a value of the rule ever entered? */
    struct undone *undone;
};

struct reported *reported_new(struct undone *undone)
{
    struct reported *t = g_new0(struct reported, 1);
    t->sets = REPORTED_SETS;
    t->entries = g_new0(struct entry, (gsize)t->sets * REPORTED_WAYS);
    t->undone = undone;
    return t;
}

void reported_free(struct reported *t)
{
    if (t)
        g_free(t->entries);
    g_free(t);
}

static uint64_t entity_hash(const struct reporter *r, enum rule_number rule, const struct entity *s)
{
    uint64_t h = mix_word(
        mix_word((uint64_t)rule << 32 | (uint64_t)s->kind << 16 | r->interface, 0),
        (uint64_t)s->number << 32 | s->other);
    if (s->bytes) {
        /* the flags of a link-layer address do not identify the entity */
        h = mix_word(h, be64(s->bytes + 4));
        h = mix_word(h, s->kind == ENTITY_ADDRESS ? be64(s->bytes + 12) : be64(s->bytes + 8));
        h = mix_word(h, s->kind == ENTITY_ADDRESS ? be24(s->bytes + 1) : be32(s->bytes));
    }
    if (s->group)
        h = mix_word(mix_word(h, be64(s->group)), be64(s->group + 8));
    return mix_word(h, h >> 32) | 1;
}

/* The first entry of the entity's set. */
static struct entry *set_of(const struct reported *t, uint64_t who)
{
    return t->entries + (who >> 40 & (t->sets - 1)) * REPORTED_WAYS;
}

/* who 0: an unused entry of the set; NULL: none. */
static struct entry *find_in_set(struct entry *set, uint64_t who)
{
    for (unsigned i = 0; i < REPORTED_WAYS; i++)
        if (set[i].who == who)
            return &set[i];
    return NULL;
}

static struct entry *find_entry(struct reported *t, uint64_t who)
{
    return find_in_set(set_of(t, who), who);
}

/* The entities of a set go to two sets, so each of them finds room. */
static void double_sets(struct reported *t)
{
    const gsize n = (gsize)t->sets * REPORTED_WAYS;
    struct entry *old = t->entries;
    t->entries = g_new0(struct entry, 2 * n);
    t->sets *= 2;
    for (gsize i = 0; i < n; i++)
        if (old[i].who)
            *find_in_set(set_of(t, old[i].who), 0) = old[i];
    g_free(old);
}

/* NULL: the set is full. */
static struct entry *make_entry(struct reported *t, uint64_t who)
{
    struct entry *e = find_in_set(set_of(t, who), 0);
    while (!e && t->sets < REPORTED_SETS_MAX) {
        double_sets(t);
        e = find_in_set(set_of(t, who), 0);
    }
    if (!e)
        undone_refuse(t->undone, UNDONE_REPORTED);
    return e;
}

/*
 * Findings of a corrupt packet do not enter the cache: they must not suppress the same finding in
 * an intact packet.
 */
static bool reporter_is_corrupt(const struct reporter *r)
{
    return r->corrupt && r->corrupt(r->user);
}

bool is_new(const struct reporter *r, enum rule_number rule, const struct entity *s, uint64_t value)
{
    if (!r->reported)
        return true;
    uint64_t who = entity_hash(r, rule, s);
    struct entry *e = find_entry(r->reported, who);
    if (e && e->what == value)
        return false;
    if (reporter_is_corrupt(r))
        return true;
    if (!e)
        e = make_entry(r->reported, who);
    if (!e)
        return true;
    *e = (struct entry){who, value};
    r->reported->has_rule[rule] = true;
    return true;
}

bool is_reported(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 uint64_t value)
{
    if (!r->reported || !r->reported->has_rule[rule])
        return false;
    const struct entry *e = find_entry(r->reported, entity_hash(r, rule, s));
    return e && e->what == value;
}

/* Apart, so that it takes no registers from the many passes that need no look into the cache. */
__attribute__((noinline)) void forget_reported(const struct reporter *r, enum rule_number rule,
                                               const struct entity *s)
{
    struct entry *e = find_entry(r->reported, entity_hash(r, rule, s));
    if (e && !reporter_is_corrupt(r))
        e->who = 0;
}

/* ---- entities */

static bool same_gid(const uint8_t *a, const uint8_t *b)
{
    return a == b || (a && b && memcmp(a, b, GID_SIZE) == 0);
}

/* Compares two link-layer addresses without the flags, which do not identify the interface. */
static bool same_address(const uint8_t *a, const uint8_t *b)
{
    return a == b || (a && b && memcmp(a + 1, b + 1, LLADDR_SIZE - 1) == 0);
}

bool entity_same(const struct entity *a, const struct entity *b)
{
    return a->kind == b->kind && a->number == b->number && a->other == b->other &&
           (a->kind == ENTITY_ADDRESS ? same_address : same_gid)(a->bytes, b->bytes) &&
           same_gid(a->group, b->group);
}

static const char *entity_text(const struct entity *s, char *buf, size_t size)
{
    char gid[INET6_ADDRSTRLEN];
    switch (s->kind) {
    case ENTITY_GROUP:
        snprintf(buf, size, "group %s", inet_ntop(AF_INET6, s->bytes, gid, sizeof gid));
        break;
    case ENTITY_ADDRESS:
        snprintf(buf, size, "address flags 0x%02x, QPN 0x%06x, GID %s", s->bytes[0],
                 be24(s->bytes + 1), inet_ntop(AF_INET6, s->bytes + 4, gid, sizeof gid));
        break;
    case ENTITY_PORT:
        if (s->bytes)
            snprintf(buf, size, "port %s", inet_ntop(AF_INET6, s->bytes, gid, sizeof gid));
        else
            snprintf(buf, size, "LID %u", s->number);
        break;
    case ENTITY_IP:
        snprintf(buf, size, "IP %s", inet_ntop(AF_INET6, s->bytes, gid, sizeof gid));
        break;
    case ENTITY_QP:
        snprintf(buf, size, "LID %u, QPN 0x%06x", s->number, s->other);
        break;
    case ENTITY_LINK:
        /* with the membership bit, as in configuration files */
        snprintf(buf, size, "P_Key 0x%04x", s->number | PKEY_MEMBERSHIP);
        break;
    case ENTITY_CONNECTION:
        snprintf(buf, size, "connection %u", s->number);
        break;
    case ENTITY_SUBNET:
        snprintf(buf, size, "the subnet");
        break;
    }
    return buf;
}

/* ---- reporting */

const char *hex_text(char text[HEX_TEXT], uint64_t value, unsigned digits)
{
    char *p = text;
    while (digits < 16 && value >> 4 * digits)
        digits++;
    *p++ = '0';
    *p++ = 'x';
    while (digits--)
        *p++ = "0123456789abcdef"[value >> 4 * digits & 0xf];
    *p = '\0';
    return text;
}

/* The bytes in the packet, as an offset from r->base. */
struct byte_range {
    uint32_t offset, length;
};

/* A field before the packet is shown as all bytes of its record that are in the packet. */
static struct byte_range place_in_split(const struct reporter *r, uint32_t at, uint32_t n)
{
    const struct split_record *split = r->split;
    bool before = n && at + n <= split->begun;
    uint32_t first = before ? split->begun : MAX(at, split->begun),
             end = before ? split->size : MAX(at + n, first);
    return (struct byte_range){(uint32_t)(split->rest - r->base) + first - split->begun,
                               end - first};
}

static struct byte_range place_of(const struct reporter *r, const uint8_t *p, uint32_t n)
{
    if (!p || !r->base)
        return (struct byte_range){0, p ? n : 0};
    const struct split_record *split = r->split;
    if (split && p >= split->copy && p < split->copy + split->size)
        return place_in_split(r, (uint32_t)(p - split->copy), n);
    return (struct byte_range){(uint32_t)(p - r->base), n};
}

static void report_finding(const struct reporter *r, enum rule_number rule, enum outcome outcome,
                           const struct entity *s, const uint8_t *p, uint32_t n,
                           const char *expected, const char *actual)
{
    char entity[96] = "";
    struct byte_range place = place_of(r, p, n);
    struct finding f = {.rule = rule,
                        .outcome = outcome,
                        .offset = place.offset,
                        .length = place.length,
                        .expected = expected,
                        .actual = actual,
                        .entity = s ? entity_text(s, entity, sizeof entity) : "",
                        .reason = "",
                        .sender = r->sender,
                        .frame = r->frame,
                        .doubt = r->doubt,
                        .value = r->value,
                        .name = r->name,
                        .held = r->held,
                        .stands = r->proved_frame != 0,
                        .proved_frame = r->proved_frame};
    r->report(r->user, &f);
}

__attribute__((noinline)) static void report_uncounted_pass(const struct reporter *r,
                                                            enum rule_number rule)
{
    struct finding f = {.rule = rule,
                        .outcome = OUTCOME_PASS,
                        .expected = "",
                        .actual = "",
                        .entity = "",
                        .reason = ""};
    r->report(r->user, &f);
}

void report_pass(const struct reporter *r, enum rule_number rule)
{
    if (r->passes)
        r->passes[rule]++;
    else
        report_uncounted_pass(r, rule);
}

void report_inconclusive(const struct reporter *r, enum rule_number rule, const uint8_t *p,
                         const char *why)
{
    report_finding(r, rule, OUTCOME_INCONCLUSIVE, NULL, p, 0, "", why);
}

void report_fail(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                 const char *expected, const char *actual)
{
    report_finding(r, rule, OUTCOME_FAIL, NULL, p, n, expected, actual);
}

static uint64_t big_endian(const uint8_t *p, uint32_t n)
{
    uint64_t v = 0;
    while (n--)
        v = v << 8 | *p++;
    return v;
}

struct reporter reporter_of_number(const struct reporter *r, const uint64_t *seen)
{
    struct reporter of = *r;
    of.value = seen;
    return of;
}

static void fail_values(const struct reporter *r, enum rule_number rule, const struct entity *s,
                        const uint8_t *p, uint32_t n, uint64_t wanted, uint64_t seen)
{
    char expected[HEX_TEXT], actual[HEX_TEXT];
    const struct reporter of = reporter_of_number(r, &seen);
    report_finding(&of, rule, OUTCOME_FAIL, s, p, n, hex_text(expected, wanted, 2 * n),
                   hex_text(actual, seen, 2 * n));
}

void expect_value(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                  uint64_t value)
{
    uint64_t seen = big_endian(p, n);
    if (seen == value)
        report_pass(r, rule);
    else
        fail_values(r, rule, NULL, p, n, value, seen);
}

void expect_number(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                   uint64_t value)
{
    char expected[24], actual[24];
    uint64_t seen = big_endian(p, n);
    if (seen == value) {
        report_pass(r, rule);
        return;
    }
    snprintf(expected, sizeof expected, "%" PRIu64, value);
    snprintf(actual, sizeof actual, "%" PRIu64, seen);
    const struct reporter of = reporter_of_number(r, &seen);
    report_fail(&of, rule, p, n, expected, actual);
}

void expect_ipv4(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t value)
{
    char expected[INET_ADDRSTRLEN], actual[INET_ADDRSTRLEN];
    uint8_t wanted[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                        (uint8_t)value};
    const uint64_t seen = be32(p);
    const struct reporter of = reporter_of_number(r, &seen);
    if (seen == value)
        report_pass(r, rule);
    else
        report_fail(&of, rule, p, sizeof wanted,
                    inet_ntop(AF_INET, wanted, expected, sizeof expected),
                    inet_ntop(AF_INET, p, actual, sizeof actual));
}

void expect_that(const struct reporter *r, enum rule_number rule, bool holds, const uint8_t *p,
                 uint32_t n, const char *expected, const char *actual)
{
    if (holds)
        report_pass(r, rule);
    else
        report_fail(r, rule, p, n, expected, actual);
}

void report_pass_about(const struct reporter *r, enum rule_number rule, const struct entity *s)
{
    if (r->reported && r->reported->has_rule[rule]) /* most rules never have an entry */
        forget_reported(r, rule, s);
    report_pass(r, rule);
}

void report_fail_about(const struct reporter *r, enum rule_number rule, const struct entity *s,
                       const uint8_t *p, uint32_t n, const char *expected, const char *actual)
{
    report_finding(r, rule, OUTCOME_FAIL, s, p, n, expected, actual);
}

bool report_counts(const struct reporter *r, const struct finding *f)
{
    return !r->counts || r->counts(r->user, f);
}

void report_unproved(const struct reporter *r, enum rule_number rule, const struct entity *s,
                     const char *expected, const char *actual, const char *why)
{
    char entity[96];
    struct finding f = {.rule = rule,
                        .outcome = OUTCOME_UNPROVED,
                        .expected = expected,
                        .actual = actual,
                        .reason = why,
                        .sender = r->sender,
                        .frame = r->frame,
                        .value = r->value,
                        .name = r->name};
    if (!report_counts(r, &f))
        return;
    f.entity = entity_text(s, entity, sizeof entity);
    r->report(r->user, &f);
}

bool report_suspected(const struct reporter *r, const struct entity *s, const struct finding *f)
{
    char entity[96];
    struct finding suspected = *f;
    if (!report_counts(r, f))
        return false;
    suspected.outcome = OUTCOME_SUSPECTED;
    suspected.entity = entity_text(s, entity, sizeof entity);
    r->report(r->user, &suspected);
    return true;
}

void report_fail_value(const struct reporter *r, enum rule_number rule, const struct entity *s,
                       const uint8_t *p, uint8_t wanted, uint8_t seen)
{
    fail_values(r, rule, s, p, 1, wanted, seen);
}

void expect_same(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 const uint8_t *p, uint32_t n, uint64_t wanted, uint64_t seen)
{
    if (wanted == seen)
        report_pass_about(r, rule, s);
    else if (is_new(r, rule, s, seen))
        fail_values(r, rule, s, p, n, wanted, seen);
}

void expect_about(const struct reporter *r, enum rule_number rule, const struct entity *s,
                  bool holds, const uint8_t *p, uint32_t n, const char *expected,
                  const char *actual)
{
    if (holds)
        report_pass_about(r, rule, s);
    else if (is_new(r, rule, s, (uintptr_t)actual))
        report_fail_about(r, rule, s, p, n, expected, actual);
}

void report_note(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 uint64_t value, const uint8_t *p, uint32_t n, const char *format, ...)
{
    char actual[128];
    va_list args;
    if (!is_new(r, rule, s, value))
        return;
    va_start(args, format);
    vsnprintf(actual, sizeof actual, format, args);
    va_end(args);
    report_finding(r, rule, OUTCOME_NOTED, s, p, n, "", actual);
}
