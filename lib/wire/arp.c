/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/arp.h"

#include "wire/encap.h"
#include "wire/ip.h"

bool arp_contradicts_protocol(const struct arp *a)
{
    return (a->pro == TYPE_IPV4 && a->pln != IPV4_ADDRESS_SIZE) ||
           (a->pro == TYPE_IPV6 && a->pln != IPV6_ADDRESS_SIZE);
}

enum wire_result arp_decode(struct view v, struct arp *a, bool *have_fixed)
{
    enum wire_result r = view_has(v, 0, ARP_SIZE_FIXED);
    *have_fixed = r == WIRE_OK;
    if (r != WIRE_OK)
        return r;
    a->hrd = be16(v.p + ARP_HRD);
    a->pro = be16(v.p + ARP_PRO);
    a->hln = v.p[ARP_HLN];
    a->pln = v.p[ARP_PLN];
    a->op = be16(v.p + ARP_OP);
    a->sha = ARP_SIZE_FIXED;
    a->spa = a->sha + a->hln;
    a->tha = a->spa + a->pln;
    a->tpa = a->tha + a->hln;
    a->size = a->tpa + a->pln;
    return view_has(v, 0, a->size);
}
