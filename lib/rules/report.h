/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How checks report their findings. Private to rules/. */
#ifndef IPOIB_RULES_REPORT_H
#define IPOIB_RULES_REPORT_H

#include <glib.h>

#include "model/undone.h"
#include "rules/check.h"

/* ---- findings about a packet: reported every time */

void report_pass(const struct reporter *r, enum rule_number rule);
/* The reason of a rule that cannot be decided because the snaplen has truncated the packet. */
extern const char truncated_by_capture[];
/* The rule cannot be decided; why: the reason. */
void report_inconclusive(const struct reporter *r, enum rule_number rule, const uint8_t *p,
                         const char *why);
void report_fail(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                 const char *expected, const char *actual);

/*
 * The field of n bytes (at most 8, big-endian) at p must be value. The finding shows both values in
 * hexadecimal (keys, flags and reserved fields), in decimal (expect_number: lengths and registered
 * numbers), or as IPv4 addresses (expect_ipv4).
 */
void expect_value(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                  uint64_t value);
void expect_number(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                   uint64_t value);
void expect_ipv4(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t value);
/* "0x1234". snprintf() would take most of the time of a known deviation. */
enum { HEX_TEXT = 20 };
const char *hex_text(char text[HEX_TEXT], uint64_t value, unsigned digits);
/* The reporter of a finding about this observed number. */
struct reporter reporter_of_number(const struct reporter *r, const uint64_t *seen);
/* PASS if the condition holds, else FAIL with these texts. */
void expect_that(const struct reporter *r, enum rule_number rule, bool holds, const uint8_t *p,
                 uint32_t n, const char *expected, const char *actual);

/*
 * ---- findings about an entity: reported once, and again when the value changes or after a pass
 *
 * The deduplication cache looks up the entity, so s is never NULL. A finding that is about no
 * entity is reported by a function above.
 */

enum entity_kind {
    ENTITY_GROUP,
    ENTITY_ADDRESS,
    ENTITY_PORT,
    ENTITY_IP,
    ENTITY_QP,
    ENTITY_LINK,
    ENTITY_CONNECTION,
    ENTITY_SUBNET
};

/*
 * The entity that a finding is about. bytes: an MGID (16 bytes), a link-layer address (20 bytes),
 * a GID (16 bytes; ENTITY_PORT, NULL: the port is named by its LID) or an IPv6 address (16 bytes);
 * number and other: see the functions below.
 */
struct entity {
    enum entity_kind kind;
    const uint8_t *bytes;
    uint32_t number, other;
    const uint8_t *group; /* MGID, if it is about one of several groups of the entity; or NULL */
};

static inline struct entity entity_group(const uint8_t *mgid)
{
    return (struct entity){ENTITY_GROUP, mgid, 0, 0, NULL};
}

static inline struct entity entity_address(const uint8_t *lladdr)
{
    return (struct entity){ENTITY_ADDRESS, lladdr, 0, 0, NULL};
}

static inline struct entity entity_port(const uint8_t *gid, uint16_t lid)
{
    return (struct entity){ENTITY_PORT, gid, lid, 0, NULL};
}

static inline struct entity entity_ip(const uint8_t *ip)
{
    return (struct entity){ENTITY_IP, ip, 0, 0, NULL};
}

static inline struct entity entity_qp(uint16_t lid, uint32_t qpn)
{
    return (struct entity){ENTITY_QP, NULL, lid, qpn, NULL};
}

static inline struct entity entity_link(uint16_t pkey)
{
    return (struct entity){ENTITY_LINK, NULL, pkey & 0x7fffu, 0, NULL};
}

/* number: of the connection in this capture */
static inline struct entity entity_connection(uint32_t number)
{
    return (struct entity){ENTITY_CONNECTION, NULL, number, 0, NULL};
}

static inline struct entity entity_subnet(void)
{
    return (struct entity){ENTITY_SUBNET, NULL, 0, 0, NULL};
}

