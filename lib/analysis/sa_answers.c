/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that do not fit what was asked for: the record of another group, another path,
 * no path at all, or a group without a multicast LID.
 */
#include "analysis/question.h"
#include "wire/pkey.h"

/* A later answer may be to an older request with the same transaction ID. */
enum { ANSWER_MS = 60000 };
enum { LID_MULTICAST_LAST = 0xfffe }; /* IBA 4.1.1 */

static struct sender requester_of(const struct watch *w)
{
    return sender_of_lid(w, port_to_lid(w->p->dst));
}

static struct event_key key_of(const struct watch *w, const struct sender *who,
                               const uint8_t *about, uint16_t value)
{
    return event_key(w, EVENT_SA_WRONG_ANSWER, who->gid, about, (uint64_t)who->lid << 16 | value);
}

static void another_gid(const struct watch *w, const struct sa_wanted *q, const uint8_t *gid,
                        const char *what)
{
    struct sender who = requester_of(w);
    char asked[GID_TEXT], found[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->gid, 0);
    watch_event(w, &key, &who, q->frame,
                "the SA answers its request about the %s %s with the record of another one, %s",
                what, text_of_gid(asked, q->gid), text_of_gid(found, gid));
}

/* ---- groups */

static void no_multicast_lid(const struct watch *w, const struct sa_wanted *q,
                             const struct mc_member *m)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    const struct event_key key = key_of(w, &who, m->mgid, m->mlid);
    watch_event(w, &key, &who, q->frame,
                "the SA gives the group %s the LID 0x%04x, which is no multicast LID (0xc000 to "
                "0xfffe)",
                text_of_gid(group, m->mgid), m->mlid);
}

/* The state in the answer may have more bits: those of earlier joins. */
static void other_join(const struct watch *w, const struct sa_wanted *q, const uint8_t *record)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    uint8_t join = record[MCM_SCOPE_JOIN] & 0x0f;
    const struct event_key key = key_of(w, &who, q->gid, (uint16_t)(1 + join));
    if ((join & q->join) != q->join)
        watch_event(w, &key, &who, q->frame,
                    "the SA answers its join of the group %s with JoinState %u by JoinState %u",
                    text_of_gid(group, record + MCM_MGID), q->join, join);
}

static void other_mtu(const struct watch *w, const struct sa_wanted *q, const uint8_t *record)
{
    struct sender who = requester_of(w);
    char group[GID_TEXT];
    uint8_t mtu = record[MCM_MTU] & 0x3f;
    const struct event_key key = key_of(w, &who, q->gid, (uint16_t)(0x100 + mtu));
    if (q->mtu && mtu != q->mtu)
        watch_event(w, &key, &who, q->frame,
                    "the SA answers its join of the group %s, for an MTU of exactly %u bytes, by "
                    "one of %u bytes",
                    text_of_gid(group, record + MCM_MGID), ib_mtu_bytes(q->mtu), ib_mtu_bytes(mtu));
}

static void watch_group(const struct watch *w, const struct sa_wanted *q)
{
    struct mc_member m = mc_member_read(w->p->mad.sa.data.p);
    bool is_other = q->mask & MCM_HAS_MGID && memcmp(m.mgid, q->gid, GID_SIZE) != 0;
    if (is_other)
        another_gid(w, q, m.mgid, "group");
    else if (w->p->mad.mad.method == SA_GET_RESP &&
             (m.mlid < LID_MULTICAST_FIRST || m.mlid > LID_MULTICAST_LAST))
        no_multicast_lid(w, q, &m);
    if (is_other || w->p->mad.mad.method != SA_GET_RESP)
        return;
    other_join(w, q, w->p->mad.sa.data.p);
    other_mtu(w, q, w->p->mad.sa.data.p);
}

/* ---- paths */

static void another_pkey(const struct watch *w, const struct sa_wanted *q, uint16_t pkey)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->gid, pkey);
    watch_event(w, &key, &who, q->frame,
                "the SA answers its request of the path to %s with P_Key 0x%04x by a path with "
                "P_Key 0x%04x",
                text_of_gid(gid, q->gid), q->pkey, pkey);
}

/* LIDs of ports are 1 to 0xbfff (IBA 4.1.1). */
static void no_unicast_lid(const struct watch *w, const struct sa_wanted *q, uint16_t lid)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->gid, lid ? lid : 0xffff);
    watch_event(w, &key, &who, q->frame,
                "the SA gives it a path to %s with the LID 0x%04x, which no port can have",
                text_of_gid(gid, w->p->mad.sa.data.p + PATH_DGID), lid);
}

/* A port has the default prefix besides its subnet's (IBA 4.1.1): only the GUID counts. */
static bool is_other_port(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + GID_SIZE / 2, b + GID_SIZE / 2, GID_SIZE / 2) != 0;
}

static void watch_path(const struct watch *w, const struct sa_wanted *q)
{
    const uint8_t *p = w->p->mad.sa.data.p;
    uint16_t pkey = be16(p + PATH_PKEY);
    if (q->mask & PATH_HAS_DGID && is_other_port(p + PATH_DGID, q->gid))
        another_gid(w, q, p + PATH_DGID, "path to");
    else if (q->mask & PATH_HAS_PKEY && !same_partition(pkey, q->pkey))
        another_pkey(w, q, pkey);
    else if (!be16(p + PATH_DLID) || be16(p + PATH_DLID) >= LID_MULTICAST_FIRST)
        no_unicast_lid(w, q, be16(p + PATH_DLID));
}

static bool has_no_records(const struct sa *sa)
{
    return (sa->mad.status & SA_STATUS_MASK) == SA_STATUS_NO_RECORDS;
}

/* A table of paths to one port, without any. */
static void watch_table(const struct watch *w, const struct sa_wanted *q)
{
    const struct sa *sa = &w->p->mad.sa;
    bool is_whole = sa->rmpp_type == RMPP_TYPE_DATA && sa->segment == 1 &&
                    sa->rmpp_flags & RMPP_FLAG_LAST;
    bool is_empty = has_no_records(sa) || (is_whole && !sa->data.len);
    if (!is_empty || !(q->mask & PATH_HAS_DGID))
        return;
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_PATH_REFUSED, who.gid, q->gid,
                                           (uint64_t)who.lid << 16);
    watch_event(w, &key, &who, q->frame, "the SA gives it no path to %s: its table is empty",
                text_of_gid(gid, q->gid));
}

void watch_sa_answer(const struct watch *w, const struct sa_wanted *wanted)
{
    const struct sa *sa = &w->p->mad.sa;
    uint32_t size = sa_record_size(sa->mad.attribute);
    bool is_table = sa->mad.method == SA_GET_TABLE_RESP;
    bool is_refused = sa->mad.status && !(is_table && has_no_records(sa));
    if (!wanted->frame || is_refused || watch_ms(w) - wanted->ms > ANSWER_MS)
        return;
    if (is_table && sa->mad.attribute == SA_PATH_RECORD)
        watch_table(w, wanted);
    else if (is_table || !size || view_has(sa->data, 0, size) != WIRE_OK)
        return;
    else if (sa->mad.attribute == SA_MC_MEMBER_RECORD)
        watch_group(w, wanted);
    else if (sa->mad.attribute == SA_PATH_RECORD)
        watch_path(w, wanted);
}
