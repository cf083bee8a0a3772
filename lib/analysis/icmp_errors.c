/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of ICMP (RFC 792, RFC 4443): a router that gets no reply to its ARP request or neighbour
 * solicitation, fragments that do not arrive, datagrams that are too big and do not get smaller,
 * and destinations to which a router has no way. Each has the beginning of the datagram that it is
 * about. Those that hosts send, such as "port unreachable", are no events.
 */
#include "analysis/echo.h"
#include "analysis/ip.h"
#include "analysis/unanswered.h"
#include "rules/check_context.h"

enum { ICMP_DATAGRAM = 8, ECHO_ID = 4, ECHO_SIZE = 8 };

/*
 * A sender that learns the MTU of a path gets an error, and sends smaller datagrams (RFC 1191, RFC
 * 8201): only one that goes on for some seconds shows a fault.
 */
enum { TOO_BIG = 3, TOO_BIG_MS = 2000, TOO_BIG_AGE_MS = 60000, SIZES = 1 << 6 };

/* Errors about the size of datagrams between two addresses. A cache. */
struct size_errors {
    struct size_error {
        struct ip from, to; /* of the datagrams */
        uint32_t count;
        int64_t first_ms, last_ms;
    } all[SIZES];
};

NEW_HISTORY(size_errors, size_errors_new)

static const struct icmp_error {
    uint16_t ethertype;
    uint8_t type, code;
    enum event_kind kind;
    const char *what;
} errors[] = {
    {TYPE_IPV4, 3, 4, EVENT_MTU_MISMATCH,
     "needs smaller datagrams (ICMP, fragmentation needed), which it goes on not to send"},
    {TYPE_IPV6, 2, 0, EVENT_MTU_MISMATCH,
     "needs smaller datagrams (ICMPv6, packet too big), which it goes on not to send"},
    {TYPE_IPV4, 3, 1, EVENT_ARP_UNANSWERED,
     "is unreachable (ICMP): a router sends this if its ARP request has no reply"},
    {TYPE_IPV6, 1, 3, EVENT_ND_UNANSWERED,
     "is unreachable (ICMPv6): a router sends this if its neighbour solicitation has no reply"},
    {TYPE_IPV4, 11, 1, EVENT_LARGE_LOST,
     "does not get whole datagrams: a fragment is missing (ICMP, reassembly time exceeded)"},
    {TYPE_IPV6, 3, 1, EVENT_LARGE_LOST,
     "does not get whole datagrams: a fragment is missing (ICMPv6, reassembly time exceeded)"},
    {TYPE_IPV4, 11, 0, EVENT_ROUTING_LOOP, ""},
    {TYPE_IPV6, 3, 0, EVENT_ROUTING_LOOP, ""},
    {TYPE_IPV4, 3, 0, EVENT_IP_UNREACHABLE, "cannot be reached: network unreachable (ICMP)"},
    {TYPE_IPV4, 3, 6, EVENT_IP_UNREACHABLE, "cannot be reached: network unknown (ICMP)"},
    {TYPE_IPV4, 3, 7, EVENT_IP_UNREACHABLE, "cannot be reached: host unknown (ICMP)"},
    {TYPE_IPV4, 3, 9, EVENT_IP_UNREACHABLE,
     "cannot be reached: network administratively prohibited (ICMP)"},
    {TYPE_IPV4, 3, 10, EVENT_IP_UNREACHABLE,
     "cannot be reached: host administratively prohibited (ICMP)"},
    {TYPE_IPV4, 3, 11, EVENT_IP_UNREACHABLE,
     "cannot be reached: network unreachable for the type of service (ICMP)"},
    {TYPE_IPV4, 3, 12, EVENT_IP_UNREACHABLE,
     "cannot be reached: host unreachable for the type of service (ICMP)"},
    {TYPE_IPV4, 3, 13, EVENT_IP_UNREACHABLE,
     "cannot be reached: communication administratively prohibited (ICMP)"},
    {TYPE_IPV6, 1, 0, EVENT_IP_UNREACHABLE, "cannot be reached: no route (ICMPv6)"},
    {TYPE_IPV6, 1, 1, EVENT_IP_UNREACHABLE,
     "cannot be reached: communication administratively prohibited (ICMPv6)"},
    {TYPE_IPV6, 1, 2, EVENT_IP_UNREACHABLE,
     "cannot be reached: it is beyond the scope of the source address (ICMPv6)"},
    {TYPE_IPV6, 1, 5, EVENT_IP_UNREACHABLE,
     "cannot be reached: the source address failed a policy (ICMPv6)"},
    {TYPE_IPV6, 1, 6, EVENT_IP_UNREACHABLE, "cannot be reached: the route rejects it (ICMPv6)"},
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
                                           (uint64_t)1 << 32 | (uint64_t)error->code << 16 |
                                               who.lid);
    watch_event(w, &key, &who, 0, "it reports to %s that %s %s", ip_text(source, from),
                ip_text(target, to), error->what);
}

