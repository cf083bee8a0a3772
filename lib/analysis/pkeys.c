/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams with a P_Key that is not in the sender's P_Key table. An adapter takes the P_Key of its
 * packets from the table (IBA 10.9), so one of the two is wrong. The GRH of datagrams to a group
 * names the sender. In others, the P_Key is wrong if both queue pairs are those of another
 * partition.
 */
#include "analysis/watch.h"
#include "wire/pkey.h"

/* A cache: a table that is overwritten by another counts as not seen. */
enum { TABLES = 1 << 10 };

struct table_seen {
    const struct endport *port; /* NULL: unused */
    uint32_t frame;             /* since which its table is known */
    bool has_table;             /* the frame has the table */
    /* block 0, and the one before it with its frame; frame 0: not known */
    uint16_t entries[ENDPORT_PKEYS], before[ENDPORT_PKEYS];
    uint32_t before_frame;
};

struct pkey_tables {
    struct table_seen seen[TABLES];
    bool has_other_blocks; /* another block than the first of a port's table has entries */
};

NEW_HISTORY(pkey_tables, pkey_tables_new)

static unsigned place_of(const struct endport *port)
{
    return port->lid % TABLES;
}

void watch_pkey_table(const struct watch *w, const struct subnet_event *e)
{
    const struct endport *port = e->kind == SUBNET_PKEYS ? endport_of(e->endport) : NULL;
    if (!port || !port->pkeys)
        return;
    struct table_seen *t = &w->pkey_tables->seen[place_of(port)];
    struct table_seen now = {.port = port,
                             .frame = w->p->at.frame,
                             .has_table = w->p->mad.mad.attribute == SMP_PKEY_TABLE};
    memcpy(now.entries, port->pkeys->entries, sizeof now.entries);
    if (t->port == port) {
        memcpy(now.before, t->entries, sizeof now.before);
        now.before_frame = t->frame;
    }
    *t = now;
}

/*
 * The port's table, if it is known; else NULL. The port has answered since then, so it is no
 * request without an answer; and none of its answers is missing, such as the one to a change.
 */
static const struct table_seen *known_table(const struct watch *w, const struct endport *port)
{
    const struct table_seen *t = &w->pkey_tables->seen[place_of(port)];
    bool is_it = t->port == port && port->smi.last_frame > t->frame;
    return is_it && sequence_is_whole_since(&port->smi, t->frame) &&
                   !order_is_uncertain(&w->f->order, t->frame)
               ? t
               : NULL;
}

/* Most ports have room for several blocks, of which the SM sets only the first. */
void watch_pkey_block(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    if (!(s->mad.modifier & 0xffff) || !smp_says(s))
        return;
    for (unsigned i = 0; view_has(s->data, i, 2) == WIRE_OK; i += 2)
        w->pkey_tables->has_other_blocks |= be16(s->data.p + i) != 0;
}

static bool has_partition(const uint16_t entries[ENDPORT_PKEYS], uint16_t pkey)
{
    for (unsigned i = 0; i < ENDPORT_PKEYS; i++)
        if (same_partition(entries[i], pkey))
            return true;
    return false;
}

/* Was it in the first block before, and is it nowhere now? */
static bool is_removed(const struct watch *w, const struct table_seen *t, uint16_t pkey)
{
    return t->before_frame && !w->pkey_tables->has_other_blocks &&
           sequence_is_whole_since(&t->port->smi, t->before_frame) &&
           has_partition(t->before, pkey) && !has_partition(t->entries, pkey);
}

uint32_t pkey_table_without(const struct watch *w, const struct endport *port, uint16_t pkey)
{
    const struct table_seen *t = port->pkeys ? known_table(w, port) : NULL;
    enum pkey_known has = endport_has_pkey(port, pkey);
    if (!t || !t->has_table)
        return 0;
    return has == PKEY_IS_NOT_THERE || (has == PKEY_NOT_KNOWN && is_removed(w, t, pkey)) ? t->frame
                                                                                         : 0;
}

APART static void wrong_pkey(const struct watch *w, const struct table_seen *t, const char *has)
{
    struct sender who = sender_of_endport(t->port);
    uint16_t pkey = w->p->ib.pkey;
    const struct event_key key = event_key(w, EVENT_WRONG_PKEY, who.gid, NULL, pkey);
    watch_event(w, &key, &who, t->has_table ? t->frame : 0,
                "it sends with the P_Key 0x%04x, and its P_Key table has %s", pkey, has);
}

APART static void watch_pkey_without_entry(const struct watch *w)
{
    const struct endport *port = w->e->sender;
    uint16_t pkey = w->p->ib.pkey;
    const struct table_seen *t = known_table(w, port);
    if (t)
        wrong_pkey(w, t,
                   endport_has_pkey(port, pkey) == PKEY_IS_NOT_THERE ? "none of this partition"
                   : pkey & PKEY_MEMBERSHIP ? "only the limited one of this partition"
                                            : "only the full one of this partition");
}

void watch_sender_pkey(const struct watch *w)
{
    const struct endport *port = w->e->sender;
    if (port && port->pkeys && endport_has_entry(port, w->p->ib.pkey) == PKEY_IS_NOT_THERE)
        watch_pkey_without_entry(w);
}

/* ---- datagrams to one port */

/* The partition in which the port at the LID has announced its queue pair; 0: none, or several. */
static uint16_t partition_of(const struct watch *w, uint16_t lid, uint32_t qpn)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, lid);
    uint16_t found = 0;
    for (unsigned i = 0; port && i < ENDPORT_UD_QPS; i++) {
        if (port->ud[i].qpn != qpn || !port->ud_pkey[i])
            continue;
        if (found)
            return 0;
        found = port->ud_pkey[i];
    }
    return found;
}

/* Receivers drop it, and count a violation (IBA 10.9). A queue pair has one P_Key. */
APART static void other_partition(const struct watch *w, uint16_t partition)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of_lid(w, ib->slid), to = sender_of_lid(w, ib->dlid);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_WRONG_PKEY, who.gid, to.gid,
                                           (uint64_t)partition << 16 | ib->pkey);
    watch_event(w, &key, &who, 0,
                "it sends to %s with the P_Key 0x%04x; both announced their queue pairs in the "
                "partition 0x%04x: the receiver drops the packet",
                sender_text(text, &to), ib->pkey, partition | PKEY_MEMBERSHIP);
}

void watch_unicast_pkey(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (!ib->has_lrh || !ib->has_deth || ib->dlid >= LID_MULTICAST_FIRST)
        return;
    uint16_t from = partition_of(w, ib->slid, ib->sqpn);
    if (!from)
        return;
    if (same_partition(from, ib->pkey))
        *w->usual_pkey = ib->pkey;
    else if (partition_of(w, ib->dlid, ib->dqpn) == from)
        other_partition(w, from);
}
