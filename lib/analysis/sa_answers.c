/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that do not fit what was asked for: the record of another group, another path,
 * no path at all, or a group without a multicast LID.
 */
#include "analysis/sa_requests.h"
#include "wire/pkey.h"

enum { LID_MULTICAST_LAST = 0xfffe }; /* IBA 4.1.1 */
enum { SELECT_EXACTLY = 2 };          /* of an MTU or a rate (IBA 15.2.5.16) */

static struct sender requester_of(const struct watch *w)
{
    return sender_of_lid(w, port_to_lid(w->p->dst));
}

static struct event_key key_of(const struct watch *w, const struct sender *who,
                               const uint8_t *about, uint16_t value)
{
    return event_key(w, EVENT_SA_WRONG_ANSWER, who->gid, about, (uint64_t)who->lid << 16 | value);
}

APART static void another_gid(const struct watch *w, const struct mad_transaction *q, unsigned gid,
                              const char *what)
{
    struct sender who = requester_of(w);
    char asked[GID_TEXT], found[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->record + gid, 0);
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its request about the %s %s with the record of another one, %s",
                what, text_of_gid(asked, q->record + gid),
                text_of_gid(found, w->p->mad.sa.data.p + gid));
}

/* ---- groups */

APART static void no_multicast_lid(const struct watch *w, const struct mad_transaction *q,
                                   const uint8_t *mgid, uint16_t mlid)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    const struct event_key key = key_of(w, &who, mgid, mlid);
    watch_event(w, &key, &who, q->request.frame,
                "the SA gives the group %s the LID 0x%04x, which is no multicast LID (0xc000 to "
                "0xfffe)",
                text_of_gid(group, mgid), mlid);
}

/* JoinState of the join; 0: none. */
static uint8_t join_of(const struct mad_transaction *q)
{
    return q->mask & MCM_HAS_JOIN_STATE ? q->record[MCM_SCOPE_JOIN] & 0x0f : 0;
}

/* Code of the only MTU that the join wants; 0: none. */
static uint8_t only_mtu(const struct mad_transaction *q)
{
    const uint64_t only = MCM_HAS_MTU_SELECTOR | MCM_HAS_MTU;
    uint8_t mtu = q->record[MCM_MTU];
    return (q->mask & only) == only && mtu >> 6 == SELECT_EXACTLY ? mtu & 0x3f : 0;
}

/* The state in the answer may have more bits: those of earlier joins. */
APART static void other_join(const struct watch *w, const struct mad_transaction *q,
                             const uint8_t *record)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    uint8_t join = record[MCM_SCOPE_JOIN] & 0x0f;
    const struct event_key key = key_of(w, &who, q->record + MCM_MGID, (uint16_t)(1 + join));
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its join of the group %s with JoinState %u by JoinState %u",
                text_of_gid(group, record + MCM_MGID), join_of(q), join);
}

APART static void other_mtu(const struct watch *w, const struct mad_transaction *q,
                            const uint8_t *record)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    uint8_t mtu = record[MCM_MTU] & 0x3f;
    const struct event_key key = key_of(w, &who, q->record + MCM_MGID, (uint16_t)(0x100 + mtu));
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its join of the group %s, for an MTU of exactly %u bytes, by "
                "one of %u bytes",
                text_of_gid(group, record + MCM_MGID), ib_mtu_bytes(only_mtu(q)),
                ib_mtu_bytes(mtu));
}

/* ---- Q_Keys */

/* The Q_Key that the SA gave the last member of a group. A cache. */
enum { GROUP_QKEYS = 1 << 8 };

struct group_qkeys {
    struct group_qkey {
        uint8_t mgid[GID_SIZE];
        uint32_t qkey, frame; /* frame 0: unused */
        uint16_t subnet, lid; /* of the member */
    } all[GROUP_QKEYS];
};

NEW_HISTORY(group_qkeys, group_qkeys_new)

static void two_qkeys(const struct watch *w, const struct group_qkey *old, uint32_t qkey)
{
    struct sender who = requester_of(w), other = sender_of_lid(w, old->lid);
    char group[GID_TEXT], text[SENDER_TEXT_SIZE];
    const struct event_key key = key_of(w, &who, old->mgid, 0x300);
    watch_event(
        w, &key, &who, old->frame,
        "the SA gives it the Q_Key 0x%08x of the group %s; to %s it gave 0x%08x: they do not "
        "receive each other's packets until both have one",
        qkey, text_of_gid(group, old->mgid), sender_text(text, &other), old->qkey);
}

