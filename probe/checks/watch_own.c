/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changes on this host while a peer is watched: its port, interface and counters. */
#include <string.h>

#include "hca/pkeys.h"
#include "probe/checks/watch_parts.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "wire/pkey.h"
#include "wire/smp.h"

/* ---- the port */

static const char *state_name(uint8_t state)
{
    static const char *const names[] = {[PORT_DOWN] = "Down",
                                        [PORT_INIT] = "Initialize",
                                        [PORT_ARMED] = "Armed",
                                        [PORT_ACTIVE] = "Active"};
    return state < G_N_ELEMENTS(names) && names[state] ? names[state] : "unknown";
}

/* "mlx5_0 1", or the interface through which the probe works. Free with g_free(). */
static char *port_text(const struct peer_watch *w)
{
    const struct transport *t = w->t->link->transport;
    return t->interface ? g_strdup(t->interface->name)
                        : g_strdup_printf("%s %u", t->facts.device, t->facts.port);
}

static bool has_pkey(const struct port_facts *f, uint16_t pkey)
{
    for (unsigned i = 0; i < f->n_pkeys; i++)
        if (f->pkeys[i] == pkey)
            return true;
    return false;
}

/* " 0xffff 0x8001": the P_Keys of the one that the other lacks. Free with g_free(). */
static char *only_in(const struct port_facts *one, const struct port_facts *other)
{
    enum { SHOWN = 4 };
    GString *text = g_string_new(NULL);
    unsigned n = 0;
    for (unsigned i = 0; i < one->n_pkeys; i++)
        if (is_partition(one->pkeys[i]) && !has_pkey(other, one->pkeys[i]) && n++ < SHOWN)
            g_string_append_printf(text, " 0x%04x", one->pkeys[i]);
    if (n > SHOWN)
        g_string_append_printf(text, " and %u more", n - SHOWN);
    return g_string_free(text, FALSE);
}

/* What the change is for the partition of the link. Free with g_free(). */
static char *membership_text(uint16_t before, const struct port_facts *now)
{
    unsigned index;
    if (!pkeys_find(now->pkeys, now->n_pkeys, before, &index))
        return g_strdup_printf(": it is no longer in partition 0x%04x", before | PKEY_MEMBERSHIP);
    uint16_t pkey = now->pkeys[index];
    return pkey == before ? g_strdup("")
                          : g_strdup_printf(": it is a %s member of partition 0x%04x now",
                                            pkey & PKEY_MEMBERSHIP ? "full" : "limited",
                                            pkey | PKEY_MEMBERSHIP);
}

static void note_pkeys(struct peer_watch *w, const struct port_facts *now)
{
    struct probe_link *link = w->t->link;
    char *got = only_in(now, &w->own.port), *lost = only_in(&w->own.port, now),
         *member = membership_text(link->pkey, now), *port = port_text(w);
    if (*got || *lost)
        watch_note_event(w, CHANGE_OWN_PORT,
                         g_strdup_printf("this host's port %s %s P_Key%s%s%s%s", port,
                                         *got ? "has got the" : "has lost the", *got ? got : lost,
                                         *got && *lost ? " instead of" : "", *got ? lost : "",
                                         member));
    /* the queue pair has the P_Key at that index */
    uint16_t at_index = link->pkey_index < now->n_pkeys ? now->pkeys[link->pkey_index] : 0;
    if (same_partition(at_index, link->pkey))
        link->pkey = at_index;
    g_free(port);
    g_free(member);
    g_free(lost);
    g_free(got);
}

static void note_state(struct peer_watch *w, uint8_t now)
{
    char *port = port_text(w);
    watch_note_event(w, CHANGE_OWN_PORT,
                     g_strdup_printf("this host's port %s is %s, was %s", port, state_name(now),
                                     state_name(w->own.port.state)));
    g_free(port);
}

static void note_lids(struct peer_watch *w, const struct port_facts *now)
{
    const struct port_facts *before = &w->own.port;
    watch_note_event(w, CHANGE_OWN_PORT,
                     g_strdup_printf("this host's port has LID %u, was %u; the SM has LID %u, was "
                                     "%u",
                                     now->lid, before->lid, now->sm_lid, before->sm_lid));
}

static void look_at_port(struct peer_watch *w)
{
    struct transport *transport = w->t->link->transport;
    const struct port_facts *before = &w->own.port;
    struct port_facts now;
    if (!transport->ops->read_port || !transport->ops->read_port(transport, &now))
        return;
    if (now.state != before->state)
        note_state(w, now.state);
    if (now.lid != before->lid || now.sm_lid != before->sm_lid)
        note_lids(w, &now);
    note_pkeys(w, &now);
    w->own.port = now;
}

/* ---- the interface */

static enum interface_state read_state(const char *interface)
{
    char *flags = sysfs_interface(interface, "flags");
    enum interface_state state = !*flags                 ? INTERFACE_GONE
                                 : host_is_up(interface) ? INTERFACE_UP
                                                         : INTERFACE_DOWN;
    g_free(flags);
    return state;
}

static void look_at_interface(struct peer_watch *w)
{
    static const char *const words[] = {
        [INTERFACE_GONE] = "is gone", [INTERFACE_DOWN] = "is down", [INTERFACE_UP] = "is up again"};
    struct own_host *own = &w->own;
    enum interface_state now = own->interface[0] ? read_state(own->interface) : own->state;
    if (now != own->state)
        watch_note_event(w, CHANGE_OWN_INTERFACE,
                         g_strdup_printf("this host's %s %s", own->interface, words[now]));
    own->state = now;
}

/* A port that the user named may do without. */
static void find_interface(struct peer_watch *w)
{
    const struct probe_link *link = w->t->link;
    const struct choice *c = link->choice;
    char *name = !c || c->optional            ? NULL
                 : link->transport->interface ? g_strdup(link->transport->interface->name)
                 : c->interface[0]
                     ? g_strdup(c->interface)
                     : host_interface_in_any_state(&link->transport->facts, link->pkey);
    g_strlcpy(w->own.interface, name ? name : "", sizeof w->own.interface);
    w->own.state = name ? read_state(name) : INTERFACE_GONE;
    g_free(name);
}

/* ---- */

void watch_own_begin(struct peer_watch *w)
{
    struct transport *transport = w->t->link->transport;
    w->own.port = transport->facts;
    if (transport->ops->read_port)
        transport->ops->read_port(transport, &w->own.port);
    counters_read(w->t->link, &w->own.counters);
    find_interface(w);
}

void watch_own_look(struct peer_watch *w)
{
    look_at_port(w);
    look_at_interface(w);
}

void watch_own_look_at_counters(struct peer_watch *w)
{
    struct port_counters now;
    counters_read(w->t->link, &now);
    struct counter_growth g = counters_compare(&w->own.counters, &now);
    if (g.errors[0])
        watch_note_event(w, CHANGE_COUNTERS, g_strdup_printf("this host's counters: %s", g.errors));
    w->own.counters = now;
    counters_growth_clear(&g);
}
