/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of the SA that do not fit what was asked for: the record of another group, another path,
 * no path at all, or a group without a multicast LID.
 */
#include "analysis/sa_requests.h"
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

APART static void another_gid(const struct watch *w, const struct sa_transaction *q,
                              const uint8_t *gid, const char *what)
{
    struct sender who = requester_of(w);
    char asked[GID_TEXT], found[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->subject.gid, 0);
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its request about the %s %s with the record of another one, %s",
                what, text_of_gid(asked, q->subject.gid), text_of_gid(found, gid));
}

/* ---- groups */

APART static void no_multicast_lid(const struct watch *w, const struct sa_transaction *q,
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

static void watch_group(const struct watch *w, const struct sa_transaction *q)
{
    const uint8_t *record = w->p->mad.sa.data.p, *mgid = record + MCM_MGID;
    uint16_t mlid = be16(record + MCM_MLID);
    if (q->mask & MCM_HAS_MGID && memcmp(mgid, q->subject.gid, GID_SIZE) != 0)
        another_gid(w, q, mgid, "group");
    else if (w->p->mad.mad.method == SA_GET_RESP &&
             (mlid < LID_MULTICAST_FIRST || mlid > LID_MULTICAST_LAST))
        no_multicast_lid(w, q, mgid, mlid);
}

/* ---- paths */

static void another_pkey(const struct watch *w, const struct sa_transaction *q, uint16_t pkey)
{
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = key_of(w, &who, q->subject.gid, pkey);
    watch_event(w, &key, &who, q->request.frame,
                "the SA answers its request of the path to %s with P_Key 0x%04x by a path with "
                "P_Key 0x%04x",
                text_of_gid(gid, q->subject.gid), q->pkey, pkey);
}

/* A port has the default prefix besides its subnet's (IBA 4.1.1): only the GUID counts. */
static bool is_other_port(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + GID_SIZE / 2, b + GID_SIZE / 2, GID_SIZE / 2) != 0;
}

static void watch_path(const struct watch *w, const struct sa_transaction *q)
{
    const uint8_t *p = w->p->mad.sa.data.p;
    uint16_t pkey = be16(p + PATH_PKEY);
    if (q->mask & PATH_HAS_DGID && is_other_port(p + PATH_DGID, q->subject.gid))
        another_gid(w, q, p + PATH_DGID, "path to");
    else if (q->mask & PATH_HAS_PKEY && !same_partition(pkey, q->pkey))
        another_pkey(w, q, pkey);
}

static bool has_no_records(const struct sa *sa)
{
    return (sa->mad.status & SA_STATUS_MASK) == SA_STATUS_NO_RECORDS;
}

/* A table of paths to one port, without any. */
APART static void watch_table(const struct watch *w, const struct sa_transaction *q)
{
    const struct sa *sa = &w->p->mad.sa;
    bool is_whole = sa->rmpp_type == RMPP_TYPE_DATA && sa->segment == 1 &&
                    sa->rmpp_flags & RMPP_FLAG_LAST;
    bool is_empty = has_no_records(sa) || (is_whole && !sa->data.len);
    if (!is_empty || !(q->mask & PATH_HAS_DGID))
        return;
    struct sender who = requester_of(w);
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_PATH_REFUSED, who.gid, q->subject.gid,
                                           (uint64_t)who.lid << 16);
    watch_event(w, &key, &who, q->request.frame,
                "the SA gives it no path to %s: its table is empty",
                text_of_gid(gid, q->subject.gid));
}

static bool is_old(const struct watch *w, const struct sa_transaction *t)
{
    return (int64_t)((uint64_t)w->p->at.ns - (uint64_t)t->request.ns) >
           ANSWER_MS * INT64_C(1000000);
}

/* Has the answer one record of this size? */
static bool has_record(const struct sa *sa, uint32_t size)
{
    return sa->mad.method != SA_GET_TABLE_RESP && !sa->mad.status &&
           view_has(sa->data, 0, size) == WIRE_OK;
}

void watch_sa_answer(const struct watch *w, const struct sa_transaction *t)
{
    const struct sa *sa = &w->p->mad.sa;
    if (!t->followed || is_old(w, t))
        return;
    if (sa->mad.attribute == SA_MC_MEMBER_RECORD && has_record(sa, MCM_SIZE))
        watch_group(w, t);
    else if (sa->mad.attribute == SA_PATH_RECORD && has_record(sa, PATH_SIZE))
        watch_path(w, t);
    else if (sa->mad.attribute == SA_PATH_RECORD && sa->mad.method == SA_GET_TABLE_RESP &&
             (!sa->mad.status || has_no_records(sa)))
        watch_table(w, t);
}
