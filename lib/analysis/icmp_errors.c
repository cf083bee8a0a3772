/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of ICMP (RFC 792, RFC 4443) that have their cause on the link: a router that gets no reply
 * to its ARP request or neighbour solicitation, and fragments that do not arrive. Each has the
 * beginning of the datagram that it is about.
 */
#include "analysis/unanswered.h"
#include "rules/check_context.h"

enum { ICMP_DATAGRAM = 8 };

static const struct icmp_error {
    uint16_t ethertype;
    uint8_t type, code;
    enum event_kind kind;
    const char *what;
} errors[] = {
    {TYPE_IPV4, 3, 1, EVENT_ARP_UNANSWERED,
     "is unreachable (ICMP): a router sends this if its ARP request has no reply"},
    {TYPE_IPV6, 1, 3, EVENT_ND_UNANSWERED,
     "is unreachable (ICMPv6): a router sends this if its neighbour solicitation has no reply"},
    {TYPE_IPV4, 11, 1, EVENT_LARGE_LOST,
     "does not get whole datagrams: a fragment is missing (ICMP, reassembly time exceeded)"},
    {TYPE_IPV6, 3, 1, EVENT_LARGE_LOST,
     "does not get whole datagrams: a fragment is missing (ICMPv6, reassembly time exceeded)"},
};

static const struct icmp_error *find_error(uint16_t ethertype, struct view icmp)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(errors); i++)
        if (errors[i].ethertype == ethertype && errors[i].type == icmp.p[0] &&
            errors[i].code == icmp.p[1])
            return &errors[i];
    return NULL;
}

static void report_error(const struct watch *w, const struct icmp_error *error,
                         const struct ip *from, const struct ip *to)
{
    struct sender who = sender_of(w->f, w->p);
    char source[SENDER_TEXT_SIZE], target[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, error->kind, who.gid, to->bytes,
                                           (uint64_t)1 << 32 | who.lid);
    watch_event(w, &key, &who, 0, "it reports to %s that %s %s", ip_text(source, from),
                ip_text(target, to), error->what);
}

void watch_icmp_error(const struct watch *w, struct view icmp)
{
    uint16_t ethertype = w->p->datagram.encap.type;
    bool v4 = ethertype == TYPE_IPV4;
    const struct icmp_error *error = find_error(ethertype, icmp);
    if (!error || view_has(icmp, ICMP_DATAGRAM, v4 ? IPV4_SIZE : IPV6_SIZE) != WIRE_OK)
        return;
    const uint8_t *d = icmp.p + ICMP_DATAGRAM;
    struct ip from = v4 ? ip_read(d + IPV4_SOURCE, IPV4_ADDRESS_SIZE)
                        : ip_read(d + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    struct ip to = v4 ? ip_read(d + IPV4_DESTINATION, IPV4_ADDRESS_SIZE)
                      : ip_read(d + IPV6_DESTINATION, IPV6_ADDRESS_SIZE);
    report_error(w, error, &from, &to);
}
