/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wire-fields CAPTURE: prints what the decoder of lib/wire reads in every frame of a capture, under
 * the plugin's field names. One line per frame: number, then FIELD=VALUE,VALUE..., tab-separated.
 * tests/plugin/test_parity.py compares it with tshark.
 *
 * It keeps no state: of connections it decodes only what a single packet shows. For frames whose
 * decoding depends on other frames it prints only the number and "-".
 */
#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/arp.h"
#include "wire/link_frame.h"
#include "wire/cm.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "wire/mgid.h"
#include "wire/nd.h"
#include "wire/sa.h"

enum { FIELDS_MAX = 40, VALUE_MAX = 4096 };

static struct field {
    const char *name;
    char values[VALUE_MAX];
} fields[FIELDS_MAX];
static unsigned field_count;

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
    unsigned i = 0;
    while (i < field_count && strcmp(fields[i].name, name) != 0)
        i++;
    if (i == FIELDS_MAX)
        return;
    if (i == field_count) {
        fields[field_count].name = name;
        fields[field_count++].values[0] = '\0';
    }
    size_t n = strlen(fields[i].values);
    if (n)
        n += (size_t)snprintf(fields[i].values + n, VALUE_MAX - n, ",");
    va_list ap;
    va_start(ap, format);
    vsnprintf(fields[i].values + n, VALUE_MAX - n, format, ap);
    va_end(ap);
}

static void put_gid(const char *name, const uint8_t *gid)
{
    char text[INET6_ADDRSTRLEN];
    put(name, "%s", inet_ntop(AF_INET6, gid, text, sizeof text));
}

static void put_mgid(const uint8_t *gid)
{
    if (!mgid_is_ipoib(gid))
        return;
    struct mgid m = mgid_read(gid);
    char text[INET6_ADDRSTRLEN];
    put_gid("ipoib.mgid", gid);
    put("ipoib.mgid.flags", "0x%x", m.flags);
    put("ipoib.mgid.transient", "%d", m.flags & MGID_FLAG_TRANSIENT);
    put("ipoib.mgid.scope", "0x%x", m.scope);
    put("ipoib.mgid.signature", "0x%04x", m.signature);
    put("ipoib.mgid.pkey", "0x%04x", m.pkey);
    if (m.signature == MGID_SIGNATURE_IPV4)
        put("ipoib.mgid.ipv4", "%s", inet_ntop(AF_INET, m.ipv4, text, sizeof text));
    else
        put_gid("ipoib.mgid.ipv6", m.ipv6);
}

static void put_lladdr(const uint8_t *p)
{
    struct lladdr a = lladdr_read(p);
    char text[3 * LLADDR_SIZE + 1];
    for (int i = 0; i < LLADDR_SIZE; i++)
        snprintf(text + (i ? 3 * i - 1 : 0), 4, i ? ":%02x" : "%02x", p[i]);
    put("ipoib.lladdr", "%s", text);
    put("ipoib.lladdr.flags", "0x%02x", a.flags);
    put("ipoib.lladdr.flags.rc", "%d", !!(a.flags & LLADDR_FLAG_RC));
    put("ipoib.lladdr.flags.uc", "%d", !!(a.flags & LLADDR_FLAG_UC));
    put("ipoib.lladdr.flags.reserved", "0x%02x", a.flags & LLADDR_FLAG_RESERVED);
    put("ipoib.lladdr.flags.tss", "%d", !!(a.flags & LLADDR_FLAG_TSS));
    put("ipoib.lladdr.qpn", "0x%06x", a.qpn);
    put_gid("ipoib.lladdr.gid", a.gid);
    put_mgid(a.gid);
}

static void read_arp(struct view v)
{
    struct arp a;
    bool fixed;
    arp_decode(v, &a, &fixed);
    if (!fixed || a.hrd != ARP_HRD_INFINIBAND || a.hln != LLADDR_SIZE)
        return;
    if (view_has(v, a.sha, LLADDR_SIZE) == WIRE_OK)
        put_lladdr(v.p + a.sha);
    if (view_has(v, a.tha, LLADDR_SIZE) == WIRE_OK)
        put_lladdr(v.p + a.tha);
}

static void read_nd(struct view v)
{
    struct nd_iter it;
    struct nd_option o;
    if (!nd_options(v, &it))
        return;
    while (nd_next(&it, &o))
        if (nd_is_ipoib_lladdr(&o) && view_has(v, o.off + ND_OPT_LLADDR, LLADDR_SIZE) == WIRE_OK)
            put_lladdr(v.p + o.off + ND_OPT_LLADDR);
}

static void read_datagram(uint16_t type, struct view v)
{
    struct view icmpv6;
    if (type == TYPE_ARP || type == TYPE_RARP)
        read_arp(v);
    else if (type == TYPE_IPV6 && nd_in_ipv6(v, &icmpv6))
        read_nd(icmpv6);
}

static void read_encap(struct view v)
{
    struct encap e;
    if (encap_decode(v, &e) == WIRE_OK) {
        put("ipoib.type", "0x%04x", e.type);
        put("ipoib.reserved", "0x%04x", e.reserved);
        read_datagram(e.type, view_from(v, ENCAP_SIZE));
    } else if (v.cap >= 2 && v.len >= ENCAP_SIZE) {
        put("ipoib.type", "0x%04x", be16(v.p));
    }
}

