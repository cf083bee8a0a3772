/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -z ipoib,tree: counts packets by kind. Each packet is queued to the tap "ipoib" after all other
 * dissectors.
 */
#include "plugin/finding_store.h"
#include "plugin/frame.h"
#include "plugin/linktype.h"
#include "plugin/tap.h"

#include <epan/prefs.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>

#include "wire/arp.h"
#include "wire/link_frame.h"
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
        return names_find(arp_names, d->arp.op);
    return view_has(d->icmpv6, 0, 1) == WIRE_OK ? names_find(nd_names, d->icmpv6.p[0]) : NULL;
}

static void see_datagram(struct kinds *k, packet_info *pinfo, const struct datagram *d)
{
    const char *name = names_find(type_names, d->encap.type);
    k->of[TYPE] = name ? name : wmem_strdup_printf(pinfo->pool, "0x%04x", d->encap.type);
    k->of[RESOLUTION] = resolution_of(d);
}

static void see_payload(struct kinds *k, packet_info *pinfo, const struct datagram *d)
{
    if (d->header == WIRE_OK)
        see_datagram(k, pinfo, d);
    else
        k->of[TYPE] = d->bytes.len < ENCAP_SIZE ? "too short" : "not captured";
}

static const char *destination_of(const struct ib_packet *ib)
{
    if (!ib_is_multicast(ib))
        return "unicast";
    if (!ib->dgid || !mgid_is_ipoib(ib->dgid))
        return "multicast, no MGID of IPoIB";
    return mgid_is_broadcast(ib->dgid) ? "broadcast" : "multicast";
}

static const char *connected_mode(const struct packet *p)
{
    bool part = p->classification.class == PAYLOAD_FRAGMENT;
    if (p->ib.transport == IB_UC)
        return part ? "connected, UC, part of a message" : "connected, UC";
    return part ? "connected, RC, part of a message" : "connected, RC";
}

/* Only the first packet of a message has the encapsulation header. */
static bool begins_datagram(const struct classification *v)
{
    return v->class == PAYLOAD_IPOIB ||
           (v->fragment.index == 0 &&
            (v->fragment.state == STREAM_FRAGMENT || v->fragment.state == STREAM_COMPLETE));
}

static void see_ipoib(struct kinds *k, packet_info *pinfo, const struct packet *p)
{
    k->of[MODE] = p->ib.transport == IB_UD ? "datagram, UD" : connected_mode(p);
    k->of[DESTINATION] = destination_of(&p->ib);
    if (begins_datagram(&p->classification))
        see_payload(k, pinfo, &p->datagram);
}

static const char *name_or_hex(packet_info *pinfo, const struct name *names, uint32_t value)
{
    const char *name = names_find(names, value);
    return name ? name : wmem_strdup_printf(pinfo->pool, "0x%02x", value);
}

static void count_mad(struct kinds *k, packet_info *pinfo, const struct frame *f)
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
    if (f->p.classification.class == PAYLOAD_IPOIB || f->p.classification.class == PAYLOAD_FRAGMENT)
        see_ipoib(k, pinfo, &f->p);
    else if (f->p.classification.class == PAYLOAD_MAD)
        count_mad(k, pinfo, f);
}

static void see_without_ib(struct kinds *k, packet_info *pinfo, tvbuff_t *tvb)
{
    struct link_frame c;
    if (!linktype_locate_ipoib(tvb, pinfo, &c))
        return;
    k->of[MODE] = "unknown (no InfiniBand headers)";
    struct datagram d;
    if (c.kind == LINK_FRAME_IPOIB) {
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
        see_without_ib(k, pinfo, tvb);
    tap_queue_packet(tap, pinfo, k);
}

bool tap_is_datagram(const void *queued)
{
    const struct kinds *k = queued;
    return k->of[MODE] != NULL;
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

static void count_packet(stats_tree *st, packet_info *pinfo, const struct kinds *k)
{
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (!k->of[i])
            continue;
        tick_stat_node(st, branch_names[i], 0, TRUE);
        tick_stat_node(st, k->of[i], nodes[i], FALSE);
    }
    finding_store_each(pinfo->num, count_finding, st);
}

/*
 * Wireshark counts bursts in slices of st_burst_resolution milliseconds, whose number is a double.
 * From 2^53 slices on a number and the next are equal; Wireshark then removes its last slice and
 * crashes. So frames that are so far from the first are in no burst.
 */
static bool can_burst(const packet_info *pinfo)
{
    const int64_t limit_seconds = (int64_t)1 << 40; /* 34,000 years */
    return pinfo->rel_ts.secs > -limit_seconds && pinfo->rel_ts.secs < limit_seconds;
}

static tap_packet_status tree_packet(stats_tree *st, packet_info *pinfo, epan_dissect_t *edt _U_,
                                     const void *data, tap_flags_t flags _U_)
{
    bool bursts = prefs.st_enable_burstinfo;
    prefs.st_enable_burstinfo = bursts && can_burst(pinfo);
    count_packet(st, pinfo, data);
    prefs.st_enable_burstinfo = bursts;
    return TAP_PACKET_REDRAW;
}

/*
 * The name has no submenu, because Wireshark makes none for the other statistics of this plugin (it
 * does for trees only), and all are to be found by the same word.
 */
void tap_tree_register(void)
{
    tap = register_tap(TAP_NAME);
    stats_tree_register_plugin(TAP_NAME, "ipoib", "IPoIB Packets", TL_REQUIRES_NOTHING, tree_packet,
                               tree_init, NULL);
}
