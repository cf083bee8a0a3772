/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,peers: IP addresses and their 20-byte link-layer addresses, from ARP and Neighbour
 * Discovery.
 */
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/tap.h"

#include <arpa/inet.h>

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

static void add_peer(struct rows *rows, const struct neighbour *n)
{
    uint16_t interface = (uint16_t)(n->link >> 16);
    struct lladdr a = lladdr_read(n->lladdr);
    const struct endport *port = endports_by_gid(state_facts()->endports, interface, a.gid);
    cell_ip(rows, &n->ip);
    cell_text(rows, "0x%02x", a.flags);
    cell_text(rows, "0x%06x", a.qpn);
    cell_gid(rows, a.gid);
    cell_modes(rows, a.flags);
    cell_pkey(rows, pkey_of_link(n->link));
    cell_interface(rows, interface);
    cell_lid(rows, port && port->lid ? port->lid : n->lid);
    cell_number(rows, n->frame);
    cell_number(rows, n->last_frame);
    cell_text(rows, "%s", peer_state(n));
}

static void fill_peers(struct rows *rows)
{
    const struct fabric_facts *f = state_facts();
    for (unsigned i = 0; i < neighbours_count(f->neighbours); i++)
        add_peer(rows, neighbours_at(f->neighbours, i));
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
        {.name = "First frame", .number = true},
        {.name = "Last frame", .number = true},
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
