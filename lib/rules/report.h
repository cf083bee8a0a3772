/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How checks tell what they found; for the files of rules/ alone. */
#ifndef IPOIB_RULES_REPORT_H
#define IPOIB_RULES_REPORT_H

#include <glib.h>

#include "rules/check.h"

/* ---- faults of a packet: told each time */

void pass(const struct reporter *r, enum rule_number rule);
/* What could not be seen. */
void inconclusive(const struct reporter *r, enum rule_number rule, const uint8_t *p,
                  const char *why);
void fail(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
          const char *expected, const char *actual);

/*
 * The field of n octets (at most 8, big-endian) at p must be value. Both are shown as people write
 * them: keys, flags and reserved fields in hexadecimal, lengths and registered numbers in decimal
 * (expect_number), addresses as addresses (expect_ipv4).
 */
void expect_value(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                  uint64_t value);
void expect_number(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t n,
                   uint64_t value);
void expect_ipv4(const struct reporter *r, enum rule_number rule, const uint8_t *p, uint32_t value);
/* PASS or FAIL, with words. */
void expect_that(const struct reporter *r, enum rule_number rule, bool holds, const uint8_t *p,
                 uint32_t n, const char *expected, const char *actual);

/*
 * ---- faults of somebody: told once, and again when what is seen has changed, or was right in
 * between
 */

enum subject_kind {
    SUBJECT_GROUP,
    SUBJECT_ADDRESS,
    SUBJECT_PORT,
    SUBJECT_QP,
    SUBJECT_LINK,
    SUBJECT_CONNECTION,
    SUBJECT_SUBNET
};

/*
 * octets: a MGID, 20 octets of a link-layer address, a GID (SUBJECT_PORT; NULL: by LID); numbers as
 * below.
 */
struct subject {
    enum subject_kind kind;
    const uint8_t *octets;
    uint32_t number, other;
    const uint8_t *group; /* the MGID of the group, where it is about one of several of the subject;
                             NULL: it is not */
};

static inline struct subject subject_group(const uint8_t *mgid)
{
    return (struct subject){SUBJECT_GROUP, mgid, 0, 0, NULL};
}

static inline struct subject subject_address(const uint8_t *lladdr)
{
    return (struct subject){SUBJECT_ADDRESS, lladdr, 0, 0, NULL};
}

static inline struct subject subject_port(const uint8_t *gid, uint16_t lid)
{
    return (struct subject){SUBJECT_PORT, gid, lid, 0, NULL};
}

static inline struct subject subject_qp(uint16_t lid, uint32_t qpn)
{
    return (struct subject){SUBJECT_QP, NULL, lid, qpn, NULL};
}

static inline struct subject subject_link(uint16_t pkey)
{
    return (struct subject){SUBJECT_LINK, NULL, pkey & 0x7fffu, 0, NULL};
}

/* number: of the connection in this capture */
static inline struct subject subject_connection(uint32_t number)
{
    return (struct subject){SUBJECT_CONNECTION, NULL, number, 0, NULL};
}

static inline struct subject subject_subnet(void)
{
    return (struct subject){SUBJECT_SUBNET, NULL, 0, 0, NULL};
}

/* value: of what is seen; the same one of the same subject is told once. */
void pass_about(const struct reporter *r, enum rule_number rule, const struct subject *s);
bool is_news(const struct reporter *r, enum rule_number rule, const struct subject *s,
             uint64_t value);
void fail_about(const struct reporter *r, enum rule_number rule, const struct subject *s,
                const uint8_t *p, uint32_t n, const char *expected, const char *actual);

/*
 * seen must be wanted, fields of n octets at p shown in hexadecimal; p NULL: nowhere in this
 * packet.
 */
void expect_same(const struct reporter *r, enum rule_number rule, const struct subject *s,
                 const uint8_t *p, uint32_t n, uint64_t wanted, uint64_t seen);
/* The same with words; they are constant strings. */
void expect_about(const struct reporter *r, enum rule_number rule, const struct subject *s,
                  bool holds, const uint8_t *p, uint32_t n, const char *expected,
                  const char *actual);

/*
 * Rules of level INFO and DRAFT: tell what is seen, as printf does; once for each value of the
 * subject.
 */
void note(const struct reporter *r, enum rule_number rule, const struct subject *s, uint64_t value,
          const uint8_t *p, uint32_t n, const char *format, ...) G_GNUC_PRINTF(7, 8);

struct told *told_new(void);
void told_free(struct told *t);

#endif
