/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of DHCP over InfiniBand (RFC 4390): the messages of a client on an IPoIB interface.
 *
 * The RFC binds clients. A server copies hardware type, chaddr and flags from the request (RFC 2131
 * §4.3.1 table 3), so its messages are not checked. A relay agent or a router may forward the
 * message of a client on another kind of link; these are not checked.
 */
#include <glib.h>

#include "rules/check_context.h"
#include "wire/dhcp.h"
#include "wire/ip.h"

/* The queue pair has sent all its packets to this one since its client asked for an address. */
static uint32_t address_of_client(const struct check_context *s)
{
    return s && s->e->has_sender_qp && s->e->sender_seen == SEEN_NEXT ? s->e->sender_qp.dhcp_address
                                                                      : 0;
}

/*
 * A message with the address for which the client of the same queue pair asked on this link is that
 * client's. Any other one may be of a client on another link, which a router forwards, or of
 * another interface of the host. s NULL: the frame has no InfiniBand headers.
 */
static bool is_of_client_here(const struct check_context *s, const struct datagram *g)
{
    const struct dhcp *d = &g->dhcp;
    return dhcp_is_to_this_link(g->body, d) ||
           (d->op == DHCP_BOOTREQUEST && d->giaddr == 0 && d->ciaddr != 0 &&
            d->ciaddr == address_of_client(s));
}

/* Does the message have the address that a server has leased to the client of the queue pair? */
static bool has_lease(const struct check_context *s, const struct dhcp *d)
{
    uint32_t address = address_of_client(s);
    return address && d->ciaddr == address && s->e->sender_qp.dhcp_bound;
}

/* Has the sender the client's address by ARP, while no address of its own client is known? */
static bool may_be_of_client_here(const struct check_context *s, const struct dhcp *d)
{
    if (!s || d->op != DHCP_BOOTREQUEST || d->giaddr != 0 || address_of_client(s) != 0)
        return false;
    const struct sender sender = sender_of(s->f, s->p);
    return sender.ip_length == IPV4_ADDRESS_SIZE && be32(sender.ip) == d->ciaddr;
}

/* The GID of the port that the client's message came from; NULL: not known. */
static const uint8_t *client_gid(const struct check_context *s, const struct datagram *g)
{
    if (!s || !is_of_client_here(s, g))
        return NULL;
    const struct endport *port = s->e->has_sender_qp ? endport_of(s->e->sender_qp.endport) : NULL;
    if (s->p->ib.sgid)
        return s->p->ib.sgid;
    return port && endport_has_gid(port) ? port->gid : NULL;
}

/* ---- how a client names its port */

enum { GUID_BYTES = 8, MAC_BYTES = 6, MAC_LOCAL = 0x02 };

/*
 * iPXE leaves out bytes 3 and 4 of the GUID, and old versions also set the bit of local addresses.
 * guid NULL: unknown.
 */
static const char *mac_name(const uint8_t *mac, const uint8_t *guid)
{
    if (!guid)
        return NULL;
    bool is = ((mac[0] ^ guid[0]) & ~MAC_LOCAL) == 0 && memcmp(mac + 1, guid + 1, 2) == 0 &&
              memcmp(mac + 3, guid + 5, 3) == 0;
    return is ? "MAC" : "other";
}

static const char *guid_name(const uint8_t *p, const uint8_t *guid)
{
    if (!guid)
        return NULL;
    return memcmp(p, guid, GUID_BYTES) == 0 ? "GUID" : "other";
}

static const char *chaddr_name(struct view v, const struct dhcp *d, const uint8_t *guid)
{
    static const uint8_t zero[DHCP_CHADDR_SIZE];
    const uint8_t *p = v.p + DHCP_CHADDR;
    if (memcmp(p, zero, sizeof zero) == 0)
        return "zero";
    if ((d->hlen != GUID_BYTES && d->hlen != MAC_BYTES) ||
        memcmp(p + d->hlen, zero, sizeof zero - d->hlen) != 0)
        return "other";
    return d->hlen == GUID_BYTES ? guid_name(p, guid) : mac_name(p, guid);
}