bool entity_same(const struct entity *a, const struct entity *b);

/*
 * value: the observed value. is_new() returns true, and enters the value into the deduplication
 * cache, unless this value is the last one reported of the entity. report_pass_about() removes the
 * entity from the cache. is_reported() only looks: is this value the last one reported?
 */
void report_pass_about(const struct reporter *r, enum rule_number rule, const struct entity *s)
    __attribute__((nonnull(3)));
void forget_reported(const struct reporter *r, enum rule_number rule, const struct entity *s);
bool is_new(const struct reporter *r, enum rule_number rule, const struct entity *s, uint64_t value)
    __attribute__((nonnull(3)));
bool is_reported(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 uint64_t value) __attribute__((nonnull(3)));
void report_fail_about(const struct reporter *r, enum rule_number rule, const struct entity *s,
                       const uint8_t *p, uint32_t n, const char *expected, const char *actual)
    __attribute__((nonnull(3)));

/* UNPROVED, if it counts. why: what it waits for, or what the capture lacks. */
void report_unproved(const struct reporter *r, enum rule_number rule, const struct entity *s,
                     const char *expected, const char *actual, const char *why)
    __attribute__((nonnull(3)));

/* Would the finding be reported, unproved or suspected as it is? It may lack its texts (NULL). */
bool report_counts(const struct reporter *r, const struct finding *f);
/*
 * SUSPECTED, of a packet: f has all but the entity's text and what the reporter knows. Returns
 * false if it does not count.
 */
bool report_suspected(const struct reporter *r, const struct entity *s, const struct finding *f)
    __attribute__((nonnull(2)));

/* FAIL: the byte at p has the value `seen`, not `wanted`; the finding shows both in hexadecimal. */
void report_fail_value(const struct reporter *r, enum rule_number rule, const struct entity *s,
                       const uint8_t *p, uint8_t wanted, uint8_t seen) __attribute__((nonnull(3)));

/*
 * PASS if the observed value `seen` is `wanted`, else FAIL. The finding shows both as fields of n
 * bytes in hexadecimal. p: the field in this packet; NULL: it is not in this packet.
 */
void expect_same(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 const uint8_t *p, uint32_t n, uint64_t wanted, uint64_t seen)
    __attribute__((nonnull(3)));
/* The same with texts. They must be constant strings: the cache compares their addresses. */
void expect_about(const struct reporter *r, enum rule_number rule, const struct entity *s,
                  bool holds, const uint8_t *p, uint32_t n, const char *expected,
                  const char *actual) __attribute__((nonnull(3)));

/*
 * RFC 4391 §9.1.1 requires the first octet of a link-layer address to be 0. RFC 4755 §3.1 defines
 * two of its bits and requires 0 in the other six. A sender that sets one of the two bits
 * implements RFC 4755 and must follow it; a sender that sets neither must follow RFC 4391
 * (check_address.c).
 */
enum rule_number lladdr_flags_rule(const uint8_t *lladdr);

/*
 * The bit that MLNX_OFED sets is a finding of its own, because it is in the list of known
 * deviations: it neither excuses the other reserved bits nor becomes a violation by them. The
 * actual value of a finding has only its own bits.
 */
enum { RESERVED_FLAGS = 2 };
extern const uint8_t reserved_flags[RESERVED_FLAGS];

/*
 * For rules of level INFO and DRAFT: reports an observation, formatted as by printf; once for each
 * value of the entity.
 */
void report_note(const struct reporter *r, enum rule_number rule, const struct entity *s,
                 uint64_t value, const uint8_t *p, uint32_t n, const char *format, ...)
    G_GNUC_PRINTF(7, 8) __attribute__((nonnull(3)));

/* A full cache refuses new entities, which are then reported each time. */
struct reported *reported_new(struct undone *undone);
void reported_free(struct reported *t);

#endif
