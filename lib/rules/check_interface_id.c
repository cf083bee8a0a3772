/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of IPv6 link-local addresses and of interface identifiers (RFC 4391 §8, 8.1): in the
 * source of datagrams, with a link-layer address in Neighbour Discovery, and in the target of
 * duplicate address detection.
 */
#include "rules/report.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/lladdr.h"
#include "wire/nd.h"
#include "wire/put.h"

enum { U_BIT = 0x02 };               /* of the first byte of an EUI-64 (RFC 4291 appendix A) */
enum { EUI_SIZE = 8, OUI_SIZE = 3 }; /* the OUI names the vendor */
enum { INTERFACE_ID = 8 };           /* its offset in the IPv6 address */

/* Bits 10 to 63 are 0 (RFC 4291 2.5.6). */
void check_link_local_form(const struct reporter *r, const uint8_t *ip)
{
    static const uint8_t zero[6];
    if (!ipv6_is_link_local(ip))
        return;
    struct entity address = entity_ip(ip);
    bool form = (ip[1] & 0x3f) == 0 && memcmp(ip + 2, zero, sizeof zero) == 0;
    expect_about(r, R_RFC4391_8_1_LINK_LOCAL_FORM, &address, form, ip, INTERFACE_ID,
                 "fe80::/64 and the interface identifier", "other bits of the prefix are set");
}

static void check_u_bit(const struct reporter *r, const struct entity *address, const uint8_t *iid,
                        const uint8_t *guid)
{
    if (guid[0] & U_BIT)
        report_inconclusive(r, R_RFC4391_8_U_BIT, iid,
                            "the GUID's u bit is 1: it may be modified or not");
    else
        expect_about(r, R_RFC4391_8_U_BIT, address, iid[0] & U_BIT, iid, 1,
                     "u bit 1, toggled from the EUI-64 GUID's 0", "u bit 0");
}

/* Are the first n bytes of the interface identifier those of the GUID, except the u bit? */
static bool begins_as(const uint8_t *iid, const uint8_t *guid, size_t n)
{
    return ((iid[0] ^ guid[0]) & ~U_BIT & 0xff) == 0 && memcmp(iid + 1, guid + 1, n - 1) == 0;
}

/*
 * An identifier that is not made from the GUID violates nothing. RFC 4391 §8 recommends the GUID,
 * but RFC 8064, which updates it, recommends opaque identifiers, and an administrator may set an
 * address. A bond announces the address of its first port from its second port too.
 */
static void note_source(const struct reporter *r, const struct ib_packet *ib,
                        const struct entity *address, const uint8_t *iid, const uint8_t *guid)
{
    bool is_lid = ib && ib->has_lrh && be64(iid) == ib->slid;
    report_note(r, R_RFC4391_8_INTERFACE_ID_SOURCE, address, be64(iid), iid, EUI_SIZE, "%s",
                is_lid ? "the interface identifier is a LID of the port"
                : begins_as(iid, guid, OUI_SIZE)
                    ? "the interface identifier is made from another GUID of the vendor"
                    : "the interface identifier is not made from the port's GUID");
}

/*
 * An identifier of 64 bits in the Modified EUI-64 format: in all unicast addresses that do not
 * begin with 000 (RFC 4291 2.5.1).
 */
static bool has_interface_id(const uint8_t *ip)
{
    return ip[0] >> 5 != 0 && ip[0] != 0xff;
}

void check_interface_id(const struct reporter *r, const struct ib_packet *ib, const uint8_t *ip,
                        const uint8_t *lladdr)
{
    struct entity address = entity_address(lladdr);
    const uint8_t *iid = ip + INTERFACE_ID, *guid = lladdr + LLADDR_GID + 8;
    bool from_guid = begins_as(iid, guid, EUI_SIZE);
    if (ipv6_is_link_local(ip))
        check_link_local_form(r, ip);
    if (lladdr_is_multicast(lladdr)) /* no port's, so it has no GUID */
        return;
    if (!ipv6_is_link_local(ip)) {
        /* §8 binds the node that makes the identifier; others may have chosen this address */
        if (from_guid && has_interface_id(ip) && !((iid[0] | guid[0]) & U_BIT))
            report_inconclusive(r, R_RFC4391_8_U_BIT, iid,
                                "u bit 0: the address may have been set by hand or by DHCPv6");
        else if (from_guid && has_interface_id(ip))
            check_u_bit(r, &address, iid, guid);
        return;
    }
    if (from_guid)
        check_u_bit(r, &address, iid, guid);
    else
        note_source(r, ib, &address, iid, guid);
}

void check_announced_ids(const struct reporter *r, const struct datagram *d)
{
    struct nd_iter it;
    const uint8_t *lladdr, *ip;
    if (view_has(d->body, 0, IPV6_SIZE) != WIRE_OK || !nd_options(d->icmpv6, &it))
        return;
    while ((lladdr = nd_next_announced(&it, d->body.p + IPV6_SOURCE, &ip)) != NULL)
        if (!lladdr_is_zero(lladdr) && !lladdr_is_multicast(lladdr) &&
            !(datagram_is_of_interface(d) && nd_may_be_before_driver(lladdr - ND_OPT_LLADDR)))
            check_interface_id(r, NULL, ip, lladdr);
}