static inline void note_qkey(const struct watch *w, struct group_qkey *g, const uint8_t *record)
{
    memcpy(g->mgid, record + MCM_MGID, GID_SIZE);
    g->qkey = be32(record + MCM_QKEY);
    g->frame = w->p->at.frame;
    g->subnet = w->p->at.interface;
    g->lid = port_to_lid(w->p->dst);
}

APART static void note_other_qkey(const struct watch *w, struct group_qkey *g,
                                  const uint8_t *record)
{
    two_qkeys(w, g, be32(record + MCM_QKEY));
    note_qkey(w, g, record);
}

/* Members that joined at another time may have another one, if the group was created again. */
static inline void watch_qkey(const struct watch *w, const uint8_t *record)
{
    const uint8_t *mgid = record + MCM_MGID;
    struct group_qkey *g = &w->group_qkeys->all[mix_gid(0, mgid) >> 32 & (GROUP_QKEYS - 1)];
    if (g->qkey != be32(record + MCM_QKEY) && g->frame && g->lid != port_to_lid(w->p->dst) &&
        g->subnet == w->p->at.interface && gid_same(g->mgid, mgid))
        note_other_qkey(w, g, record);
    else
        note_qkey(w, g, record);
}

/* ---- answers about groups */

static inline bool has_join(const struct mad_transaction *q, const uint8_t *record)
{
    return !(join_of(q) & ~record[MCM_SCOPE_JOIN]);
}

static inline bool has_mtu(const struct mad_transaction *q, const uint8_t *record)
{
    uint8_t mtu = only_mtu(q);
    return !mtu || mtu == (record[MCM_MTU] & 0x3f);
}

static inline void watch_join_qkey(const struct watch *w, const struct mad_transaction *q,
                                   const uint8_t *record)
{
    if (join_of(q))
        watch_qkey(w, record);
}

APART static void watch_other_join(const struct watch *w, const struct mad_transaction *q,
                                   const uint8_t *record)
{
    watch_join_qkey(w, q, record);
    if (!has_join(q, record))
        other_join(w, q, record);
    if (!has_mtu(q, record))
        other_mtu(w, q, record);
}

APART static void watch_join(const struct watch *w, const struct mad_transaction *q,
                             const uint8_t *record)
{
    if (has_join(q, record) && has_mtu(q, record))
        watch_join_qkey(w, q, record);
    else
        watch_other_join(w, q, record);
}

static bool is_multicast_lid(uint16_t lid)
{
    return lid >= LID_MULTICAST_FIRST && lid <= LID_MULTICAST_LAST;
}

APART static void watch_without_lid(const struct watch *w, const struct mad_transaction *q,
                                    const uint8_t *record)
{
    no_multicast_lid(w, q, record + MCM_MGID, be16(record + MCM_MLID));
    if (q->method == SA_SET)
        watch_join(w, q, record);
}

static inline void watch_group(const struct watch *w, const struct mad_transaction *q)
{
    const uint8_t *record = w->p->mad.sa.data.p;
    if (q->mask & MCM_HAS_MGID && !gid_same(record + MCM_MGID, q->record + MCM_MGID))
        another_gid(w, q, MCM_MGID, "group");
    else if (w->p->mad.mad.method != SA_GET_RESP)
        return;
    else if (!is_multicast_lid(be16(record + MCM_MLID)))
        watch_without_lid(w, q, record);
    else if (q->method == SA_SET)
        watch_join(w, q, record);
}

/* ---- paths */

APART static void another_pkey(const struct watch *w, const struct mad_transaction *q,
                               uint16_t pkey)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->record + PATH_DGID, pkey);
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its request of the path to %s with P_Key 0x%04x by a path with "
                "P_Key 0x%04x",
                text_of_gid(gid, q->record + PATH_DGID), be16(q->record + PATH_PKEY), pkey);
}

/* LIDs of ports are 1 to 0xbfff (IBA 4.1.1). */
APART static void no_unicast_lid(const struct watch *w, const struct mad_transaction *q,
                                 uint16_t lid)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->record + PATH_DGID, lid ? lid : 0xffff);
    watch_event(w, &key, &who, q->request.frame,
                "the SA gives it a path to %s with the LID 0x%04x, which no port can have",
                text_of_gid(gid, w->p->mad.sa.data.p + PATH_DGID), lid);
}

