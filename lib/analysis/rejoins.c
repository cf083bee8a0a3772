/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What follows from another SM: two that take the ports from each other, and ports that do not join
 * their groups again. The new SM knows the
 * memberships only if the old one told it, or if the ports join again: it asks them to
 * (ClientReregister, IBA 14.4.11), and Linux joins again by itself when the SM's LID changes. So
 * requests to the group do not reach such a port; they have no answer. An SM that was restarted is
 * at its LID as before, and asks the ports in the same way. One that asks again and again makes the
 * ports join again and again.
 */
#include "analysis/unanswered.h"

enum { SUBNETS = 16, SETTLED_MS = 10000 };
/* So many changes back, each at least so long after the last, and all within ten minutes. */
enum { TURNS = 4, TURN_MS = 1000, TURNS_MS = 600000 };

struct new_managers {
    struct new_manager {
        uint32_t frame; /* since which it is in charge; 0: no change was seen */
        uint16_t subnet;
        int64_t ms;                  /* of the last packet that shows it */
        uint16_t before, now;        /* LIDs in the last change */
        uint32_t turns, first_frame; /* changes back, since the change in this frame */
        int64_t turn_ms, first_ms;   /* of the last of these changes, and of the first */
    } all[SUBNETS];
};

NEW_HISTORY(new_managers, new_managers_new)

/* Two SMs are in charge by turns. */
APART static void by_turns(const struct watch *w, const struct new_manager *m)
{
    uint16_t low = MIN(m->before, m->now), high = MAX(m->before, m->now);
    struct sender who = sender_of_lid(w, m->now), other = sender_of_lid(w, m->before);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_SM_CHANGED, NULL, NULL,
                                           UINT64_C(1) << 48 | (uint64_t)low << 16 | high);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, m->first_frame,
                "it and the one at %s take the ports from each other, %u times since frame %u: two "
                "subnet managers are master, or they are restarted by turns",
                sender_text(text, &other), m->turns + 1, m->first_frame);
    if (w->sink->last)
        w->sink->last->decisive = true;
}

static void watch_turn(const struct watch *w, struct new_manager *m, uint16_t before, uint16_t now)
{
    int64_t ms = watch_ms(w);
    if (m->before == before && m->now == now)
        return;
    bool is_back = m->before == now && m->now == before;
    if (is_back && ms - m->turn_ms < TURN_MS)
        return;
    if (!is_back || ms - m->first_ms > TURNS_MS) {
        m->turns = 0;
        m->first_frame = w->p->at.frame;
        m->first_ms = ms;
    }
    m->turns += is_back;
    m->before = before;
    m->now = now;
    m->turn_ms = ms;
    if (m->turns >= TURNS)
        by_turns(w, m);
}

/* Ports learn of it one after the other. */
void watch_new_manager(const struct watch *w, uint16_t before, uint16_t now)
{
    struct new_manager *m = &w->new_managers->all[w->p->at.interface % SUBNETS];
    int64_t ms = watch_ms(w);
    if (packet_is_corrupt(w->p))
        return;
    if (m->subnet != w->p->at.interface)
        *m = (struct new_manager){.subnet = w->p->at.interface};
    bool is_new = !m->frame || ms - m->ms > SETTLED_MS;
    if (is_new)
        m->frame = w->p->at.frame;
    m->ms = ms;
    if (before && now)
        watch_turn(w, m, before, now);
}

/* ---- joins of members */

/* So many joins, each at least so long after the last, and at most so long. */
enum { JOINS = 1 << 10, JOINS_AGAIN = 5, JOINS_MS = 1000, JOINS_PAUSE_MS = 600000 };

/* A cache of memberships. */
struct joins_again {
    struct join_again {
        uint64_t id; /* of the port and the group; 0: unused */
        uint32_t first_frame, frame, times;
        uint32_t asked_frame, asked; /* the last ClientReregister, and those since the first join */
        uint16_t request;
        int64_t ms;
    } all[JOINS];
};

NEW_HISTORY(joins_again, joins_again_new)

APART static void joins_again(const struct watch *w, const struct subnet_event *e,
                              const struct join_again *j)
{
    const struct sender who = sender_of_endport(e->endport);
    char group[GID_TEXT], asked[120] = "";
    const struct event_key key = event_key(w, EVENT_REJOINS, who.gid, NULL, who.lid);
    if (j->asked)
        g_snprintf(
            asked, sizeof asked,
            ", as the subnet manager asks it to (ClientReregister in its PortInfo, %u times, "
            "last in frame %u)",
            j->asked, j->asked_frame);
    watch_no_copy(w, &key);
    watch_event(
        w, &key, &who, j->asked ? j->asked_frame : j->first_frame,
        "it has joined the group %s, of which it was a member already, %u times again since "
        "frame %u%s",
        text_of_gid(group, e->group->mgid), j->times, j->first_frame, asked);
}

/* Has nothing happened since that a port joins again for? It may have left in a gap. */
static bool is_undisturbed(const struct watch *w, const struct subnet_event *e,
                           const struct join_again *j)
{
    const struct endport *port = e->endport;
    const struct new_manager *m = &w->new_managers->all[w->p->at.interface % SUBNETS];
    uint32_t disturbed = MAX(MAX(port->initialised_frame, port->new_frame),
                             MAX(port->gsi.gap_frame, e->group->deleted_frame));
    return disturbed < j->frame && m->frame < j->frame && watch_ms(w) - j->ms <= JOINS_PAUSE_MS;
}

