/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Datagrams with another SL than that of the path that the SA gave to their sender. The SL selects
 * the virtual lane; in fabrics that avoid deadlocks or have QoS by SLs, switches may drop the
 * packet, or deliver it late (IBA 7.6). Linux sends with the SL of the path.
 */
#include "analysis/path_sls.h"
#include "wire/pkey.h"

NEW_HISTORY(path_sls, path_sls_new)

static struct path_sl *slot_of(const struct watch *w, uint16_t slid, uint16_t dlid)
{
    return &w->path_sls->all[(slid * 31u + dlid) % PATH_SLS];
}

/* Is it the entry of this path? pkey: the partition's 15 bits. */
static bool is_of(const struct watch *w, const struct path_sl *s, uint16_t slid, uint16_t dlid,
                  uint16_t pkey)
{
    return s->slid == slid && s->dlid == dlid && s->subnet == w->p->at.interface &&
           same_partition(s->pkey, pkey);
}

/* A requester that names an SL, or another end than itself, may use the path for something else. */
static bool is_of_link(const struct watch *w, const struct subnet_event *e)
{
    return e->request && !(e->request->mask & PATH_HAS_SL) &&
           be16(e->record + PATH_SLID) == port_to_lid(w->p->dst);
}

void watch_sl_of_path(const struct watch *w, const struct subnet_event *e)
{
    if (!is_of_link(w, e))
        return;
    const uint8_t *p = e->record;
    uint16_t slid = be16(p + PATH_SLID), dlid = be16(p + PATH_DLID), pkey = be16(p + PATH_PKEY);
    uint8_t sl = be16(p + PATH_SL) & 0x0f;
    struct path_sl *s = slot_of(w, slid, dlid);
    bool is_known = is_of(w, s, slid, dlid, pkey);
    bool differs = is_known && (s->differs || s->sl != sl);
    if (is_known && s->sl == sl)
        return;
    *s = (struct path_sl){w->p->at.interface, slid, dlid, pkey, sl, differs, w->p->at.frame};
    w->path_sls->sls |= UINT32_C(1) << sl;
    if (sl)
        watch_alert(w, ALERT_SLS);
}

const struct path_sl *path_sl_of(const struct watch *w, uint16_t slid, uint16_t dlid)
{
    const struct path_sl *s = slot_of(w, slid, dlid);
    return slid && s->slid == slid && s->dlid == dlid && s->subnet == w->p->at.interface ? s : NULL;
}

APART static void other_sl(const struct watch *w, const struct path_sl *s)
{
    struct sender who = sender_of_lid(w, s->slid), to = sender_of_lid(w, s->dlid);
    char text[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_WRONG_SL, NULL, NULL,
                                           (uint64_t)s->slid << 32 | (uint64_t)s->dlid << 16 |
                                               (uint64_t)s->sl << 8 | w->p->ib.sl);
    watch_event(w, &key, &who, s->frame,
                "it sends to %s with the SL %u, although the SA gave it a path with the SL %u: "
                "switches may drop its packets",
                sender_text(text, &to), w->p->ib.sl, s->sl);
}

void watch_sl(const struct watch *w)
{
    const struct ib_packet *ib = &w->p->ib;
    if (!ib->has_lrh || !ib->has_bth || !ib->has_deth || ib->dlid >= LID_MULTICAST_FIRST)
        return;
    const struct path_sl *s = slot_of(w, ib->slid, ib->dlid);
    if (is_of(w, s, ib->slid, ib->dlid, ib->pkey) && !s->differs && s->sl != ib->sl &&
        !order_is_uncertain(&w->f->order, s->frame))
        other_sl(w, s);
}