static void read_mc_member(const uint8_t *p, const struct sa *sa)
{
    struct mc_member m = mc_member_read(p);
    if (sa_component_is_valid(sa, MCM_HAS_MGID))
        put_mgid(m.mgid);
    if (sa_component_is_valid(sa, MCM_HAS_MTU))
        put("ipoib.sa.mtu", "%u", ib_mtu_bytes(m.mtu));
    if (sa_component_is_valid(sa, MCM_HAS_RATE))
        put("ipoib.sa.rate", "%u", m.rate);
    if (sa_component_is_valid(sa, MCM_HAS_JOIN_STATE))
        put("ipoib.sa.join_state", "0x%x", m.join_state);
}

static void read_path(const uint8_t *p, const struct sa *sa)
{
    if (sa_component_is_valid(sa, PATH_HAS_MTU))
        put("ipoib.sa.mtu", "%u", ib_mtu_bytes(p[PATH_MTU] & 0x3f));
    if (sa_component_is_valid(sa, PATH_HAS_RATE))
        put("ipoib.sa.rate", "%u", p[PATH_RATE] & 0x3fu);
}

/* Returns false for tables: with several segments they need earlier frames. */
static bool read_sa(struct view v)
{
    struct sa sa;
    bool have_mad;
    if (sa_decode(v, &sa, &have_mad) != WIRE_OK)
        return true;
    put("ipoib.sa.status", "0x%04x", sa.mad.status);
    put("ipoib.sa.component_mask", "0x%016llx", (unsigned long long)sa.component_mask);
    if (sa.mad.method == SA_GET_TABLE_RESP)
        return false;
    if (sa.mad.attribute == SA_MC_MEMBER_RECORD && sa.data.cap >= MCM_SIZE)
        read_mc_member(sa.data.p, &sa);
    else if (sa.mad.attribute == SA_PATH_RECORD && sa.data.cap >= PATH_SIZE)
        read_path(sa.data.p, &sa);
    else if (sa.mad.attribute == SA_INFORM_INFO && sa.data.cap >= INFORM_SIZE)
        put_mgid(sa.data.p + INFORM_GID);
    else if (sa.mad.attribute == SA_NOTICE && sa.data.cap >= NOTICE_SIZE &&
             be16(sa.data.p + NOTICE_TRAP) >= 64 && be16(sa.data.p + NOTICE_TRAP) <= 67)
        put_mgid(sa.data.p + NOTICE_DETAILS_GID);
    return true;
}

/*
 * Decodes only a REQ: it contains the service. Other messages need their REQ to find the service.
 */
static void read_cm(struct view v)
{
    struct cm cm;
    struct cm_private p;
    bool have_ids;
    if (cm_decode(v, &cm, &have_ids) != WIRE_OK || cm.message != CM_REQ)
        return;
    put("ipoib.cm.service_id", "0x%016llx", (unsigned long long)cm.service_id);
    if (!cm_service_is_ipoib(cm.service) || cm_private_decode(v, &cm, &p) != WIRE_OK)
        return;
    put("ipoib.cm.service_id.qpn", "0x%06x", cm_service_qpn(cm.service_id));
    put("ipoib.cm.reserved", "0x%02x", p.reserved);
    put("ipoib.cm.ud_qpn", "0x%06x", p.ud_qpn);
    put("ipoib.cm.recv_mtu", "%u", p.recv_mtu);
}

/* Returns false if the classification of the frame depends on other frames. */
static bool read_ib(struct view v, enum ib_start start)
{
    struct ib_packet ib;
    enum wire_result r = ib_decode(v, start, &ib);
    if (r != WIRE_OK)
        return r == WIRE_FOREIGN;
    if (ib_is_mad(&ib)) {
        read_cm(ib.payload);
        return read_sa(ib.payload);
    }
    bool send = ib.kind == IB_KIND_SEND && !ib.immediate;
    bool sure = send && ib.transport == IB_UD &&
                ((ib.dgid && mgid_is_ipoib(ib.dgid)) || encap_agrees(ib.payload));
    if (ib.dgid && sure)
        put_mgid(ib.dgid);
    if (!sure)
        sure = send && ib.transport <= IB_UC && ib.position == IB_ONLY &&
               encap_begins_message(ib.payload, false);
    if (sure)
        read_encap(ib.payload);
    return sure || ib.kind != IB_KIND_SEND;
}

static bool read_frame(int linktype, struct view v)
{
    struct link_frame c;
    if (link_frame_locate(linktype, v, &c) != WIRE_OK)
        return false;
    switch (c.kind) {
    case LINK_FRAME_IB:
        return read_ib(c.inner, c.start);
    case LINK_FRAME_IPOIB:
        if (dlt_ipoib_has_grh(v))
            put_mgid(v.p + GRH_DGID);
        else
            put_lladdr(v.p + DLT_IPOIB_ADDRESS);
        read_encap(c.inner);
        return true;
    case LINK_FRAME_COOKED:
        read_datagram(c.type, c.inner);
        return true;
    case LINK_FRAME_NONE:
        break;
    }
    return true;
}

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = argc == 2 ? pcap_open_offline(argv[1], error) : NULL;
    if (!pcap) {
        fprintf(stderr, "wire-fields: %s\n", argc == 2 ? error : "usage: wire-fields CAPTURE");
        return 3; /* libpcap cannot read the file */
    }
    struct pcap_pkthdr *h;
    const u_char *p;
    int linktype = pcap_datalink(pcap);
    for (unsigned n = 1; pcap_next_ex(pcap, &h, &p) == 1; n++) {
        field_count = 0;
        if (!read_frame(linktype, view_make(p, h->caplen, h->len))) {
            printf("%u\t-\n", n);
            continue;
        }
        printf("%u", n);
        for (unsigned i = 0; i < field_count; i++)
            printf("\t%s=%s", fields[i].name, fields[i].values);
        printf("\n");
    }
    pcap_close(pcap);
    return 0;
}
