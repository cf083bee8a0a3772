/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does a response of the SA fit the request? See answer.h. What may differ is not compared:
 *
 * - the SA discloses PortGID and JoinState of a member only with its SM_Key (IBA 15.4.1): they may
 *   be zero;
 * - the prefix of a GID: a port has its GID with the default prefix too (IBA 4.1.1);
 * - more bits of JoinState than requested: a join adds to what the port has (IBA o15-0.1.11);
 * - the selectors of MTU, rate and life time: a request's are a comparison (IBA 15.2.5.16);
 * - the membership bit of a P_Key (IBA 10.9.3);
 * - HopLimit, rate and packet life time of a group, which the SM may set to what the subnet has;
 * - a LID: of the LIDs of a port (at most 128: LMC 7) a record has the first (IBA 14.2.5.6);
 * - the record of a Delete, of which the fabric manager of Omni-Path has a layout of its own.
 *
 * The P_Key, the MTU and the DLID of a path are left to the rules about them.
 */
#include "probe/link/answer.h"

#include <stdarg.h>
#include <string.h>

#include "hca/records.h"
#include "wire/port_records.h"
#include "probe/run/text.h"

enum { CLASS_PORT_INFO_SIZE = 72 }; /* IBA 13.4.8.1 */
#define LID_PERMISSIVE 0xffffu      /* IBA 4.1.3 */

struct answer_comparison {
    const struct sa_query *q;
    const struct mc_group *known;
    struct answer_fault fault;
};