static const char *client_id_name(struct view v, const struct dhcp *d, const uint8_t *guid)
{
    const uint8_t *p = v.p + d->client_id;
    uint32_t n = d->client_id_length;
    if (n == 0)
        return "none";
    if (p[0] == DHCP_CLIENT_ID_TYPE_DUID)
        return "DUID";
    if (p[-1] != n) /* in several parts (RFC 3396) */
        return "other";
    if (p[0] == DHCP_HTYPE_INFINIBAND && n == 1 + GUID_BYTES)
        return guid_name(p + 1, guid);
    return p[0] == DHCP_HTYPE_ETHERNET && n == 1 + MAC_BYTES ? mac_name(p + 1, guid) : "other";
}

struct dhcp_names dhcp_client_names(const struct check_context *s, const struct datagram *g)
{
    if (g->dhcp_result != WIRE_OK)
        return (struct dhcp_names){"", ""};
    const uint8_t *gid = client_gid(s, g), *guid = gid ? gid + GID_SIZE - GUID_BYTES : NULL;
    return (struct dhcp_names){chaddr_name(g->dhcp_bytes, &g->dhcp, guid),
                               client_id_name(g->dhcp_bytes, &g->dhcp, guid)};
}

/*
 * Text that names the client's implementation as far as its client identifier does: the type of its
 * DUID and the 4 bytes after it, which are the vendor's enterprise number in type 2 (RFC 3315
 * §9.3). Lists of known deviations use it to distinguish implementations.
 */
static const char *client_text(struct view v, const struct dhcp *d, char *buf, size_t size)
{
    enum { SHOWN = DHCP_DUID_TYPE_SIZE + 4 };
    const uint8_t *p = v.p + d->client_id;
    uint8_t n = d->client_id_length ? p[-1] : 0; /* length of the first part of the option */
    if (n == 0)
        return d->options == WIRE_OK ? "a client without identifier" : "an unknown client";
    if (p[0] != DHCP_CLIENT_ID_TYPE_DUID || n < DHCP_CLIENT_ID_DUID + SHOWN) {
        g_snprintf(buf, size, "client identifier type %u", p[0]);
        return buf;
    }
    p += DHCP_CLIENT_ID_DUID;
    g_snprintf(buf, size, "DUID %04x%08x", be16(p), be32(p + DHCP_DUID_TYPE_SIZE));
    return buf;
}

/*
 * Known deviations apply to certain clients and message types. If the packet was truncated before
 * both are known, a wrong field is inconclusive.
 */
static void expect_of_client(const struct reporter *r, enum rule_number rule, const struct dhcp *d,
                             bool right, const uint8_t *p, uint32_t n, const char *expected,
                             const char *actual)
{
    bool is_unknown = d->options == WIRE_TRUNCATED &&
                      (d->client_id_length == 0 || d->message_type == 0);
    if (!right && is_unknown)
        report_inconclusive(r, rule, p, truncated_by_capture);
    else
        expect_that(r, rule, right, p, n, expected, actual);
}

static void check_chaddr(const struct reporter *r, struct view v, const struct dhcp *d)
{
    static const uint8_t zero[DHCP_CHADDR_SIZE];
    const uint8_t *p = v.p + DHCP_CHADDR;
    char bytes[DHCP_CHADDR_SIZE * 2 + 1], client[32], actual[128];
    for (size_t i = 0; i < DHCP_CHADDR_SIZE; i++)
        g_snprintf(bytes + 2 * i, 3, "%02x", p[i]);
    g_snprintf(actual, sizeof actual, "%s in DHCP message type %u of %s", bytes, d->message_type,
               client_text(v, d, client, sizeof client));
    expect_of_client(r, R_RFC4390_2_1_CHADDR, d, memcmp(p, zero, sizeof zero) == 0, p,
                     DHCP_CHADDR_SIZE, "zero", actual);
}

