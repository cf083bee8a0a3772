/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams that go round between switches: packets of InfiniBand have no hop count, so the same
 * packet passes the capture point again and again, and never arrives. A mirror has a packet once or
 * twice, one to a group once for each port, and all at once. Packets of connections may be sent
 * again.
 */
#include "analysis/watch.h"
#include "rules/check_context.h"

/* A cache. A packet to a group comes for a time that no mirror takes. */
enum { PACKETS = 1 << 6, TIMES = 5, GROUP_NS = 1000000 };

struct copies_again {
    struct again {
        uint32_t first_frame, times; /* frame 0: unused */
        uint16_t captured_on;
        bool told;
        int64_t ns; /* of the first copy */
    } all[PACKETS];
};

struct copies_again *copies_again_new(void)
{
    return g_new0(struct copies_again, 1);
}

APART static void goes_round(const struct watch *w, const struct again *a)
{
    const struct ib_packet *ib = &w->p->ib;
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_SWITCHING_LOOP, NULL, NULL, ib->dlid);
    watch_no_copy(w, &key);
    watch_event(w, &key, &who, a->first_frame,
                "its packet to the LID %u was captured %u times on one interface: it goes round "
                "between switches, and may never arrive",
                ib->dlid, a->times + 1);
}

/* A mirror of many ports has a packet to a group once for each, at once. */
static bool is_loop(const struct watch *w, const struct again *a)
{
    bool to_group = w->p->ib.dlid >= LID_MULTICAST_FIRST;
    return w->p->ib.has_lrh && w->p->ib.has_deth && a->times + 1 >= TIMES && !a->told &&
           (!to_group || w->p->at.ns - a->ns >= GROUP_NS);
}

void watch_loop(const struct watch *w)
{
    const struct packet *p = w->p;
    struct again *a = &w->copies_again->all[p->copy_of % PACKETS];
    if (a->first_frame != p->copy_of || a->captured_on != p->captured_on)
        *a = (struct again){
            .first_frame = p->copy_of, .captured_on = p->captured_on, .ns = p->at.ns};
    a->times++;
    if (!is_loop(w, a))
        return;
    a->told = true;
    goes_round(w, a);
}
