/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports that join or use a link: P_Key table and MTU (RFC 4391 §4.1, 5, 7), by SMPs or by the SA's
 * records.
 */
#include "rules/result.h"

static void settle_pkey(const struct check_context *s, const struct endport *port, uint16_t pkey,
                        const uint8_t *at, enum pkey_known known)
{
    struct result r = {.rule = R_RFC4391_5_PKEY_CONFIGURED,
                       .about = entity_endport(port),
                       .value = pkey,
                       .at = {at, 2},
                       .expected = "a P_Key of the port's table",
                       .actual = "a P_Key that the subnet manager did not give to the port",
                       .facts = {{FACT_PKEYS, .port = port, .pkey = pkey, .pkey_known = known}}};
    r.about.other = pkey & 0x7fffu;
    settle_result(s, &r, known == PKEY_IS_THERE);
}

void check_port_pkey(const struct check_context *s, const struct endport *port, uint16_t pkey,
                     const uint8_t *at)
{
    enum pkey_known known = endport_has_pkey(port, pkey);
    if (known == PKEY_NOT_KNOWN)
        known = endport_has_pkey_by_sa(port, pkey);
    settle_pkey(s, port, pkey, at, known);
}

/*
 * A port sends with the P_Keys of its table, which the SM gave it, with their membership bit. A
 * datagram may have been on its way when the SM took one away. The SMPs of the SA's own port are
 * not on the wire. If the SM's Set of the first block was captured, and not all others, the P_Key
 * may be in another one.
 */
void check_pkey_of_sender(const struct check_context *s)
{
    uint16_t pkey = s->p->ib.pkey;
    const struct endport *port = !is_partition(pkey)          ? NULL
                                 : ib_is_multicast(&s->p->ib) ? s->e->sender
                                                              : sending_port(s);
    enum pkey_known known = port && port->pkeys ? endport_has_entry(port, pkey) : PKEY_IS_THERE;
    if (known != PKEY_IS_THERE && !order_is_uncertain(&s->f->order, port->pkeys->frame))
        settle_pkey(s, port, pkey, s->r->base + s->p->ib.bth_off + BTH_PKEY, known);
}

/*
 * Compares the group's MTU with the MTU of the port's link. Both are IBA codes (1: 256 bytes, 5:
 * 4096 bytes); a larger code means a larger MTU, so codes are compared.
 */
static struct result mtu_result(const struct endport *port, const struct group *broadcast,
                                const uint8_t *at)
{
    return (struct result){.rule = R_RFC4391_4_1_GROUP_MTU,
                           .about = entity_endport(port),
                           .value = broadcast->mtu,
                           .is_code = true,
                           .at = {at, 1},
                           .expected = "a group MTU of at most the MTU of the port's link",
                           .actual = "the group's MTU is larger",
                           .facts = {{FACT_PORT_MTU, .port = port, .group = broadcast}}};
}

void check_port_mtu(const struct check_context *s, const struct endport *port,
                    const struct group *broadcast, const uint8_t *at)
{
    const struct result r = mtu_result(port, broadcast, at);
    uint8_t link = endport_link_mtu(port), cap = port->mtu_cap;
    settle_result(s, &r, link && broadcast->mtu <= link);
    if (!(link && link < broadcast->mtu) && cap && cap < broadcast->mtu)
        report_note(s->r, R_RFC4391_5_JOIN_MTU_SUPPORTED, &r.about, broadcast->mtu, at, 1,
                    "joined a group with an MTU of %u bytes; the port supports %u",
                    ib_mtu_bytes(broadcast->mtu), ib_mtu_bytes(cap));
}

/*
 * RFC 4391 §7 requires of each implementation, and of its default configuration, that it supports
 * 2044 octets, and allows links of components that support less. A port with a smaller MTUCap may
 * be one that its hardware, or its administrator, limits.
 */
bool check_mtu_cap(const struct check_context *s, const struct endport *port)
{
    uint8_t cap = endport_mtu_cap(port);
    if (!cap || cap >= IB_MTU_2048)
        return false;
    report_inconclusive(s->r, R_RFC4391_7_MTU_2044, NULL,
                        "the port supports no larger packets (MTUCap): a capture does not show "
                        "whether its hardware, its default or an administrator limits it");
    return true;
}

/* What SMPs say was checked when the port joined; the SA's records may have come later. */
void check_port_of_sender(const struct check_context *s, const struct endport *port,
                          const struct group *broadcast)
{
    const struct endport_said *said = port->said;
    uint16_t pkey = s->p->ib.pkey;
    if (!said)
        return;
    if (said->mtu_cap && !port->mtu_cap)
        check_mtu_cap(s, port);
    const struct result mtu = mtu_result(port, broadcast, NULL);
    if (said->port_frame && endport_link_mtu(port) < broadcast->mtu && !port->neighbor_mtu)
        report_result(s, &mtu);
    if (endport_has_pkey(port, pkey) == PKEY_NOT_KNOWN &&
        endport_has_pkey_by_sa(port, pkey) == PKEY_IS_NOT_THERE)
        check_port_pkey(s, port, pkey, s->r->base + s->p->ib.bth_off + BTH_PKEY);
}
