/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises the client identifier of a DHCP message. See share_client.h. */
#include "capture/share/share_client.h"

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

/* An address by its length, or other bytes that identify the client */
static void share_identity(struct part p)
{
    enum { OF_MAC = 6, OF_GUID = 8 };
    enum mapped kind = p.cap == LLADDR_SIZE ? LLADDR
                       : p.cap == OF_GUID   ? GUID
                       : p.cap == OF_MAC    ? MAC
                                            : OCTETS;

    part_map(p, kind, 0, p.cap);
}

/*
 * A DUID (RFC 8415 section 11): type; a time and a hardware type, or an enterprise number, or
 * neither; the identity
 */
static void share_duid(struct part p)
{
    enum { LLT = 1, EN = 2, LL = 3 };
    enum { HARDWARE_SIZE = 2, LLT_ADDRESS = 8, ENTERPRISE_SIZE = 4 };
    uint16_t type = part_has(p, 0, DHCP_DUID_TYPE_SIZE) ? be16(p.from) : 0;
    uint32_t kept = DHCP_DUID_TYPE_SIZE + (type == LLT || type == LL ? (uint32_t)HARDWARE_SIZE
                                           : type == EN              ? (uint32_t)ENTERPRISE_SIZE
                                                                     : 0);

    part_keep(p, 0, kept);
    share_identity(part_from(p, type == LLT ? (uint32_t)LLT_ADDRESS : kept));
}

/* Type, IAID and DUID (RFC 4361 section 6.1), or type and identity */
static void share_whole(struct part p)
{
    part_keep(p, 0, 1);
    if (p.cap > DHCP_CLIENT_ID_DUID && p.from[0] == DHCP_CLIENT_ID_TYPE_DUID) {
        part_map(p, OCTETS, 1, DHCP_CLIENT_ID_DUID - 1);
        share_duid(part_from(p, DHCP_CLIENT_ID_DUID));
    } else {
        share_identity(part_from(p, 1));
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
