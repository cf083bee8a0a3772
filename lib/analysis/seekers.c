/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that look whether an address is free (RFC 5227 section 2.1.1, RFC 4862 section 5.4), and
 * who answers that it has it. Tools ask so too, from a queue pair of their own: ipoib-probe, and
 * whoever wants an answer without an entry in the neighbour tables. The kernel's queue pair has
 * announced an address of its host before, or its port has joined the solicited-node group of the
 * address to receive (RFC 4862 section 5.4.2). Only its detections fail.
 */
#include "analysis/question.h"
#include "rules/check_context.h"

enum { SEEKERS = 64, WANTED_MAX = 3, ANSWERED_MS = 5000, SEEK_MS = 60000 };

struct seeker {
    uint64_t port; /* 0: unused */
    struct ip wanted;
    int64_t ms;
    uint32_t frame, first_frame;
    uint8_t gid[GID_SIZE];    /* its own, if is_kernel */
    uint8_t holder[GID_SIZE]; /* that answers */
    unsigned times;           /* addresses that it has answered for */
    bool answered;            /* the last one is counted */
    bool is_kernel;
};

struct seekers {
    struct seeker all[SEEKERS];
    unsigned n;
};

NEW_HISTORY(seekers, seekers_new)

static struct seeker *seeker_of(const struct watch *w, struct port port)
{
    return &w->seekers->all[(port.id * 31 >> 3 ^ port.id) % SEEKERS];
}

static bool has_announced(const struct watch *w, const uint8_t *lladdr)
{
    const struct neighbours *n = w->f->neighbours;
    return neighbours_of_lladdr(n, lladdr, IPV4_ADDRESS_SIZE, w->p->at.frame) ||
           neighbours_of_lladdr(n, lladdr, IPV6_ADDRESS_SIZE, w->p->at.frame);
}

/* The destination is the solicited-node group; of ARP, the broadcast group, in which all are. */
static bool has_joined_its_group(const struct watch *w, const struct ip *ip)
{
    const struct group *group = groups_find(w->f->groups, w->p->at.interface, w->p->ib.dgid);
    const struct member *m = ip->length == IPV6_ADDRESS_SIZE && group && w->e->sender
                                 ? groups_member(w->f->groups, group, w->e->sender)
                                 : NULL;
    return m && m->join_state & JOIN_FULL;
}

static void note_kernel(const struct watch *w, struct seeker *s, const struct ip *ip)
{
    const struct ib_packet *ib = &w->p->ib;
    uint8_t lladdr[LLADDR_SIZE] = {0};
    s->is_kernel = false;
    if (!ib->sgid || !ib->dgid)
        return;
    memcpy(s->gid, ib->sgid, GID_SIZE);
    memcpy(lladdr + LLADDR_GID, ib->sgid, GID_SIZE);
    for (unsigned i = 0; i < 3; i++)
        lladdr[LLADDR_QPN + i] = (uint8_t)(ib->sqpn >> (16 - 8 * i));
    s->is_kernel = has_announced(w, lladdr) || has_joined_its_group(w, ip);
}

void watch_wanted(const struct watch *w, const struct ip *ip)
{
    struct seeker *s = seeker_of(w, w->p->src);
    int64_t ms = watch_ms(w);
    if (s->port != w->p->src.id || ms < s->ms || ms - s->ms > SEEK_MS)
        *s = (struct seeker){.port = w->p->src.id, .first_frame = w->p->at.frame};
    w->seekers->n++;
    if (!ip_same(&s->wanted, ip)) {
        if (!s->answered) /* the one before was free */
            s->times = 0;
        if (!s->times)
            s->first_frame = w->p->at.frame;
        s->answered = false;
    }
    s->wanted = *ip;
    s->ms = ms;
    s->frame = w->p->at.frame;
    note_kernel(w, s, ip);
}

/* Hosts choose addresses of 169.254.0.0/16 at random until one is free (RFC 3927 section 2.1). */
static bool is_chosen_at_random(const struct ip *ip)
{
    return ip->length == IPV4_ADDRESS_SIZE && ip->bytes[0] == 169 && ip->bytes[1] == 254;
}

APART static void taken(const struct watch *w, const struct seeker *s, const uint8_t *holder)
{
    struct sender who = {.lid = port_to_lid((struct port){s->port}),
                         .known = SENDER_LID | SENDER_GID};
    const struct event_key key = event_key(w, EVENT_ADDRESS_TAKEN, s->gid, holder, 0);
    char gid[GID_TEXT];
    memcpy(who.gid, s->gid, GID_SIZE);
    who = sender_with_ip(who, &s->wanted);
    watch_event(w, &key, &who, s->frame,
                "it looks whether the address is free (%s), and GID %s, LID %u answers that it has "
                "it: it may not use the address",
                s->wanted.length == IPV4_ADDRESS_SIZE ? "ARP probe" : "duplicate address detection",
                text_of_gid(gid, holder), w->p->ib.slid);
}

APART static void never_free(const struct watch *w, const struct seeker *s)
{
    struct sender who = sender_of_lid(w, port_to_lid((struct port){s->port}));
    char gid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_DUPLICATE_IP, s->holder, NULL,
                                           UINT64_C(2) << 32 | who.lid);
    watch_event(w, &key, &who, s->first_frame,
                "it finds no free address: GID %s has answered for each of the %u that it has "
                "looked for since frame %u",
                text_of_gid(gid, s->holder), s->times, s->first_frame);
}

/* The answer of a port whose link-layer address this is. */
static void held(const struct watch *w, struct seeker *s, const uint8_t *lladdr)
{
    s->answered = true;
    if (memcmp(s->holder, lladdr + LLADDR_GID, GID_SIZE) != 0)
        s->times = 0;
    memcpy(s->holder, lladdr + LLADDR_GID, GID_SIZE);
    if (++s->times >= WANTED_MAX)
        never_free(w, s);
}

static bool is_answer_to(const struct watch *w, const struct seeker *s, const struct ip *ip)
{
    return s->port && s->port != w->p->src.id && ip_same(&s->wanted, ip) &&
           port_interface((struct port){s->port}) == w->p->at.interface &&
           watch_ms(w) - s->ms <= ANSWERED_MS;
}

bool watch_has_seekers(const struct watch *w)
{
    return w->seekers->n;
}

APART static void watch_seekers(const struct watch *w, const struct ip *ip, const uint8_t *lladdr)
{
    for (unsigned i = 0; i < SEEKERS; i++) {
        struct seeker *s = &w->seekers->all[i];
        if (!is_answer_to(w, s, ip))
            continue;
        if (s->is_kernel && !is_chosen_at_random(ip) &&
            memcmp(s->gid, lladdr + LLADDR_GID, GID_SIZE) != 0)
            taken(w, s, lladdr + LLADDR_GID);
        if (!s->answered)
            held(w, s, lladdr);
    }
}

void watch_held(const struct watch *w, const uint8_t *ip, uint8_t length, const uint8_t *lladdr)
{
    const struct ip held = ip_read(ip, length);
    if (watch_has_seekers(w))
        watch_seekers(w, &held, lladdr);
}
