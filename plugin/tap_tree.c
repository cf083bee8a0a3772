/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,tree: counts packets by kind. Each packet is queued to the tap "ipoib" after all other
 * dissectors.
 */
#include "plugin/findings.h"
#include "plugin/frame.h"
#include "plugin/linktype.h"
#include "plugin/tap.h"

#include <epan/stats_tree.h>
#include <epan/tap.h>

#include "wire/arp.h"
#include "wire/carrier.h"
#include "wire/encap.h"
#include "wire/nd.h"

static int tap = -1;

/* The kind of a packet, one string for each branch of the tree; NULL: not counted in the branch. */
enum branch {
    MODE,
    TYPE,
    DESTINATION,
    RESOLUTION,
    SUBNET_ADMINISTRATION,
    CONNECTION_MANAGEMENT,
    FINDINGS,
    BRANCHES
};

static const char *const branch_names[BRANCHES] = {
    [MODE] = "Mode",
    [TYPE] = "Type",
    [DESTINATION] = "Destination",
    [RESOLUTION] = "Address resolution",
    [SUBNET_ADMINISTRATION] = "Subnet administration",
    [CONNECTION_MANAGEMENT] = "Communication management",
    [FINDINGS] = "Findings",
};

struct kinds {
    const char *of[BRANCHES];
};

/* ---- the kind of a packet */

static const struct name arp_names[] = {
    {ARP_REQUEST, "ARP request"},
    {ARP_REPLY, "ARP reply"},
    {RARP_REQUEST, "RARP request"},
    {RARP_REPLY, "RARP reply"},
    {0, NULL},
};
static const struct name nd_names[] = {
    {ND_RS, "ND router solicitation"},   {ND_RA, "ND router advertisement"},
    {ND_NS, "ND neighbor solicitation"}, {ND_NA, "ND neighbor advertisement"},
    {ND_REDIRECT, "ND redirect"},        {0, NULL},
};
static const struct name type_names[] = {
    {TYPE_IPV4, "IPv4"}, {TYPE_IPV6, "IPv6"}, {TYPE_ARP, "ARP"}, {TYPE_RARP, "RARP"}, {0, NULL},
};

static const char *resolution_of(const struct datagram *d)
{
    if (d->arp_has_fixed)
        return name_of(arp_names, d->arp.op);
    return view_has(d->icmpv6, 0, 1) == WIRE_OK ? name_of(nd_names, d->icmpv6.p[0]) : NULL;
}

static void see_datagram(struct kinds *k, packet_info *pinfo, const struct datagram *d)
{
    const char *name = name_of(type_names, d->encap.type);
    k->of[TYPE] = name ? name : wmem_strdup_printf(pinfo->pool, "0x%04x", d->encap.type);
    k->of[RESOLUTION] = resolution_of(d);
}

static void see_payload(struct kinds *k, packet_info *pinfo, const struct datagram *d)
{
    if (d->header == WIRE_OK)
        see_datagram(k, pinfo, d);
    else
        k->of[TYPE] = d->octets.len < ENCAP_SIZE ? "too short" : "not captured";
}

static const char *destination_of(const struct ib_packet *ib)
{
    if (!ib_is_multicast(ib))
        return "unicast";
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return "multicast, no MGID of IPoIB";
    return mgid_read(ib->dgid).broadcast ? "broadcast" : "multicast";
}

static const char *connected_mode(const struct packet *p)
{
    bool part = p->verdict.class == PAYLOAD_PART;
    if (p->ib.transport == IB_UC)
        return part ? "connected, UC, part of a message" : "connected, UC";
    return part ? "connected, RC, part of a message" : "connected, RC";
}

/* Only the first packet of a message has the encapsulation header. */
static bool begins_datagram(const struct ruling *v)
{
    return v->class == PAYLOAD_IPOIB || (v->part.index == 0 && (v->part.verdict == STREAM_PART ||
                                                                v->part.verdict == STREAM_WHOLE));
}

static void see_ipoib(struct kinds *k, packet_info *pinfo, const struct packet *p)
{
    k->of[MODE] = p->ib.transport == IB_UD ? "datagram, UD" : connected_mode(p);
    k->of[DESTINATION] = destination_of(&p->ib);
    if (begins_datagram(&p->verdict))
        see_payload(k, pinfo, &p->datagram);
}

