/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/payload.h"

#include <string.h>

#include "wire/nd.h"

void datagram_decode_body(uint16_t type, struct view v, struct datagram *d)
{
    memset(d, 0, sizeof *d);
    d->encap.type = type;
    d->body = v;
    d->header = d->arp_result = d->dhcp_result = WIRE_FOREIGN;
    switch (type) {
    case TYPE_ARP:
    case TYPE_RARP:
        d->arp_result = arp_decode(v, &d->arp, &d->arp_has_fixed);
        break;
    case TYPE_IPV6:
        if (!nd_in_ipv6(v, &d->icmpv6))
            d->icmpv6 = (struct view){0};
        break;
    case TYPE_IPV4:
        if (dhcp_in_ipv4(v, &d->dhcp_bytes))
            d->dhcp_result = dhcp_decode(d->dhcp_bytes, &d->dhcp);
        else
            d->dhcp_bytes = (struct view){0};
        break;
    default:
        break;
    }
}

void datagram_decode_header(struct view v, struct datagram *d)
{
    memset(d, 0, sizeof *d);
    d->bytes = v;
    d->arp_result = d->dhcp_result = WIRE_FOREIGN;
    d->header = encap_decode(v, &d->encap);
    if (d->header == WIRE_OK)
        d->body = view_from(v, ENCAP_SIZE);
}

void datagram_decode(struct view v, struct datagram *d)
{
    struct encap e;
    enum wire_result header = encap_decode(v, &e);

    if (header == WIRE_OK)
        datagram_decode_body(e.type, view_from(v, ENCAP_SIZE), d);
    else
        memset(d, 0, sizeof *d);
    d->bytes = v;
    d->header = header;
    if (header == WIRE_OK)
        d->encap = e;
    else
        d->arp_result = d->dhcp_result = WIRE_FOREIGN;
}

static void decode_cm(struct mad_payload *m)
{
    m->kind = MAD_KIND_CM;
    m->result = cm_decode(m->bytes, &m->cm, &m->has_header);
    if (m->result == WIRE_OK)
        m->private_result = cm_private_decode(m->bytes, &m->cm, &m->private);
}

void mad_payload_decode(struct view v, struct mad_payload *m)
{
    memset(m, 0, sizeof *m);
    m->bytes = v;
    m->result = view_has(v, MAD_CLASS, 1);
    m->private_result = WIRE_FOREIGN;
    if (m->result != WIRE_OK)
        return;
    switch (v.p[MAD_CLASS]) {
    case MAD_CLASS_SA:
        m->kind = MAD_KIND_SA;
        m->result = sa_decode(v, &m->sa, &m->has_header);
        break;
    case MAD_CLASS_SMP:
    case MAD_CLASS_SMP_DIRECTED:
        m->kind = MAD_KIND_SMP;
        m->result = smp_decode(v, &m->smp);
        m->has_header = m->result == WIRE_OK;
        break;
    case MAD_CLASS_CM:
        decode_cm(m);
        break;
    default:
        m->has_header = mad_decode(v, &m->mad) == WIRE_OK;
        m->result = WIRE_FOREIGN;
        break;
    }
}