void watch_join_again(const struct watch *w, const struct subnet_event *e)
{
    if (!e->endport || packet_is_corrupt(w->p))
        return;
    uint64_t id = mix_gid(mix_gid(w->p->at.interface, e->endport->gid), e->group->mgid) | 1;
    struct join_again *j = &w->joins_again->all[id >> 32 & (JOINS - 1)];
    int64_t ms = watch_ms(w);
    bool is_same = j->id == id;
    if (is_same && (e->member->request == j->request || ms - j->ms < JOINS_MS))
        return;
    if (!is_same || !is_undisturbed(w, e, j))
        *j = (struct join_again){.id = id, .first_frame = w->p->at.frame};
    else
        j->times++;
    j->asked += j->times && e->endport->reregister_frame > j->frame;
    j->asked_frame = e->endport->reregister_frame;
    j->frame = w->p->at.frame;
    j->request = e->member->request;
    j->ms = ms;
    if (j->times >= JOINS_AGAIN)
        joins_again(w, e, j);
}

/* ---- ports that do not join again */

static uint32_t changed_frame(const struct watch *w, const struct question *q)
{
    const struct new_manager *m = &w->new_managers->all[q->key.subnet % SUBNETS];
    return m->subnet == q->key.subnet ? m->frame : 0;
}

static void report(const struct watch *w, const struct endport *port, const struct member *m,
                   uint32_t changed)
{
    struct sender who = sender_of_endport(port);
    char group[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_REJOIN_MISSING, who.gid, m->group->mgid, 0);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, changed,
                "it has not joined the broadcast group %s again since %s (its last join: frame "
                "%u), and requests to the group have no answer%s",
                text_of_gid(group, m->group->mgid),
                changed == port->reregister_frame
                    ? "the subnet manager asked it to (ClientReregister)"
                    : "another subnet manager is in charge",
                m->frame,
                changed == port->reregister_frame  ? ""
                : port->reregister_frame > changed ? ", although it was asked to register again"
                                                   : "; the new one has not asked it to "
                                                     "(ClientReregister)");
}

/* Does the SA give the group another MLID since the port joined? */
static bool has_old_mlid(const struct member *m)
{
    const struct group *group = m ? group_of(m->group) : NULL;
    return group && group->state == GROUP_PRESENT && m->join_state & JOIN_FULL && m->frame &&
           m->mlid >= LID_MULTICAST_FIRST && group->mlid >= LID_MULTICAST_FIRST &&
           m->mlid != group->mlid && group->record_frame > m->frame && !m->pending &&
           !m->unanswered && m->endport->gsi.gap_frame < m->frame;
}

static void report_old_mlid(const struct watch *w, const struct member *m)
{
    const struct group *group = group_of(m->group);
    const struct endport *port = endport_of(m->endport);
    struct sender who = sender_of_endport(port);
    char mgid[GID_TEXT];
    const struct event_key key = event_key(w, EVENT_REJOIN_MISSING, who.gid, group->mgid, m->mlid);
    watch_no_copy(w, &key);
    watch_event(
        w, &key, &who, group->since_frame > m->frame ? group->since_frame : m->frame,
        "it has joined the broadcast group %s at the LID 0x%04x (frame %u), but the SA gave "
        "others the LID 0x%04x for it since (frame %u): it and those others do not hear "
        "each other; the port has not joined again, %s",
        text_of_gid(mgid, group->mgid), m->mlid, m->frame, group->mlid, group->record_frame,
        port->reregister_frame > m->frame
            ? "although it was asked to (ClientReregister)"
            : "as the subnet manager has not asked it to (ClientReregister)");
}

/* The members at both ends of the question. */
static void watch_old_mlids(const struct watch *w, const struct question *q,
                            const struct member *target, const struct group *group)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, q->lid);
    const struct member *requester = group && port ? groups_member(w->f->groups, group, port)
                                                   : NULL;
    if (has_old_mlid(target))
        report_old_mlid(w, target);
    if (has_old_mlid(requester))
        report_old_mlid(w, requester);
}

void watch_rejoin(const struct watch *w, const struct question *q)
{
    uint32_t changed = changed_frame(w, q);
    if (q->peer < LID_MULTICAST_FIRST)
        return;
    struct ip target = ip_of_key(q->key.about);
    const struct neighbour *n = neighbours_of_ip(w->f->neighbours, (uint32_t)q->key.requester,
                                                 &target);
    const struct endport *port = n ? endports_by_gid(w->f->endports, w->p->at.interface,
                                                     n->lladdr + LLADDR_GID)
                                   : NULL;
    const struct group *group = groups_only_broadcast(w->f->groups, w->p->at.interface,
                                                      (uint16_t)(q->key.requester & 0xffff));
    const struct member *m = port && group ? groups_member(w->f->groups, group, port) : NULL;
    watch_old_mlids(w, q, m, group);
    if (port && !changed)
        changed = port->reregister_frame;
    if (q->first_frame >= changed && m && m->join_state & JOIN_FULL && m->frame &&
        m->frame < changed && !m->pending && !m->unanswered && port->gsi.gap_frame < m->frame)
        report(w, port, m, changed);
}