/* ---- source */

/* Is this the address of a link-layer address option, which is checked with it? */
static bool is_announced(const struct datagram *d, const uint8_t *address)
{
    const uint8_t *ip;
    struct nd_iter it;
    if (d->icmpv6.cap == 0 || !nd_options(d->icmpv6, &it))
        return false;
    while (nd_next_announced(&it, d->body.p + IPV6_SOURCE, &ip))
        if (memcmp(ip, address, IPV6_ADDRESS_SIZE) == 0)
            return true;
    return false;
}

/* ---- duplicate address detection */

/*
 * The target of duplicate address detection: a solicitation from the unspecified address for the
 * address that the sender wants to use (RFC 4862 5.4.2). NULL: another message, or the target was
 * not captured.
 */
static const uint8_t *tentative_address(const struct datagram *d)
{
    static const uint8_t unspecified[IPV6_ADDRESS_SIZE];
    struct view v = d->icmpv6;
    if (view_has(v, 0, ND_TARGET + IPV6_ADDRESS_SIZE) != WIRE_OK || v.p[0] != ND_NS ||
        memcmp(d->body.p + IPV6_SOURCE, unspecified, sizeof unspecified) != 0)
        return NULL;
    return v.p + ND_TARGET;
}

/*
 * The sender's address by the headers: the source QP, and the source GID of the GRH. false: the
 * packet does not have both, or the GID is multicast and so no port's.
 */
static bool address_of_sender(const struct ib_packet *ib, uint8_t lladdr[LLADDR_SIZE])
{
    if (!ib || !ib->has_grh || ib->transport != IB_UD)
        return false;
    lladdr[LLADDR_FLAGS] = 0;
    put24(lladdr + LLADDR_QPN, ib->sqpn);
    memcpy(lladdr + LLADDR_GID, ib->sgid, GID_SIZE);
    return !lladdr_is_multicast(lladdr);
}

/* The solicitation has no link-layer address option, so the headers give the sender's address. */
static void check_tentative(const struct reporter *r, const struct ib_packet *ib, const uint8_t *ip)
{
    uint8_t lladdr[LLADDR_SIZE];
    if (address_of_sender(ib, lladdr))
        check_interface_id(r, ib, ip, lladdr);
    else
        check_link_local_form(r, ip);
}

/* A link-local address of the sender that is made from the GUID in the GRH. */
static void check_own_u_bit(const struct reporter *r, const struct ib_packet *ib, const uint8_t *ip)
{
    uint8_t lladdr[LLADDR_SIZE];
    const uint8_t *iid = ip + INTERFACE_ID, *guid = lladdr + LLADDR_GID + 8;
    if (!address_of_sender(ib, lladdr) || !begins_as(iid, guid, EUI_SIZE))
        return;
    struct entity address = entity_address(lladdr);
    check_u_bit(r, &address, iid, guid);
}

/* A link-local address of the sender, without a link-layer address option. */
static void check_own_address(const struct reporter *r, const struct ib_packet *ib,
                              const uint8_t *ip)
{
    check_link_local_form(r, ip);
    check_own_u_bit(r, ib, ip);
}

/*
 * The target of a neighbour advertisement: the sender responds for this address. The advertisement
 * needs no option if the solicitation was unicast (RFC 4861 7.2.4). NULL: another message, or the
 * target was not captured.
 */
static const uint8_t *advertised_address(const struct datagram *d)
{
    struct view v = d->icmpv6;
    bool has_target = view_has(v, 0, ND_TARGET + IPV6_ADDRESS_SIZE) == WIRE_OK;
    return has_target && v.p[0] == ND_NA ? v.p + ND_TARGET : NULL;
}

/* Routers forward no packet with a link-local source (RFC 4291 2.5.6), so it is the sender's. */
void check_ipv6_addresses(const struct reporter *r, const struct ib_packet *ib,
                          const struct datagram *d)
{
    if (d->encap.type != TYPE_IPV6 || view_has(d->body, 0, IPV6_SIZE) != WIRE_OK ||
        d->body.p[0] >> 4 != 6)
        return;
    const uint8_t *source = d->body.p + IPV6_SOURCE, *tentative = tentative_address(d),
                  *advertised = advertised_address(d);
    bool is_source = advertised && memcmp(advertised, source, IPV6_ADDRESS_SIZE) == 0;
    if (ipv6_is_link_local(source) && !is_announced(d, source))
        check_own_address(r, ib, source);
    if (advertised && !is_source && ipv6_is_link_local(advertised) && !is_announced(d, advertised))
        check_own_address(r, ib, advertised);
    if (tentative)
        check_tentative(r, ib, tentative);
}
