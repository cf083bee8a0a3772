/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/ip.h"

/* Of a message of several packets, the first has the headers. */
static bool read_ip(const struct watch *w, struct ip_datagram *d)
{
    const struct datagram *of = &w->p->datagram;
    if (!w->p->ib.has_lrh || packet_is_corrupt(w->p))
        return false;
    return ip_datagram_read(of->body, of->encap.type == TYPE_IPV4, d);
}

static void watch_protocol(const struct watch *w, const struct ip_datagram *d)
{
    watch_ip_checksums(w, d);
    if (d->protocol == PROTOCOL_UDP)
        watch_dhcp6(w, d);
    if (ib_is_multicast(&w->p->ib))
        return;
    watch_routing_loop(w, d);
    if (d->protocol == PROTOCOL_TCP)
        watch_tcp(w, d);
}

void watch_ip(const struct watch *w)
{
    struct ip_datagram d;
    bool is_read = read_ip(w, &d);
    watch_ip_header(w);
    if (is_read)
        watch_protocol(w, &d);
    if (!is_read || (d.protocol != PROTOCOL_UDP && d.protocol != PROTOCOL_TCP))
        watch_echo(w);
}