APART static void no_mtu(const struct watch *w, const struct mad_transaction *q, uint8_t code)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->record + PATH_DGID, (uint16_t)(0x200 + code));
    watch_event(w, &key, &who, q->request.frame,
                "the SA gives it a path to %s with the MTU code %u, which is none",
                text_of_gid(gid, w->p->mad.sa.data.p + PATH_DGID), code);
}

/* A port has the default prefix besides its subnet's (IBA 4.1.1): only the GUID counts. */
static bool is_other_port(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + GID_SIZE / 2, b + GID_SIZE / 2, GID_SIZE / 2) != 0;
}

static void watch_path(const struct watch *w, const struct mad_transaction *q)
{
    const uint8_t *p = w->p->mad.sa.data.p;
    uint16_t pkey = be16(p + PATH_PKEY);
    if (q->mask & PATH_HAS_DGID && is_other_port(p + PATH_DGID, q->record + PATH_DGID))
        another_gid(w, q, PATH_DGID, "path to");
    else if (q->mask & PATH_HAS_PKEY && !same_partition(pkey, be16(q->record + PATH_PKEY)))
        another_pkey(w, q, pkey);
    else if (!be16(p + PATH_DLID) || be16(p + PATH_DLID) >= LID_MULTICAST_FIRST)
        no_unicast_lid(w, q, be16(p + PATH_DLID));
    else if (!ib_mtu_bytes(p[PATH_MTU] & 0x3f))
        no_mtu(w, q, p[PATH_MTU] & 0x3f);
}

static bool has_no_records(const struct sa *sa)
{
    return (sa->mad.status & SA_STATUS_MASK) == SA_STATUS_NO_RECORDS;
}

/* A table of paths to one port, without any. */
APART static void watch_table(const struct watch *w, const struct mad_transaction *q)
{
    const struct sa *sa = &w->p->mad.sa;
    bool is_whole = sa->rmpp_type == RMPP_TYPE_DATA && sa->segment == 1 &&
                    sa->rmpp_flags & RMPP_FLAG_LAST;
    bool is_empty = has_no_records(sa) || (is_whole && !sa->data.len);
    if (!is_empty || !(q->mask & PATH_HAS_DGID))
        return;
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_PATH_REFUSED, who.gid, q->record + PATH_DGID,
                                           (uint64_t)who.lid << 16);
    watch_event(w, &key, &who, q->request.frame,
                "the SA gives it no path to %s: its table is empty",
                text_of_gid(gid, q->record + PATH_DGID));
}

/* ---- the Q_Key */

/* That of QP1 (IBA 10.2.5). */
#define GSI_QKEY UINT32_C(0x80010000)

bool sa_answer_is_dropped(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    return ib->qkey != GSI_QKEY && ib->has_lrh && ib->has_deth && ib->dqpn == QPN_GSI;
}

void watch_dropped_answer(const struct watch *w, const struct mad_transaction *t)
{
    struct sender who = requester_of(w);
    const struct event_key key = key_of(w, &who, NULL, 0x400);
    watch_event(w, &key, &who, t->request.frame,
                "the SA answers its request with the Q_Key 0x%08x instead of 0x80010000: its QP1 "
                "drops the answer",
                w->p->ib.qkey);
}

/* Has the answer one record of this size? */
static bool has_record(const struct sa *sa, uint32_t size)
{
    return sa->mad.method != SA_GET_TABLE_RESP && !sa->mad.status &&
           view_has(sa->data, 0, size) == WIRE_OK;
}

APART void watch_sa_answer(const struct watch *w, const struct mad_transaction *t)
{
    const struct sa *sa = &w->p->mad.sa;
    if (sa->mad.attribute == SA_MC_MEMBER_RECORD && has_record(sa, MCM_SIZE))
        watch_group(w, t);
    else if (sa->mad.attribute == SA_PATH_RECORD && has_record(sa, PATH_SIZE))
        watch_path(w, t);
    else if (sa->mad.attribute == SA_PATH_RECORD && sa->mad.method == SA_GET_TABLE_RESP &&
             (!sa->mad.status || has_no_records(sa)))
        watch_table(w, t);
}
