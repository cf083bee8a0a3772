/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams with a P_Key that is not in the sender's P_Key table. An adapter takes the P_Key of its
 * packets from the table (IBA 10.9), so one of the two is wrong. Only datagrams to a group are
 * looked at: their GRH names the sender.
 */
#include "analysis/watch.h"
#include "wire/pkey.h"

/* A cache: a table that is overwritten by another counts as not seen. */
enum { TABLES = 1 << 10 };

struct table_seen {
    const struct endport *port; /* NULL: unused */
    uint32_t frame;             /* since which its table is known */
    bool has_table;             /* the frame has the table */
};

struct pkey_tables {
    struct table_seen seen[TABLES];
};

struct pkey_tables *pkey_tables_new(void)
{
    return g_new0(struct pkey_tables, 1);
}

static unsigned place_of(const struct endport *port)
{
    return port->lid % TABLES;
}

void watch_pkey_table(const struct watch *w, const struct subnet_event *e)
{
    const struct endport *port = e->kind == SUBNET_PKEYS ? endport_of(e->endport) : NULL;
    if (!port)
        return;
    struct table_seen *t = &w->pkey_tables->seen[place_of(port)];
    *t = (struct table_seen){port, w->p->at.frame, w->p->mad.mad.attribute == SMP_PKEY_TABLE};
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

APART static void wrong_pkey(const struct watch *w, const struct table_seen *t, const char *has)
{
    struct sender who = sender_of_endport(t->port);
    uint16_t pkey = w->p->ib.pkey;
    const struct event_key key = event_key(w, EVENT_WRONG_PKEY, who.gid, NULL, pkey);
    watch_event(w, &key, &who, t->has_table ? t->frame : 0,
                "it sends with the P_Key 0x%04x, and its P_Key table has %s", pkey, has);
}

void watch_sender_pkey(const struct watch *w)
{
    const struct endport *port = endport_of(w->e->sender);
    uint16_t pkey = w->p->ib.pkey;
    if (!port || !port->pkeys || endport_has_entry(port, pkey) != PKEY_IS_NOT_THERE)
        return;
    const struct table_seen *t = known_table(w, port);
    if (t)
        wrong_pkey(w, t,
                   endport_has_pkey(port, pkey) == PKEY_IS_NOT_THERE ? "none of this partition"
                   : pkey & PKEY_MEMBERSHIP ? "only the limited one of this partition"
                                            : "only the full one of this partition");
}