/*
 * DUID-LLT, DUID-EN and DUID-LL have an address or identifier after their fields (RFC 3315 §9);
 * DUID-UUID has 16 octets (RFC 6355 §4).
 */
static bool is_known_duid(const uint8_t *duid, uint32_t n)
{
    static const uint8_t fields[] = {0, 8, 6, 4, 17};
    uint16_t type = be16(duid);
    return type > 0 && type < G_N_ELEMENTS(fields) && n > fields[type];
}

/* RFC 4361 §6.1. Receivers treat the DUID as opaque (RFC 3315 §9). */
static void check_client_id_format(const struct reporter *r, struct view v, const struct dhcp *d)
{
    const uint8_t *p = v.p + d->client_id;
    uint32_t n = d->client_id_length;
    uint8_t type = n ? p[0] : 0;
    char actual[32];
    if (n)
        g_snprintf(actual, sizeof actual, "type %u, %u bytes", type, n);
    else
        g_strlcpy(actual, "0 bytes", sizeof actual);
    bool has_duid = type == DHCP_CLIENT_ID_TYPE_DUID &&
                    n >= DHCP_CLIENT_ID_DUID + DHCP_DUID_TYPE_SIZE;
    if (has_duid && !is_known_duid(p + DHCP_CLIENT_ID_DUID, n - DHCP_CLIENT_ID_DUID))
        report_inconclusive(r, R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, p - 1,
                            "the DUID's type is not one of RFC 3315 and RFC 6355, or it is too "
                            "short for its type: it may be of a newer type");
    else
        expect_that(r, R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, has_duid, p - 1, 2,
                    "type 255, IAID, DUID", actual);
}

static void check_client_id(const struct reporter *r, struct view v, const struct dhcp *d)
{
    const char *unread = d->options == WIRE_TRUNCATED ? truncated_by_capture
                                                      : "the options are malformed";
    if (d->client_id == 0 && d->options != WIRE_OK) {
        report_inconclusive(r, R_RFC4390_2_1_CLIENT_IDENTIFIER, v.p, unread);
        return;
    }
    expect_that(r, R_RFC4390_2_1_CLIENT_IDENTIFIER, d->client_id != 0, v.p + DHCP_COOKIE, 4,
                "a client identifier option", d->client_id ? "it is there" : "no such option");
    if (d->client_id == 0)
        return;
    if (d->options == WIRE_OK)
        check_client_id_format(r, v, d);
    else /* more parts of the option may follow (RFC 3396) */
        report_inconclusive(r, R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, v.p, unread);
}

/*
 * Does the DHCPREQUEST ask for an address (RFC 2131 table 5)? Only the state SELECTING has a server
 * identifier; in INIT-REBOOT, the client has no source address and names the one that it wants.
 */
static bool asks_for_address(const struct datagram *g)
{
    bool reboots = g->dhcp.requested && be32(g->body.p + IPV4_SOURCE) == 0;
    return g->dhcp.flags & DHCP_FLAG_BROADCAST && (g->dhcp.server || reboots);
}

/*
 * RFC 4390 §2.2: ciaddr is zero and the flag set while the client has no address: DHCPDISCOVER, and
 * DHCPREQUEST in the states SELECTING and INIT-REBOOT, or without ciaddr.
 */
static bool has_no_address(const struct datagram *g)
{
    const struct dhcp *d = &g->dhcp;
    return d->message_type == DHCP_DISCOVER ||
           (d->message_type == DHCP_REQUEST && (asks_for_address(g) || d->ciaddr == 0));
}

/*
 * The flag must not be set in the states BOUND, RENEWING and REBINDING, in which ciaddr is filled
 * in. A client that releases its lease has been in one of them; a client that sends DHCPINFORM may
 * have its address without a lease. The RFC does not mention DECLINE.
 */
