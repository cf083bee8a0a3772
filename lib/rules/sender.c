/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/check_context.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "wire/nd.h"

/* ---- the IP address */

/* ARP's sender protocol address; a probe has 0.0.0.0 there (RFC 5227). */
static bool arp_sender(const struct datagram *d, struct ip *ip)
{
    if (d->arp_result != WIRE_OK || d->arp.pln != IPV4_ADDRESS_SIZE)
        return false;
    *ip = ip_read(d->body.p + d->arp.spa, IPV4_ADDRESS_SIZE);
    return !ip_is_unspecified(ip);
}

static bool ip_source(const struct datagram *d, struct ip *ip)
{
    bool v4 = d->encap.type == TYPE_IPV4;
    uint8_t length = v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE;
    uint32_t at = v4 ? IPV4_SOURCE : IPV6_SOURCE;
    if ((!v4 && d->encap.type != TYPE_IPV6) || view_has(d->body, at, length) != WIRE_OK)
        return false;
    *ip = ip_read(d->body.p + at, length);
    return !ip_is_unspecified(ip);
}

/* ND messages are never forwarded (RFC 4861 §6.1, 7.1). */
static bool is_nd(const struct datagram *d)
{
    return d->icmpv6.p && view_has(d->icmpv6, 0, 1) == WIRE_OK && d->icmpv6.p[0] >= ND_RS &&
           d->icmpv6.p[0] <= ND_REDIRECT;
}

static bool has_address(const struct fabric_facts *f, const struct packet *p, const uint8_t *gid,
                        const struct ip *ip)
{
    const struct neighbour *n = gid ? neighbours_of_ip(f->neighbours, packet_link_key(p), ip)
                                    : NULL;
    return n && memcmp(n->lladdr + LLADDR_GID, gid, GID_SIZE) == 0;
}

static bool sender_ip(const struct fabric_facts *f, const struct packet *p,
                      const struct datagram *d, const uint8_t *gid, struct ip *ip)
{
    if (!d)
        return false;
    if (d->encap.type == TYPE_ARP || d->encap.type == TYPE_RARP)
        return arp_sender(d, ip);
    return ip_source(d, ip) && (is_nd(d) || has_address(f, p, gid, ip));
}

/* ---- the port */

static const uint8_t *sender_gid(const struct fabric_facts *f, const struct packet *p)
{
    if (p->ib.has_grh)
        return p->ib.sgid;
    const struct endport *port = p->ib.has_lrh
                                     ? endports_by_lid(f->endports, p->at.interface, p->ib.slid)
                                     : NULL;
    return port && endport_has_gid(port) ? port->gid : NULL;
}

static const struct datagram *datagram_of(const struct packet *p)
{
    enum payload_class class = p->classification.class;
    return class == PAYLOAD_IPOIB || class == PAYLOAD_FRAGMENT ? &p->datagram : NULL;
}

struct sender sender_of(const struct fabric_facts *f, const struct packet *p)
{
    G_STATIC_ASSERT(sizeof(struct sender) == IPV6_ADDRESS_SIZE + GID_SIZE + 4); /* no padding */
    const uint8_t *gid = sender_gid(f, p);
    struct sender s = {{0}, {0}, 0, 0, 0};
    struct ip ip;
    if (sender_ip(f, p, datagram_of(p), gid, &ip)) {
        memcpy(s.ip, ip.bytes, ip.length);
        s.ip_length = ip.length;
    }
    if (gid) {
        memcpy(s.gid, gid, GID_SIZE);
        s.known |= SENDER_GID;
    }
    if (p->ib.has_lrh) {
        s.lid = p->ib.slid;
        s.known |= SENDER_LID;
    }
    return s;
}

struct sender sender_of_port(const struct endport *port)
{
    struct sender s = {{0}, {0}, 0, 0, 0};
    if (port && endport_has_gid(port)) {
        memcpy(s.gid, port->gid, GID_SIZE);
        s.known |= SENDER_GID;
    }
    if (port && port->lid) {
        s.lid = port->lid;
        s.known |= SENDER_LID;
    }
    return s;
}

/* ---- the Service-ID */

static bool is_unknown_service(const struct cm *cm)
{
    return cm && cm->message == CM_REJ && cm->reason == CM_REJ_SERVICE_ID;
}

/*
 * Both ends of a connection use the Service-ID of its REQ: the requester sends it, the responder
 * listens on it. A responder that does not listen on it rejects the REQ with reason 8; then its
 * form is that of a connection that it accepted earlier. If it accepted none: only Linux requests
 * Linux's form, and it is taken for the form of both ends. A REQ with another form may come from a
 * host that tries both, so it says nothing about the responder.
 */
static uint64_t service_id_of(const struct cm *cm, const struct connection *c)
{
    const struct endport *responder = endport_of(c->endport[1]);
    if (!is_unknown_service(cm))
        return c->service_id;
    if (responder && responder->service_id)
        return responder->service_id;
    return cm_service_of(c->service_id) == SERVICE_IPOIB_LINUX ? c->service_id : 0;
}

const char *sender_service_id(const struct packet *p, char text[SERVICE_ID_TEXT_SIZE])
{
    const struct cm *cm = packet_cm(p);
    const struct connection *c = p->classification.connection;
    bool has_connection = !packet_lacks_ib(p) && (cm || p->ib.transport != IB_UD);
    uint64_t id = has_connection && c ? service_id_of(cm, c) : 0;
    text[0] = '\0';
    if (id)
        hex_text(text, id, 16);
    return has_connection && !id ? NULL : text;
}

/* ---- text */

static void append_address(char text[SENDER_TEXT_SIZE], const char *name, const char *value)
{
    size_t n = strlen(text);
    snprintf(text + n, SENDER_TEXT_SIZE - n, "%s%s %s", n ? ", " : "", name, value);
}

const char *sender_text(char text[SENDER_TEXT_SIZE], const struct sender *s)
{
    char value[INET6_ADDRSTRLEN];
    text[0] = '\0';
    if (!s)
        return text;
    if (s->ip_length)
        append_address(text, "IP",
                       inet_ntop(s->ip_length == IPV4_ADDRESS_SIZE ? AF_INET : AF_INET6, s->ip,
                                 value, sizeof value));
    if (s->known & SENDER_GID)
        append_address(text, "GID", inet_ntop(AF_INET6, s->gid, value, sizeof value));
    if (s->known & SENDER_LID) {
        snprintf(value, sizeof value, "%u", s->lid);
        append_address(text, "LID", value);
    }
    return text;
}