static bool differs(const struct answer_comparison *c, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool differs(const struct answer_comparison *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_vsnprintf(c->fault.text, (gulong)c->fault.size, format, args);
    va_end(args);
    return false;
}

/* ---- GIDs and LIDs */

static bool is_zero(const uint8_t *gid)
{
    static const uint8_t zero[GID_SIZE];
    return memcmp(gid, zero, GID_SIZE) == 0;
}

/* A GID of the request, at that offset of the record too. */
static bool port_gid_fits(const struct answer_comparison *c, const uint8_t *record,
                          uint64_t component, size_t at)
{
    enum { PREFIX_SIZE = 8 };
    const uint8_t *asked = c->q->record + at, *found = record + at;
    char text[48], wanted[48];
    if (!(c->q->mask & component) || is_zero(found) ||
        memcmp(asked + PREFIX_SIZE, found + PREFIX_SIZE, GID_SIZE - PREFIX_SIZE) == 0)
        return true;
    text_ip(true, found, text);
    text_ip(true, asked, wanted);
    return differs(c, "its record is of port %s, and the request was about %s", text, wanted);
}

static bool port_record_fits(const struct answer_comparison *c, const uint8_t *record)
{
    enum { LMC_MAX = 7 };
    unsigned lid = be16(record + PORT_RECORD_LID), asked = be16(c->q->record + PORT_RECORD_LID);
    if (lid == 0 || lid >= LID_MULTICAST_FIRST)
        return differs(c, "a record has LID 0x%04x, which no port has", lid);
    if ((c->q->mask & PORT_RECORD_HAS_LID) && (lid ^ asked) >> LMC_MAX)
        return differs(c, "its record is of LID %u, and the request was about LID %u", lid, asked);
    return true;
}

static bool path_fits(const struct answer_comparison *c, const uint8_t *record)
{
    return port_gid_fits(c, record, PATH_HAS_DGID, PATH_DGID) &&
           port_gid_fits(c, record, PATH_HAS_SGID, PATH_SGID);
}

/* ---- groups */

static bool mgid_fits(const struct answer_comparison *c, const uint8_t *record)
{
    char text[48], wanted[48];
    text_ip(true, record + MCM_MGID, text);
    if ((c->q->mask & MCM_HAS_MGID) && !mgid_equal(record + MCM_MGID, c->q->record + MCM_MGID)) {
        text_ip(true, c->q->record + MCM_MGID, wanted);
        return differs(c, "its record is of group %s, and the request was about %s", text, wanted);
    }
    return record[MCM_MGID] == 0xff || differs(c, "it lists a group %s, which is no MGID", text);
}

static bool mlid_fits(const struct answer_comparison *c, const uint8_t *record)
{
    unsigned mlid = be16(record + MCM_MLID);
    char text[48];
    if (mlid >= LID_MULTICAST_FIRST && mlid != LID_PERMISSIVE)
        return true;
    text_ip(true, record + MCM_MGID, text);
    return differs(c, "group %s has MLID 0x%04x, and MLIDs are 0xc000 to 0xfffe", text, mlid);
}

static bool join_state_fits(const struct answer_comparison *c, const uint8_t *record)
{
    unsigned asked = c->q->record[MCM_SCOPE_JOIN] & JOIN_ALL,
             found = record[MCM_SCOPE_JOIN] & JOIN_ALL;
    char text[64], wanted[64];
    if (!found || !(asked & ~found))
        return true;
    return differs(c, "the join was granted as %s, and the request was for %s",
                   join_state_text((uint8_t)found, text, sizeof text),
                   join_state_text((uint8_t)asked, wanted, sizeof wanted));
}

/* What each member has to use, or its packets are lost (RFC 4391 §10). whose: of the other value */
static bool attributes_fit(const struct answer_comparison *c, const struct mc_group *found,
                           const struct mc_group *wanted, const char *whose)
{
    if (found->qkey != wanted->qkey)
        return differs(c, "the join returns Q_Key 0x%08x, but %s has 0x%08x", found->qkey, whose,
                       wanted->qkey);
    if ((found->pkey ^ wanted->pkey) & 0x7fff)
        return differs(c, "the join returns P_Key 0x%04x, but %s has 0x%04x", found->pkey, whose,
                       wanted->pkey);
    if (found->mtu != wanted->mtu)
        return differs(c, "the join returns MTU code %u (%u bytes), but %s has %u (%u)", found->mtu,
                       ib_mtu_bytes(found->mtu), whose, wanted->mtu, ib_mtu_bytes(wanted->mtu));
    if (found->sl != wanted->sl)
        return differs(c, "the join returns SL %u, but %s has %u", found->sl, whose, wanted->sl);
    return true;
}

/* The group has the attributes that the request gave, or those that the SA said before. */
static bool join_fits(const struct answer_comparison *c, const uint8_t *record)
{
    struct mc_group found = mc_group_read(record), asked = mc_group_read(c->q->record);
    bool creates = c->q->mask & MCM_HAS_QKEY;
    if (!join_state_fits(c, record))
        return false;
    if (creates && !attributes_fit(c, &found, &asked, "the request"))
        return false;
    if (!c->known || !mgid_equal(c->known->mgid, record + MCM_MGID))
        return true;
    if (found.mlid != c->known->mlid)
        return differs(c, "the join returns MLID 0x%04x, but the group's record has 0x%04x",
                       found.mlid, c->known->mlid);
    return attributes_fit(c, &found, c->known, "the group's record");
}

static bool group_fits(const struct answer_comparison *c, const uint8_t *record)
{
    return mgid_fits(c, record) && port_gid_fits(c, record, MCM_HAS_PORT_GID, MCM_PORT_GID) &&
           mlid_fits(c, record) && (c->q->method != SA_SET || join_fits(c, record));
}

/* ---- the response */

struct kind {
    uint16_t attribute;
    uint32_t size;
    bool (*fits)(const struct answer_comparison *c, const uint8_t *record); /* NULL: not compared */
};

static const struct kind *find_kind(uint16_t attribute)
{
    static const struct kind kinds[] = {
        {SA_CLASS_PORT_INFO, CLASS_PORT_INFO_SIZE, NULL},
        {SA_INFORM_INFO, INFORM_SIZE, NULL},
        {SA_NODE_RECORD, NODE_RECORD_SIZE, port_record_fits},
        {SA_SWITCH_INFO_RECORD, SWITCH_RECORD_SIZE, port_record_fits},
        {SA_SM_INFO_RECORD, SM_RECORD_SIZE, port_record_fits},
        {SA_PKEY_TABLE_RECORD, PKEY_RECORD_SIZE, port_record_fits},
        {SA_PATH_RECORD, PATH_SIZE, path_fits},
        {SA_MC_MEMBER_RECORD, MCM_SIZE, group_fits},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (kinds[i].attribute == attribute)
            return &kinds[i];
    return NULL;
}

static bool head_fits(const struct answer_comparison *c, const struct sa_response *a)
{
    unsigned method = a->mad[MAD_METHOD], attribute = be16(a->mad + MAD_ATTRIBUTE),
             wanted = c->q->method == SA_SET ? SA_GET_RESP : c->q->method | MAD_RESPONSE;
    if (method != wanted)
        return differs(c, "its method is 0x%02x, and 0x%02x answers the request", method, wanted);
    return attribute == c->q->attribute ||
           differs(c, "its attribute is 0x%04x, and 0x%04x was requested", attribute,
                   c->q->attribute);
}

/* The last record may lack the bytes that fill it up to a multiple of 8 (IBA 15.2.1.1). */
static bool has_whole_records(const struct answer_comparison *c, const struct sa_response *a,
                              uint32_t size)
{
    uint32_t length = a->records->len;
    if (c->q->method != SA_GET_TABLE)
        return length >= size || differs(c, "it ends inside the record");
    if (length && a->stride < size)
        return differs(c, "its AttributeOffset is %u bytes, and a record has %u", a->stride, size);
    uint32_t rest = length ? length % a->stride : 0;
    return !rest || rest >= size || differs(c, "its table ends inside a record");
}

bool answer_fits(const struct sa_query *q, const struct sa_response *a,
                 const struct mc_group *known, struct answer_fault fault)
{
    const struct answer_comparison c = {q, known, fault};
    const struct kind *kind = find_kind(q->attribute);
    const uint8_t *record;
    if (!head_fits(&c, a))
        return false;
    if (!kind || q->method == SA_DELETE)
        return true;
    if (!has_whole_records(&c, a, kind->size))
        return false;
    for (uint32_t i = 0; kind->fits && (record = sa_record(a, i, kind->size)); i++) {
        if (!kind->fits(&c, record))
            return false;
        if (q->method != SA_GET_TABLE)
            break;
    }
    return true;
}
