/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/ip.h"

static inline bool is_to_link_local(const struct ip_datagram *d)
{
    return d->address_size == IPV6_ADDRESS_SIZE && ip_is_link_local(ip_to(d));
}

static inline void watch_protocol(const struct watch *w, const struct ip_datagram *d)
{
    watch_ip_checksums(w, d);
    if (d->protocol == PROTOCOL_UDP)
        watch_dhcp6(w, d);
    if (ib_is_multicast(&w->p->ib))
        return;
    if (!is_to_link_local(d))
        watch_routing_loop(w, d);
    if (d->protocol == PROTOCOL_TCP)
        watch_tcp(w, d);
}

/* Of a message of several packets, the first has the headers. */
void watch_ip(const struct watch *w)
{
    const struct datagram *of = &w->p->datagram;
    bool v4 = of->encap.type == TYPE_IPV4;
    struct ip_datagram d;
    if ((!v4 && of->encap.type != TYPE_IPV6) || !w->p->ib.has_lrh)
        return;
    watch_ip_header(w);
    if (packet_is_corrupt(w->p) || !ip_datagram_read(of->body, v4, &d)) {
        watch_echo(w);
        return;
    }
    watch_protocol(w, &d);
    if (d.protocol != PROTOCOL_UDP && d.protocol != PROTOCOL_TCP)
        watch_echo(w);
}
