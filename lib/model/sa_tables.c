/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sa_tables.h"

/* Responses that are read at the same time; an overwritten one loses the record that it began. */
enum { TABLES = 64 };

/* A response, up to its last segment. */
struct sa_table {
    struct port requester; /* id 0: unused */
    uint64_t tid;
    uint32_t next;    /* number of the segment after it */
    uint32_t carried; /* bytes of the record that has not ended */
    bool whole;       /* every segment so far was captured, in order and with all of its bytes */
    uint8_t bytes[SA_DATA_SIZE];
};

struct sa_tables {
    struct sa_table slots[TABLES];
    uint8_t split[SA_DATA_SIZE]; /* the last record that was read from two segments */
};

struct sa_tables *sa_tables_new(void)
{
    return g_new0(struct sa_tables, 1);
}

static struct sa_table *slot(struct sa_tables *all, const struct port *requester, uint64_t tid)
{
    return &all->slots[port_transaction_place(requester, tid) % TABLES];
}

/* Read the record of which the first `begun` bytes are in the segment before this one. */
static void read_carried(struct sa_tables *all, const struct sa_table *t, const struct sa *sa,
                         uint32_t begun, uint32_t size, sa_table_record *on_record, void *user)
{
    if (t->carried != begun || begun >= size || size > sizeof all->split ||
        view_has(sa->data, 0, size - begun) != WIRE_OK)
        return;
    memcpy(all->split, t->bytes, begun);
    memcpy(all->split + begun, sa->data.p, size - begun);
    struct split_record split = {all->split, size, begun, sa->data.p};
    on_record(user, all->split, &split);
}

/*
 * Keep the record that begins at this offset of the segment, if the next segment has its end: not
 * if the segment is shorter than all but the last one are.
 */
static void keep_split_record(struct sa_table *t, const struct sa *sa, uint32_t at)
{
    bool whole = sa->data.cap == SA_DATA_SIZE && sa->data.len == SA_DATA_SIZE;
    t->carried = whole && at < sa->data.len ? sa->data.len - at : 0;
    memcpy(t->bytes, sa->data.p + (t->carried ? at : 0), t->carried);
}

/* Segments have 200 bytes of data, except the last one (IBA 13.6.2.1). */
bool sa_tables_read(struct sa_tables *all, const struct port *requester, const struct sa *sa,
                    uint32_t size, sa_table_record *on_record, void *user)
{
    uint32_t segment = sa->rmpp_type == RMPP_TYPE_DATA ? sa->segment : 1;
    uint32_t stride = sa->record_stride;
    if (segment == 0 || stride < size || size == 0 || sa->rmpp_type > RMPP_TYPE_DATA)
        return false;
    struct sa_table *t = slot(all, requester, sa->mad.tid);
    bool follows = port_same(t->requester, *requester) && t->tid == sa->mad.tid &&
                   t->next == segment;
    uint32_t begun = (uint32_t)((uint64_t)(segment - 1) * SA_DATA_SIZE % stride), at = 0;
    if (begun && follows)
        read_carried(all, t, sa, begun, size, on_record, user);
    for (at = begun ? stride - begun : 0;
         view_has(sa->data, at, size) == WIRE_OK && (at == 0 || sa->rmpp_type == RMPP_TYPE_DATA);
         at += stride)
        on_record(user, sa->data.p + at, NULL);
    t->requester = *requester;
    t->tid = sa->mad.tid;
    t->next = segment + 1;
    t->whole = (segment == 1 || (follows && t->whole)) && sa->data.cap == sa->data.len;
    keep_split_record(t, sa, at);
    return t->whole && (sa->rmpp_type != RMPP_TYPE_DATA || sa->rmpp_flags & RMPP_FLAG_LAST);
}

void sa_tables_merge(struct sa_tables *all)
{
    memset(all, 0, sizeof *all);
}
