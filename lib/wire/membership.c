/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/membership.h"
#include "wire/ip.h"
#include "wire/nd.h"

enum { PROTOCOL_IGMP = 2 };

/* Start the iteration at the message in v, by its type and, if it has records, their number. */
static bool start_records(struct view v, uint8_t length, struct membership_iter *it)
{
    *it = (struct membership_iter){.v = v, .length = length};
    if (v.cap < 1)
        return false;
    switch (v.p[0]) {
    case IGMP_V1_REPORT:
    case IGMP_V2_REPORT:
    case IGMP_V2_LEAVE:
        it->joins = v.p[0] != IGMP_V2_LEAVE;
        it->next = IGMP_GROUP;
        it->left = 1;
        return length == 4;
    case MLD_V1_REPORT:
    case MLD_V1_DONE:
        it->joins = v.p[0] == MLD_V1_REPORT;
        it->next = MLD_GROUP;
        it->left = 1;
        return length == 16;
    case IGMP_V3_REPORT:
    case MLD_V2_REPORT:
        if (length != (v.p[0] == IGMP_V3_REPORT ? 4 : 16) ||
            view_has(v, 0, REPORT_RECORDS) != WIRE_OK)
            return false;
        it->records = true;
        it->next = REPORT_RECORDS;
        it->left = be16(v.p + REPORT_RECORD_COUNT);
        return true;
    default:
        return false;
    }
}

static bool igmp_in_ipv4(struct view v, struct view *igmp)
{
    if (view_has(v, 0, IPV4_SIZE) != WIRE_OK || v.p[0] >> 4 != 4)
        return false;
    uint32_t header = (v.p[0] & 0xfu) * 4, total = be16(v.p + IPV4_TOTAL_LENGTH);
    if (header < IPV4_SIZE || total < header || v.p[IPV4_PROTOCOL] != PROTOCOL_IGMP ||
        be16(v.p + IPV4_FRAGMENT) & IPV4_FRAGMENTED)
        return false;
    *igmp = view_sub(v, header, total - header);
    return true;
}

bool membership_in_ipv4(struct view v, struct membership_iter *it)
{
    struct view igmp;
    return igmp_in_ipv4(v, &igmp) && start_records(igmp, 4, it);
}

bool membership_in_ipv6(struct view v, struct membership_iter *it)
{
    struct view icmpv6;
    return nd_in_ipv6(v, &icmpv6) && start_records(icmpv6, 16, it);
}

bool membership_begin(struct view v, struct membership_iter *it)
{
    return membership_in_ipv4(v, it) || membership_in_ipv6(v, it);
}

bool membership_is_old(struct view v)
{
    struct membership_iter it;
    struct view m;
    bool ipv4 = igmp_in_ipv4(v, &m);
    if ((!ipv4 && !nd_in_ipv6(v, &m)) || m.cap < 1)
        return false;
    if (m.p[0] == (ipv4 ? IGMP_QUERY : MLD_QUERY))
        return m.len <= (ipv4 ? IGMP_QUERY_V2_SIZE : MLD_QUERY_V1_SIZE);
    return start_records(m, ipv4 ? 4 : 16, &it) && !it.records;
}

/*
 * Does the record show that the host listens? INCLUDE without sources means that it does not (RFC
 * 3376 section 3.2, RFC 3810 section 4.2). false: it shows neither, because only sources change, or
 * the type is unknown and must be ignored (RFC 3376 section 4.2.12).
 */
static bool record_says(uint8_t type, uint16_t sources, bool *joins)
{
    switch (type) {
    case MODE_IS_EXCLUDE:
    case CHANGE_TO_EXCLUDE_MODE:
        *joins = true;
        return true;
    case MODE_IS_INCLUDE:
    case CHANGE_TO_INCLUDE_MODE:
        *joins = sources > 0;
        return true;
    case ALLOW_NEW_SOURCES:
        *joins = true;
        return sources > 0;
    default:
        return false;
    }
}

/*
 * Read the record at it->next; *says: it shows whether the host listens. false: the record is
 * incomplete.
 */
static bool next_record(struct membership_iter *it, struct membership *m, bool *says)
{
    it->end = view_has(it->v, it->next, RECORD_GROUP + it->length);
    if (it->end != WIRE_OK)
        return false;
    const uint8_t *p = it->v.p + it->next;
    uint16_t sources = be16(p + RECORD_SOURCES);
    uint32_t size = RECORD_GROUP + (1u + sources) * it->length + p[RECORD_AUX] * 4u;
    if (size > it->v.len - it->next) {
        it->end = WIRE_MALFORMED;
        return false;
    }
    *says = record_says(p[RECORD_TYPE], sources, &m->joins);
    m->excludes = p[RECORD_TYPE] == MODE_IS_EXCLUDE || p[RECORD_TYPE] == CHANGE_TO_EXCLUDE_MODE;
    m->group = p + RECORD_GROUP;
    it->next += size;
    return true;
}

bool membership_next(struct membership_iter *it, struct membership *m)
{
    *m = (struct membership){.length = it->length, .joins = it->joins};
    bool says = false;
    while (it->left > 0 && it->records && !says) {
        it->left--;
        if (!next_record(it, m, &says)) {
            it->left = 0;
            return false;
        }
    }
    if (it->records || it->left == 0)
        return says;
    it->left = 0;
    it->end = view_has(it->v, it->next, it->length);
    if (it->end == WIRE_OK)
        m->group = it->v.p + it->next;
    return it->end == WIRE_OK;
}
