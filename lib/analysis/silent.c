/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hosts of which nothing is captured any more, while others ask them in vain: one event for all
 * their unanswered questions. One kind of questions of one requester is not enough: the host may
 * not want to answer that.
 */
#include "analysis/unanswered.h"
#include "wire/pkey.h"

/* A cache. */
enum { HOSTS = 1 << 6, ASKERS = 32 };

struct silent_host {
    uint64_t port;           /* 0: unused */
    uint32_t last_frame;     /* its last packet */
    uint16_t askers[ASKERS]; /* LIDs */
    uint8_t n_askers;
    uint32_t kinds; /* of questions, a bit each */
};

struct silent_hosts {
    struct silent_host all[HOSTS];
};

NEW_HISTORY(silent_hosts, silent_hosts_new)

uint32_t port_last_frame(const struct watch *w, struct port port)
{
    uint32_t last = 0;
    for (unsigned class = PSN_SMI; class <= PSN_DATA; class ++) {
        const struct psn_sender *s = psn_gaps_sender(w->f->psn_gaps, port, (enum psn_class) class);
        last = s ? MAX(last, s->last_frame) : last;
    }
    return last;
}

static struct silent_host *host_at(const struct watch *w, struct port port, uint32_t last_frame)
{
    struct silent_host *h = &w->silent_hosts->all[port.id % HOSTS];
    if (h->port != port.id || h->last_frame != last_frame)
        *h = (struct silent_host){.port = port.id, .last_frame = last_frame};
    return h;
}

static void add_asker(struct silent_host *h, const struct question *q)
{
    h->kinds |= 1u << q->key.kind;
    for (unsigned i = 0; i < h->n_askers; i++)
        if (h->askers[i] == q->lid)
            return;
    if (h->n_askers < ASKERS)
        h->askers[h->n_askers++] = q->lid;
}

static bool is_one_kind(const struct silent_host *h)
{
    return (h->kinds & (h->kinds - 1)) == 0;
}

/*
 * The frame of the port's P_Key table, if it has no entry of the partition in which the question
 * was asked; 0: it has, or it is not known.
 */
static uint32_t table_frame(const struct watch *w, struct port port, const struct question *q,
                            uint16_t *pkey)
{
    const struct endport *p = endport_of(
        endports_by_lid(w->f->endports, port_interface(port), port_to_lid(port)));
    bool is_of_link = q->key.kind == QUESTION_ARP || q->key.kind == QUESTION_ND ||
                      q->key.kind == QUESTION_ECHO;
    *pkey = (uint16_t)(q->key.requester & 0x7fff) | PKEY_MEMBERSHIP;
    return p && is_of_link ? pkey_table_without(w, p, *pkey) : 0;
}

/* Another port that sends from the host's address since; NULL: none was seen. */
static const struct group_source *successor(const struct watch *w, const struct silent_host *h,
                                            const struct sender *who, const struct question *q)
{
    bool has_address = q->key.kind == QUESTION_ARP || q->key.kind == QUESTION_ND ||
                       q->key.kind == QUESTION_ECHO || q->key.kind == QUESTION_LARGE;
    struct ip ip = ip_of_key(q->key.about);
    const struct group_source *s = has_address ? group_source_of(w, &ip, (uint32_t)q->key.requester)
                                               : NULL;
    return s && s->frame > h->last_frame && who->known & SENDER_GID &&
                   memcmp(s->gid, who->gid, GID_SIZE) != 0
               ? s
               : NULL;
}

static void append_successor(char *why, size_t size, const struct group_source *s)
{
    char ip[SENDER_TEXT_SIZE], gid[GID_TEXT];
    g_snprintf(why, size,
               "GID %s, LID %u sends from its address, %s, as in frame %u: the address has moved, "
               "no announcement of it was captured, and hosts still send to the old port",
               text_of_gid(gid, s->gid), s->lid, ip_text(ip, &s->ip), s->frame);
}

static void report(const struct watch *w, struct port port, const struct silent_host *h,
                   const struct question *q)
{
    struct sender who = sender_of_lid(w, port_to_lid(port));
    char what[480], why[320] = "it is gone, or its packets are lost on the way";
    uint16_t pkey;
    uint32_t table = table_frame(w, port, q, &pkey);
    const struct group_source *moved = successor(w, h, &who, q);
    if (table)
        g_snprintf(why, sizeof why,
                   "its P_Key table (frame %u) has no entry of the partition 0x%04x", table, pkey);
    else if (moved)
        append_successor(why, sizeof why, moved);
    g_snprintf(what, sizeof what,
               "it stopped sending: nothing of it was captured after frame %u, and %u port%s in "
               "vain; %s",
               h->last_frame, h->n_askers, h->n_askers == 1 ? " asks it" : "s ask it", why);
    const struct event_key key = event_key(w, EVENT_HOST_SILENT, who.gid, NULL,
                                           (uint64_t)who.lid << 32 | h->last_frame);
    watch_no_copy(w, &key);
    w->sink->last = NULL;
    watch_event(w, &key, &who, table ? table : h->last_frame, "%s", what);
    if (w->sink->last && w->sink->last->what && !g_str_equal(w->sink->last->what, what)) {
        g_free(w->sink->last->what);
        w->sink->last->what = g_strdup(what);
    }
}

/* Or does it send from another one now? */
static bool has_its_lid(const struct watch *w, struct port port)
{
    uint16_t lid = port_to_lid(port);
    const struct endport *p = endport_of(
        endports_by_lid(w->f->endports, port_interface(port), lid));
    return p && endport_has_lid(p, lid);
}

/* The cause of its event is its last frame, or its P_Key table. */
static void sends_again(const struct watch *w, const struct link_event *event)
{
    struct link_event *e = event_table_own(w->sink->events, event);
    char *before = e->what;
    e->what = g_strdup_printf("it sends again, in frame %u; before: %s", w->p->at.frame, before);
    g_free(before);
}

/* Others may reach another port instead: that has its own event. */
static bool is_shared(const struct watch *w, struct port port)
{
    const struct sender who = sender_of_lid(w, port_to_lid(port));
    const struct event_key by_gid = event_key(w, EVENT_DUPLICATE_GID, who.gid, NULL, 0);
    const struct event_key by_lid = event_key(w, EVENT_DUPLICATE_LID, NULL, NULL, who.lid);
    return watch_has_event(w, &by_gid) || watch_has_event(w, &by_lid);
}

void watch_silent_host(const struct watch *w, const struct question *q, struct port port)
{
    uint32_t last = port.id && has_its_lid(w, port) ? port_last_frame(w, port) : 0;
    if (!last || last >= q->first_frame || !q->lid || is_shared(w, port))
        return;
    struct silent_host *h = host_at(w, port, last);
    add_asker(h, q);
    if (h->n_askers == 1 && is_one_kind(h))
        return;
    report(w, port, h, q);
    question_may_take_back(w, port, PSN_DATA, q->first_frame, sends_again);
    question_may_take_back(w, port, PSN_GSI, UINT32_MAX, sends_again);
}