static bool has_address(const struct datagram *g)
{
    const struct dhcp *d = &g->dhcp;
    return d->ciaddr != 0 && !has_no_address(g) &&
           (d->message_type == DHCP_REQUEST || d->message_type == DHCP_RELEASE ||
            (d->message_type == DHCP_INFORM && d->flags & DHCP_FLAG_BROADCAST));
}

static void check_flag(const struct reporter *r, const struct check_context *s,
                       const struct datagram *g)
{
    struct view v = g->dhcp_bytes;
    const struct dhcp *d = &g->dhcp;
    bool set = d->flags & DHCP_FLAG_BROADCAST;
    const uint8_t *flags = v.p + DHCP_FLAGS;
    struct reporter of = *r;
    char client[32], actual[64];
    g_snprintf(actual, sizeof actual, "%s by %s", set ? "set" : "not set",
               client_text(v, d, client, sizeof client));
    if (has_no_address(g)) {
        if (d->message_type == DHCP_DISCOVER || d->ciaddr)
            expect_ipv4(r, R_RFC4390_2_2_CIADDR_ZERO, v.p + DHCP_CIADDR, 0);
        expect_of_client(r, R_RFC4390_2_2_BROADCAST_FLAG, d, set, flags, 2, "BROADCAST flag set",
                         actual);
    } else if (has_address(g)) {
        if (d->message_type == DHCP_INFORM && !has_lease(s, d))
            of.doubt = "a DHCPINFORM does not show whether the client has a lease";
        expect_of_client(&of, R_RFC4390_2_2_NO_BROADCAST_FLAG, d, !set, flags, 2,
                         "BROADCAST flag not set", actual);
    }
}

/* The message was truncated before its type or its fields are known. */
static void inconclusive_message(const struct reporter *r, struct view v)
{
    static const enum rule_number of_each_message[] = {R_RFC4390_2_1_HTYPE, R_RFC4390_2_1_HLEN,
                                                       R_RFC4390_2_1_CHADDR,
                                                       R_RFC4390_2_1_CLIENT_IDENTIFIER};
    for (unsigned i = 0; i < G_N_ELEMENTS(of_each_message); i++)
        report_inconclusive(r, of_each_message[i], v.p, truncated_by_capture);
}

static void check_dhcp_message(const struct reporter *r, const struct check_context *s,
                               const struct datagram *g)
{
    struct view v = g->dhcp_bytes;
    const struct dhcp *d = &g->dhcp;
    expect_number(r, R_RFC4390_2_1_HTYPE, v.p + DHCP_HTYPE, 1, DHCP_HTYPE_INFINIBAND);
    expect_number(r, R_RFC4390_2_1_HLEN, v.p + DHCP_HLEN, 1, 0);
    check_chaddr(r, v, d);
    check_client_id(r, v, d);
    check_flag(r, s, g);
}

void check_dhcp(const struct reporter *r, const struct check_context *s, const struct datagram *g)
{
    struct view v = g->dhcp_bytes;
    const struct dhcp *d = &g->dhcp;
    if (g->dhcp_result == WIRE_TRUNCATED && v.cap > 0 && v.p[DHCP_OP] == DHCP_BOOTREQUEST)
        inconclusive_message(r, v);
    if (g->dhcp_result != WIRE_OK || d->op != DHCP_BOOTREQUEST)
        return;
    if (d->htype != DHCP_HTYPE_INFINIBAND && !is_of_client_here(s, g)) {
        if (d->message_type && may_be_of_client_here(s, d))
            report_inconclusive(r, R_RFC4390_2_1_HTYPE, v.p + DHCP_HTYPE,
                                "the capture does not show whether the client has this address on "
                                "this link, or on another interface");
        return;
    }
    if (d->message_type)
        check_dhcp_message(r, s, g);
    else if (d->options == WIRE_TRUNCATED)
        inconclusive_message(r, v);
    /* otherwise BOOTP: the RFC binds only DHCP clients */
}
