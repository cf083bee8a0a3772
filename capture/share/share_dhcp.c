/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises DHCP messages. See share_ip.h. */
#include "capture/share/share_ip.h"
#include "wire/dhcp.h"
#include "wire/ip.h"
#include "wire/lladdr.h"

/*
 * Contents of options (RFC 2132); all others are cleared, and numbers that are longer than they may
 * be.
 */
enum { NUMBERS_MAX = 4, DHCP_OPTION_PARAMETERS = 55 };
enum { HOLDS_OTHER, HOLDS_NUMBERS, HOLDS_ADDRESSES, HOLDS_CLIENT };

static int holds(uint8_t option)
{
    switch (option) {
    case 1:  /* subnet mask */
    case 51: /* lease time */
    case DHCP_OPTION_OVERLOAD:
    case DHCP_OPTION_MESSAGE_TYPE:
    case DHCP_OPTION_PARAMETERS:
    case 57: /* maximum message size */
    case 58: /* renewal time */
    case 59: /* rebinding time */
        return HOLDS_NUMBERS;
    case 3:  /* routers */
    case 6:  /* name servers */
    case 28: /* broadcast address */
    case 42: /* time servers */
    case 50: /* requested address */
    case 54: /* server identifier */
        return HOLDS_ADDRESSES;
    case DHCP_OPTION_CLIENT_ID:
        return HOLDS_CLIENT;
    default:
        return HOLDS_OTHER;
    }
}

enum { DUID_LLT = 1, DUID_EN = 2, DUID_LL = 3 }; /* RFC 8415 section 11 */

/*
 * Bytes of a DUID before its identifying part: type, and enterprise number, or hardware type (and
 * time).
 */
static uint32_t duid_head(const uint8_t *p, uint32_t n)
{
    uint16_t type = n >= 2 ? be16(p) : 0;

    return type == DUID_EN ? 6 : type == DUID_LL ? 4 : type == DUID_LLT ? 8 : 2;
}

/*
 * Anonymises a client identifier: type, IAID and DUID (RFC 4361 section 6.1). Of any other form
 * only the type is kept.
 */
static void share_client(struct share_map *m, uint8_t *p, uint32_t n)
{
    uint32_t at = 1;

    if (n > DHCP_CLIENT_ID_DUID && p[0] == DHCP_CLIENT_ID_TYPE_DUID) {
        share_bytes(m, p + 1, DHCP_CLIENT_ID_DUID - 1);
        at = DHCP_CLIENT_ID_DUID + duid_head(p + DHCP_CLIENT_ID_DUID, n - DHCP_CLIENT_ID_DUID);
    }
    if (at < n && n - at == LLADDR_SIZE)
        share_lladdr(m, p + at);
    else if (at < n && n - at == 8)
        share_guid(m, p + at);
    else if (at < n)
        share_bytes(m, p + at, n - at);
}

/* The client identifier; it can be split over several options (RFC 3396). */
struct client {
    uint8_t *at[512]; /* position of each of its bytes */
    uint32_t n;
};

static void add_client(struct client *c, uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (c->n < sizeof(c->at) / sizeof(*c->at))
            c->at[c->n++] = p + i;
        else
            p[i] = 0;
}

static void share_parts(struct share_map *m, const struct client *c)
{
    uint8_t whole[sizeof(c->at) / sizeof(*c->at)] = {0};

    for (uint32_t i = 0; i < c->n; i++)
        whole[i] = *c->at[i];
    if (c->n)
        share_client(m, whole, c->n);
    for (uint32_t i = 0; i < c->n; i++)
        *c->at[i] = whole[i];
}

static void share_option(struct share_map *m, struct span s, uint8_t option, uint32_t n,
                         struct client *client)
{
    uint8_t *p = span_field(s, 0, n);
    int what = holds(option);

    if (!p || (what == HOLDS_NUMBERS && (n <= NUMBERS_MAX || option == DHCP_OPTION_PARAMETERS)))
        return;
    if (what == HOLDS_CLIENT)
        add_client(client, p, n);
    else if (what == HOLDS_ADDRESSES && n % IPV4_ADDRESS_SIZE == 0)
        for (uint32_t i = 0; i < n; i += IPV4_ADDRESS_SIZE)
            share_ipv4(m, p + i);
    else
        memset(p, 0, n);
}

/* Returns the value of the overload option: which fields contain options too. */
static uint8_t share_dhcp_options(struct share_map *m, struct span s, struct client *client)
{
    uint8_t overload = 0;
    uint32_t at = 0;

    while (at < s.cap && s.p[at] != DHCP_OPTION_END) {
        if (s.p[at] == DHCP_OPTION_PAD) {
            at++;
            continue;
        }
        if (at + 1 >= s.cap)
            break;
        if (s.p[at] == DHCP_OPTION_OVERLOAD && s.p[at + 1] == 1 && at + 2 < s.cap)
            overload = s.p[at + 2];
        share_option(m, span_from(s, at + 2), s.p[at], s.p[at + 1], client);
        at += 2u + s.p[at + 1];
    }
    span_clear(s, at + 1);
    return overload;
}

/*
 * Anonymises the options, and the fields file and sname, which contain options (RFC 2132 section
 * 9.3) or else names, which are cleared.
 */
static void share_all_options(struct share_map *m, struct span s, bool has_options)
{
    struct span file = span_part(s, DHCP_FILE, DHCP_FILE_SIZE),
                sname = span_part(s, DHCP_SNAME, DHCP_SNAME_SIZE);
    struct client client = {.n = 0};
    uint8_t overload = has_options ? share_dhcp_options(m, span_from(s, DHCP_OPTIONS), &client) : 0;

    if (overload & DHCP_OVERLOAD_FILE)
        share_dhcp_options(m, file, &client);
    else
        span_clear(file, 0);
    if (overload & DHCP_OVERLOAD_SNAME)
        share_dhcp_options(m, sname, &client);
    else
        span_clear(sname, 0);
    share_parts(m, &client);
}

/*
 * Maps chaddr. In IPoIB it is zero (RFC 4390 section 2.1). If not, it contains the first 16 bytes
 * of a link-layer address: flags and QPN, which are kept, the prefix, and half of the GUID.
 */
static void share_chaddr(struct share_map *m, uint8_t *p)
{
    static const uint8_t zero[DHCP_CHADDR_SIZE];
    uint8_t lladdr[LLADDR_SIZE] = {0};

    if (memcmp(p, zero, sizeof(zero)) == 0)
        return;
    memcpy(lladdr, p, DHCP_CHADDR_SIZE);
    share_lladdr(m, lladdr);
    memcpy(p, lladdr, DHCP_CHADDR_SIZE);
}

void share_dhcp(struct share_map *m, struct span s)
{
    uint8_t *chaddr = span_field(s, DHCP_CHADDR, DHCP_CHADDR_SIZE);
    uint8_t *cookie = span_field(s, DHCP_COOKIE, DHCP_OPTIONS - DHCP_COOKIE);

    for (uint32_t at = DHCP_CIADDR; at <= DHCP_GIADDR; at += IPV4_ADDRESS_SIZE) {
        uint8_t *p = span_field(s, at, IPV4_ADDRESS_SIZE);
        if (p)
            share_ipv4(m, p);
    }
    if (chaddr)
        share_chaddr(m, chaddr);
    share_all_options(m, s, cookie != NULL);
}
