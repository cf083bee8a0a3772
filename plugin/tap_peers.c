/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,peers: IP addresses and their 20-byte link-layer addresses, from ARP and Neighbour
 * Discovery.
 */
#include "plugin/events.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/tap.h"

#include <arpa/inet.h>

#include "analysis/event_table.h"

static void cell_ip(struct rows *rows, const struct ip *ip)
{
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(ip->length == 4 ? AF_INET : AF_INET6, ip->bytes, text, sizeof text);
    cell_text(rows, "%s", text);
}

/* Every interface supports UD; its address shows what else it supports (RFC 4755 §3.1). */
static void cell_modes(struct rows *rows, uint8_t flags)
{
    cell_text(rows, "UD%s%s", flags & LLADDR_FLAG_RC ? ", RC" : "",
              flags & LLADDR_FLAG_UC ? ", UC" : "");
}

/* The link's P_Key with the full-membership bit, as its MGIDs contain it (RFC 4391 §4). */
static uint16_t pkey_of_link(uint32_t link)
{
    return link & 0x7fff ? (uint16_t)(link | 0x8000) : 0;
}

/*
 * One IP address may have several link-layer addresses: of the same port, after its interface was
 * restarted (RFC 4391 §9.4), or of different ports.
 */
static const char *peer_state(const struct neighbour *n)
{
    const struct neighbour *now = neighbours_of_ip(state_facts()->neighbours, n->link, &n->ip);
    if (!now || now == n)
        return "current";
    return neighbour_is_same_port(now, n->lladdr) ? "replaced" : "duplicate";
}

/* ---- MTU */

/* The Receive MTU that the port names in its newest connection of the partition; 0: not known. */
static uint32_t receive_mtu(const struct endport *port, uint16_t pkey)
{
    const struct connection *c = port ? port->connections : NULL;
    for (; c; c = connection_older(c, port)) {
        const struct connection_side *side = c->endport[0] == port ? &c->requester : &c->responder;
        if (side->has_private && side->recv_mtu && (c->pkey & 0x7fff) == (pkey & 0x7fff))
            return side->recv_mtu;
    }
    return 0;
}

/* "2044", that of datagrams by the broadcast group; "2044, connected 65520" if it has connections.
 */
static void cell_mtu(struct rows *rows, const struct endport *port, uint16_t interface,
                     uint16_t pkey)
{
    const struct group *b = groups_only_broadcast(state_facts()->groups, interface, pkey);
    uint32_t datagram = b && b->records ? ib_mtu_bytes(b->mtu) : 0,
             connected = receive_mtu(port, pkey);
    char text[32] = "-";
    if (datagram)
        snprintf(text, sizeof text, "%u", datagram - ENCAP_SIZE);
    if (connected > ENCAP_SIZE)
        cell_text(rows, "%s, connected %u", text, connected - ENCAP_SIZE);
    else
        cell_text(rows, "%s", text);
}

/* ---- events */

/* Numbers of events, by GID, and by LID of ports whose GID is not known. */
static GHashTable *by_gid, *by_lid;

static guint gid_hash(gconstpointer gid)
{
    return be32((const uint8_t *)gid + 12) ^ be32((const uint8_t *)gid + 8);
}

static gboolean gid_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, GID_SIZE) == 0;
}

static void count_one(GHashTable *counts, gconstpointer key)
{
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));
    g_hash_table_insert(counts, (gpointer)key, GUINT_TO_POINTER(n + 1));
}

static void count_events(const struct event_table *events)
{
    by_gid = g_hash_table_new(gid_hash, gid_equal);
    by_lid = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < event_table_count(events); i++) {
        const struct sender *who = &event_table_at(events, i)->who;
        if (who->known & SENDER_GID)
            count_one(by_gid, who->gid);
        else if (who->known & SENDER_LID)
            count_one(by_lid, GUINT_TO_POINTER(who->lid));
    }
}

static void forget_events(void)
{
    g_hash_table_destroy(by_gid);
    g_hash_table_destroy(by_lid);
}

static void cell_events(struct rows *rows, const uint8_t *gid, uint16_t lid)
{
    cell_number(rows, GPOINTER_TO_UINT(g_hash_table_lookup(by_gid, gid)) +
                          GPOINTER_TO_UINT(g_hash_table_lookup(by_lid, GUINT_TO_POINTER(lid))));
}

/* ---- rows */

static void add_peer(struct rows *rows, const struct neighbour *n)
{
    uint16_t interface = (uint16_t)(n->link >> 16);
    struct lladdr a = lladdr_read(n->lladdr);
    const struct endport *port = endport_of(
        endports_by_gid(state_facts()->endports, interface, a.gid));
    uint16_t lid = port && port->lid ? port->lid : n->lid;
    cell_ip(rows, &n->ip);
    cell_text(rows, "0x%02x", a.flags);
    cell_text(rows, "0x%06x", a.qpn);
    cell_gid(rows, a.gid);
    cell_modes(rows, a.flags);
    cell_pkey(rows, pkey_of_link(n->link));
    cell_interface(rows, interface);
    cell_lid(rows, lid);
    cell_mtu(rows, port, interface, pkey_of_link(n->link));
    cell_number(rows, n->frame);
    cell_number(rows, n->last_frame);
    cell_events(rows, a.gid, lid);
    cell_text(rows, "%s", peer_state(n));
}

static void fill_peers(struct rows *rows)
{
    const struct fabric_facts *f = state_facts();
    count_events(events_of_file());
    for (unsigned i = 0; i < neighbours_count(f->neighbours); i++)
        add_peer(rows, neighbours_at(f->neighbours, i));
    forget_events();
}

void tap_peers_register(void)
{
    static const struct column columns[] = {
        {.name = "IP"},
        {.name = "Flags"},
        {.name = "QPN"},
        {.name = "GID"},
        {.name = "Modes"},
        {.name = "P_Key"},
        {.name = "Interface", .digits = true},
        {.name = "LID", .digits = true},
        {.name = "MTU"},
        {.name = "First frame", .number = true},
        {.name = "Last frame", .number = true},
        {.name = "Events", .number = true},
        {.name = "State"},
    };
    static const struct tap_table peers = {"ipoib,peers",
                                           "IPoIB Peers",
                                           "no ARP or Neighbour Discovery of IPoIB was seen",
                                           columns,
                                           array_length(columns),
                                           fill_peers,
                                           NULL,
                                           NULL};
    table_register(&peers);
}
