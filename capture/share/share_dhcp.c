/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises DHCP messages. See share_ip.h. The client identifier: share_client.c. */
#include "capture/share/share_client.h"
#include "capture/share/share_ip.h"
#include "capture/share/share_layout.h"
#include "wire/dhcp.h"
#include "wire/ip.h"

/* ---- options: code and length are always kept */

/*
 * Options with a number of SIZE bytes (RFC 2132); the value of one with another length stays zero.
 * Of a longer one with one byte the first byte is kept, which receivers and the rules read. SIZE 0:
 * a list of IPv4 addresses.
 */
static const struct shared_option {
    uint8_t code, size;
} shared_options[] = {
    {1, 4},  /* subnet mask */
    {3, 0},  /* routers */
    {6, 0},  /* name servers */
    {28, 0}, /* broadcast address */
    {42, 0}, /* time servers */
    {50, 0}, /* requested address */
    {51, 4}, /* lease time */
    {DHCP_OPTION_OVERLOAD, 1},
    {DHCP_OPTION_MESSAGE_TYPE, 1},
    {54, 0}, /* server identifier */
    {57, 2}, /* maximum message size */
    {58, 4}, /* renewal time */
    {59, 4}, /* rebinding time */
};

static const struct shared_option *find_option(uint8_t code)
{
    for (size_t i = 0; i < sizeof(shared_options) / sizeof(*shared_options); i++)
        if (shared_options[i].code == code)
            return &shared_options[i];
    return NULL;
}

/* P: the value of N bytes, or the captured part of it */
static void share_value(struct part p, uint8_t code, uint32_t n)
{
    const struct shared_option *o = find_option(code);

    if (!o)
        return;
    if (o->size)
        part_keep(p, 0, n == o->size || o->size == 1 ? o->size : 0);
    else if (n % IPV4_ADDRESS_SIZE == 0)
        for (uint32_t at = 0; at < n; at += IPV4_ADDRESS_SIZE)
            part_map(p, IPV4, at, IPV4_ADDRESS_SIZE);
}

/* Returns the value of the overload option: which fields contain options too. */
static uint8_t share_options(struct part p, struct client *client)
{
    uint8_t overload = 0;
    uint32_t at = 0;

    while (at < p.cap && p.from[at] != DHCP_OPTION_END) {
        const uint8_t *option = p.from + at;
        if (*option == DHCP_OPTION_PAD) {
            at++;
            continue;
        }
        part_keep(p, at, 2);
        if (!part_has(p, at, 2))
            return overload;
        struct part value = part_sub(p, at + 2, option[1]);
        if (*option == DHCP_OPTION_CLIENT_ID)
            client_add(client, value);
        else
            share_value(value, *option, option[1]);
        if (*option == DHCP_OPTION_OVERLOAD && value.cap)
            overload = *value.from;
        at += 2u + option[1];
    }
    part_keep(p, at, 1); /* the end */
    return overload;
}

/*
 * The options, and the fields file and sname if they contain options (RFC 2132 section 9.3). They
 * have names otherwise, which stay zero.
 */
static void share_all_options(struct part p)
{
    struct client client = {.n = 0};
    uint8_t overload = share_options(part_from(p, DHCP_OPTIONS), &client);

    if (overload & DHCP_OVERLOAD_FILE)
        share_options(part_sub(p, DHCP_FILE, DHCP_FILE_SIZE), &client);
    if (overload & DHCP_OVERLOAD_SNAME)
        share_options(part_sub(p, DHCP_SNAME, DHCP_SNAME_SIZE), &client);
    client_share(&client);
}

/* ---- the message */

static bool are_zero(const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (bytes[i])
            return false;
    return true;
}

/*
 * The client's hardware address of LENGTH bytes; of a link-layer address the first 16. On an IPoIB
 * link all bytes must be zero (RFC 4390 section 2.1), which a rule checks: if a byte after the
 * address is not zero, the last one becomes 1.
 */
static void share_chaddr(struct part p, uint8_t type, uint8_t length)
{
    uint32_t n = length < DHCP_CHADDR_SIZE ? length : (uint32_t)DHCP_CHADDR_SIZE;
    enum mapped kind = hardware_kind(type == DHCP_HTYPE_INFINIBAND, length);

    if (!part_has(p, 0, DHCP_CHADDR_SIZE))
        return;
    part_map(p, kind == LLADDR ? LLADDR_START : kind, 0, n);
    if (!are_zero(p.from + n, DHCP_CHADDR_SIZE - n))
        p.to[DHCP_CHADDR_SIZE - 1] = 1;
}

/*
 * operation, hardware type, length of the address, hops; transaction, which some clients make of
 * their address (gPXE, old versions of iPXE); seconds; broadcast flag; addresses
 */
static const struct field head_layout[] = {KEEP(32), MAP_NUMBER(32), KEEP(17), ZERO(15),  MAP_IPV4,
                                           MAP_IPV4, MAP_IPV4,       MAP_IPV4, LAYOUT_END};

void share_dhcp(struct part p)
{
    share_layout(p, head_layout);
    if (part_has(p, 0, DHCP_CHADDR))
        share_chaddr(part_sub(p, DHCP_CHADDR, DHCP_CHADDR_SIZE), p.from[DHCP_HTYPE],
                     p.from[DHCP_HLEN]);
    if (!part_has(p, 0, DHCP_OPTIONS) || be32(p.from + DHCP_COOKIE) != DHCP_MAGIC_COOKIE)
        return;
    part_keep(p, DHCP_COOKIE, DHCP_OPTIONS - DHCP_COOKIE);
    share_all_options(p);
}
