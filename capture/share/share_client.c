/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises the client identifier of a DHCP message. See share_client.h. */
#include "capture/share/share_client.h"

#include <string.h>

#include "wire/dhcp.h"
#include "wire/lladdr.h"
#include "wire/view.h"

void client_add(struct client *c, struct part value)
{
    c->map = value.map;
    for (uint32_t i = 0; i < value.cap && c->n < CLIENT_MAX; i++, c->n++) {
        c->bytes[c->n] = value.from[i];
        c->to[c->n] = value.to + i;
    }
}

enum mapped hardware_kind(bool infiniband, uint32_t n)
{
    enum { OF_MAC = 6, OF_GUID = 8 };

    return n == OF_MAC                      ? MAC
           : n == OF_GUID                   ? GUID
           : n == LLADDR_SIZE && infiniband ? LLADDR
                                            : OCTETS;
}

static bool is_hardware(uint32_t type)
{
    return type == DHCP_HTYPE_ETHERNET || type == DHCP_HTYPE_INFINIBAND;
}

/* The identity that follows a hardware type; other identities are bytes without structure. */
static void share_identity(struct part p, uint32_t type)
{
    enum mapped kind = is_hardware(type) ? hardware_kind(type == DHCP_HTYPE_INFINIBAND, p.cap)
                                         : OCTETS;

    part_map(p, kind, 0, p.cap);
}

/* Bytes whose first N, a type, are not known: they become 0, the others depend on all. */
static void share_opaque(struct part p, uint32_t n)
{
    part_map(p, OCTETS, 0, p.cap);
    memset(p.to, 0, n < p.cap ? n : p.cap);
}

/* ---- DUIDs (RFC 8415 section 11): a type of 2 bytes, and */

enum { DUID_LLT = 1, DUID_EN = 2, DUID_LL = 3, DUID_UUID = 4 };

/* a hardware type, then the address. GAP: the size of a time between both, which stays zero */
static void share_duid_hardware(struct part p, uint32_t gap)
{
    enum { SIZE = 2 };
    uint32_t type = part_has(p, 0, SIZE) ? be16(p.from) : 0;

    if (is_hardware(type))
        part_keep(p, 0, SIZE);
    share_identity(part_from(p, SIZE + gap), type);
}

/* an enterprise number and an identity */
static void share_duid_enterprise(struct part p)
{
    enum { SIZE = 4, BEYOND = 0x100000 }; /* IANA assigns them in order */

    if (part_has(p, 0, SIZE) && be32(p.from) < BEYOND)
        part_keep(p, 0, SIZE);
    part_map(part_from(p, SIZE), OCTETS, 0, part_from(p, SIZE).cap);
}

static void share_duid(struct part p)
{
    enum { TIME_SIZE = 4 };
    uint16_t type = part_has(p, 0, DHCP_DUID_TYPE_SIZE) ? be16(p.from) : 0;
    struct part rest = part_from(p, DHCP_DUID_TYPE_SIZE);

    if (type < DUID_LLT || type > DUID_UUID) {
        share_opaque(p, DHCP_DUID_TYPE_SIZE);
        return;
    }
    part_keep(p, 0, DHCP_DUID_TYPE_SIZE);
    if (type == DUID_EN)
        share_duid_enterprise(rest);
    else if (type == DUID_UUID)
        part_map(rest, OCTETS, 0, rest.cap);
    else
        share_duid_hardware(rest, type == DUID_LLT ? TIME_SIZE : 0);
}

/* ---- the identifier */

/* Type, IAID and DUID (RFC 4361 section 6.1), or type and identity; type 0: a text */
static void share_whole(struct part p)
{
    uint8_t type = p.from[0];

    if (type != 0 && type != DHCP_CLIENT_ID_TYPE_DUID && !is_hardware(type)) {
        share_opaque(p, 1);
        return;
    }
    part_keep(p, 0, 1);
    if (type == DHCP_CLIENT_ID_TYPE_DUID && p.cap > DHCP_CLIENT_ID_DUID) {
        part_map(p, OCTETS, 1, DHCP_CLIENT_ID_DUID - 1);
        share_duid(part_from(p, DHCP_CLIENT_ID_DUID));
    } else {
        share_identity(part_from(p, 1), type);
    }
}

void client_share(const struct client *c)
{
    uint8_t new[CLIENT_MAX] = {0};

    if (c->n)
        share_whole((struct part){c->map, c->bytes, new, c->n});
    for (uint32_t i = 0; i < c->n; i++)
        *c->to[i] = new[i];
}