/* Is the error the third or a later one of some seconds? */
static bool goes_on(const struct watch *w, const struct ip *from, const struct ip *to)
{
    uint64_t hash = mix_gid(mix_gid(0, from->bytes), to->bytes);
    struct size_error *e = &w->size_errors->all[hash >> 32 & (SIZES - 1)];
    int64_t ms = watch_ms(w);
    if (!ip_same(&e->from, from) || !ip_same(&e->to, to) || ms - e->last_ms > TOO_BIG_AGE_MS)
        *e = (struct size_error){*from, *to, 0, ms, ms};
    e->last_ms = ms;
    return ++e->count >= TOO_BIG && ms - e->first_ms >= TOO_BIG_MS;
}

/* It is the answer to a ping with a small TTL, as of a program that traces the route. */
static void answer_pings(const struct watch *w, const struct ip_datagram *d)
{
    static const enum question_kind kinds[] = {QUESTION_ECHO, QUESTION_LARGE};
    struct ip from = ip_sender(d), to = ip_receiver(d);
    if (d->protocol != PROTOCOL_ICMP && d->protocol != PROTOCOL_ICMPV6)
        return;
    if (d->body.cap >= ECHO_SIZE)
        lossy_ping_answered(w, &from, &to, UINT64_C(1) << 32 | be32(d->body.p + ECHO_ID));
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const struct question_key key = key_of_ips(w, kinds[i], &from, &to);
        struct question *q = question_find(w, &key);
        if (q)
            question_answer(w, q);
    }
}

static void time_exceeded(const struct watch *w, struct view about, bool v4)
{
    struct ip_datagram d;
    if (!ip_datagram_read(about, v4, &d))
        return;
    watch_time_exceeded(w, &d);
    answer_pings(w, &d);
}

void watch_icmp_error(const struct watch *w, struct view icmp)
{
    uint16_t ethertype = w->p->datagram.encap.type;
    bool v4 = ethertype == TYPE_IPV4;
    const struct icmp_error *error = find_error(ethertype, icmp);
    if (!error || view_has(icmp, ICMP_DATAGRAM, v4 ? IPV4_SIZE : IPV6_SIZE) != WIRE_OK)
        return;
    if (error->kind == EVENT_ROUTING_LOOP) {
        time_exceeded(w, view_from(icmp, ICMP_DATAGRAM), v4);
        return;
    }
    const uint8_t *d = icmp.p + ICMP_DATAGRAM;
    struct ip from = v4 ? ip_read(d + IPV4_SOURCE, IPV4_ADDRESS_SIZE)
                        : ip_read(d + IPV6_SOURCE, IPV6_ADDRESS_SIZE);
    struct ip to = v4 ? ip_read(d + IPV4_DESTINATION, IPV4_ADDRESS_SIZE)
                      : ip_read(d + IPV6_DESTINATION, IPV6_ADDRESS_SIZE);
    if (error->kind != EVENT_MTU_MISMATCH || goes_on(w, &from, &to))
        report_error(w, error, &from, &to);
}