static const char *name_or_hex(packet_info *pinfo, const struct name *names, uint32_t value)
{
    const char *name = name_of(names, value);
    return name ? name : wmem_strdup_printf(pinfo->pool, "0x%02x", value);
}

static void see_mad(struct kinds *k, packet_info *pinfo, const struct frame *f)
{
    const struct cm *cm = packet_cm(&f->p);
    const struct sa *sa = &f->p.mad.sa;
    if (cm && f->cm_is_ipoib)
        k->of[CONNECTION_MANAGEMENT] = name_or_hex(pinfo, cm_message_names, cm->message);
    if (f->p.mad.kind == MAD_KIND_SA && f->p.mad.result == WIRE_OK)
        k->of[SUBNET_ADMINISTRATION] = wmem_strdup_printf(
            pinfo->pool, "%s(%s)", name_or_hex(pinfo, sa_method_names, sa->mad.method),
            name_or_hex(pinfo, sa_attribute_names, sa->mad.attribute));
}

static void see_frame(struct kinds *k, packet_info *pinfo, const struct frame *f)
{
    if (f->p.verdict.class == PAYLOAD_IPOIB || f->p.verdict.class == PAYLOAD_PART)
        see_ipoib(k, pinfo, &f->p);
    else if (f->p.verdict.class == PAYLOAD_MAD)
        see_mad(k, pinfo, f);
}

static void see_bare(struct kinds *k, packet_info *pinfo, tvbuff_t *tvb)
{
    struct carrier c;
    if (!linktype_locate_ipoib(tvb, pinfo, &c))
        return;
    k->of[MODE] = "not told by the carrier";
    struct datagram d;
    if (c.kind == CARRIER_IPOIB) {
        datagram_decode(c.inner, &d);
        see_payload(k, pinfo, &d);
    } else {
        datagram_decode_body(c.type, c.inner, &d);
        see_datagram(k, pinfo, &d);
    }
}

/* ---- queueing */

void tap_tree_queue(tvbuff_t *tvb, packet_info *pinfo)
{
    if (!have_tap_listener(tap))
        return;
    struct kinds *k = wmem_new0(pinfo->pool, struct kinds);
    const struct frame *f = frame_of(pinfo);
    if (f)
        see_frame(k, pinfo, f);
    else
        see_bare(k, pinfo, tvb);
    tap_queue_packet(tap, pinfo, k);
}

/* ---- counting */

static int nodes[BRANCHES];

static void tree_init(stats_tree *st)
{
    for (unsigned i = 0; i < BRANCHES; i++)
        nodes[i] = stats_tree_create_node(st, branch_names[i], 0, STAT_DT_INT, TRUE);
}

static const char *finding_name(const struct finding *f)
{
    if (f->outcome == OUTCOME_DEVIATION)
        return "known deviation";
    if (f->outcome == OUTCOME_NOTED)
        return "noted";
    return rules[f->rule].level == RULE_MUST ? "MUST violated" : "SHOULD violated";
}

static void count_finding(void *user, const struct finding *f)
{
    stats_tree *st = user;
    tick_stat_node(st, branch_names[FINDINGS], 0, TRUE);
    int level = tick_stat_node(st, finding_name(f), nodes[FINDINGS], TRUE);
    tick_stat_node(st, rules[f->rule].id, level, FALSE);
}

static tap_packet_status tree_packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt _U_,
                                     const void *data, tap_flags_t flags _U_)
{
    const struct kinds *k = data;
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (!k->of[i])
            continue;
        tick_stat_node(st, branch_names[i], 0, TRUE);
        tick_stat_node(st, k->of[i], nodes[i], FALSE);
    }
    findings_foreach(pinfo, count_finding, st);
    return TAP_PACKET_REDRAW;
}

void tap_tree_register(void)
{
    tap = register_tap(TAP_NAME);
    stats_tree_register_plugin(TAP_NAME, "ipoib", "IPoIB Packets", TL_REQUIRES_NOTHING, tree_packet,
                               tree_init, NULL);
}
