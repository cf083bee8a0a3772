/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes and classifies a frame with model/. The classification depends on earlier frames. It is
 * made in the first pass and stored, so that a second pass, a filtered pass and a packet that is
 * dissected again show the same.
 */
#include "plugin/frame.h"
#include "plugin/protocol.h"
#include "plugin/state.h"

#include <epan/expert.h>
#include <epan/proto_data.h>
#include <wiretap/wtap.h>

#include "wire/carrier.h"
#include "wire/erf.h"
#include "wire/nanoseconds.h"

static uint32_t port_of_erf(packet_info *pinfo)
{
    const struct erf_mc_phdr *erf = &pinfo->pseudo_header->erf;
    uint64_t host = 0;
    uint8_t more = erf->phdr.type;
    for (unsigned i = 0; i < MIN(ERF_EXT_READ, MAX_ERF_EHDR) && more & ERF_TYPE_MORE; i++) {
        host = erf_host(host, erf->ehdr_list[i].ehdr);
        more = (uint8_t)(erf->ehdr_list[i].ehdr >> 56);
    }
    return erf_port(erf->phdr.flags, host);
}

/*
 * Gets the number that the model assigns to the frame's interface. Wireshark's interface number is
 * 0 if the file has only one interface. In a raw ERF file, Wireshark already numbers each port as
 * an interface. Returns false if the capture has too many interfaces.
 */
static bool number_of_interface(packet_info *pinfo, uint16_t *number)
{
    const wtap_packet_header *h = &pinfo->rec->rec_header.packet_header;
    bool told = pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID;
    bool erf = pinfo->rec->rec_type == REC_TYPE_PACKET && h->pkt_encap == WTAP_ENCAP_ERF;
    struct capture_interface captured = {told ? h->interface_id : 0, erf ? port_of_erf(pinfo) : 0};
    return fabric_enter_interface(state_fabric(), captured, number);
}

static uint16_t interface_of(packet_info *pinfo)
{
    uint16_t number;
    return number_of_interface(pinfo, &number) ? number : 0;
}

static struct port port_of_address(packet_info *pinfo, const address *a)
{
    if (a->type == AT_IPv4 || a->type == AT_IPv6)
        return port_ip(interface_of(pinfo), a->data, (size_t)a->len);
    return (struct port){0};
}

/*
 * The classification of packets that are not part of a message is the same for all packets of a
 * flow. It is stored once, because a capture has many packets.
 */
static wmem_map_t *shared;

static const struct ruling *shared_verdict(const struct ruling *v)
{
    uint32_t number = v->connection ? v->connection->number : 0;
    void *key = GUINT_TO_POINTER(number << 4 | (uint32_t)v->class << 1 | v->to_requester);
    struct ruling *s = wmem_map_lookup(shared, key);
    if (!s) {
        s = wmem_memdup(wmem_file_scope(), v, sizeof *v);
        wmem_map_insert(shared, key, s);
    }
    return s;
}

/*
 * The current frame, and the frames that it carries (RoCE v2 over IPoIB). They are not in the
 * packet's memory pool: allocating them for every frame costs more than all of the decoding.
 */
enum { DEPTH = 4 };
static struct frame frames[DEPTH];
static struct frame *current;

uint32_t frame_key(const struct frame *f, enum data_key key)
{
    return (uint32_t)(f - frames) * DATA_KEYS + key;
}

void frame_keep(const struct frame *f, packet_info *pinfo)
{
    const struct ruling *v = &f->p.verdict;
    v = v->class == PAYLOAD_PART ? wmem_memdup(wmem_file_scope(), v, sizeof *v) : shared_verdict(v);
    p_add_proto_data(wmem_file_scope(), pinfo, proto_ipoib, frame_key(f, DATA_VERDICT), (void *)v);
}

static void recall(struct frame *f, packet_info *pinfo)
{
    const struct ruling *v = p_get_proto_data(wmem_file_scope(), pinfo, proto_ipoib,
                                              frame_key(f, DATA_VERDICT));
    if (v)
        f->p.verdict = *v;
}

static expert_field ei_contradiction = EI_INIT;

void frame_show_contradiction(const struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    const struct contradiction *c = &state_facts()->contradiction;
    if (c->frame == pinfo->num)
        proto_tree_add_expert_format(
            tree, pinfo, &ei_contradiction, f->tvb, 0, 0,
            "Interfaces %u and %u seemed to see one subnet, and see two: what was learnt of them up to here is not used after it",
            c->interface[0], c->interface[1]);
}

bool frame_moment(packet_info *pinfo, struct moment *at)
{
    *at = (struct moment){.frame = pinfo->num,
                          .ns = nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs)};
    return number_of_interface(pinfo, &at->interface);
}

struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start)
{
    struct frame *outer = frame_current(pinfo);
    struct frame *f = outer ? outer + 1 : frames;
    struct moment at;
    if (f == frames + DEPTH || !frame_moment(pinfo, &at))
        return NULL;
    struct port src = port_of_address(pinfo, &pinfo->net_src),
                dst = port_of_address(pinfo, &pinfo->net_dst);
    *f = (struct frame){.tvb = tvb, .number = pinfo->num, .outer = outer};
    packet_read(&f->p, &at, tvb_view(tvb), start, &src, &dst);
    if (pinfo->fd->visited) {
        fabric_place(state_fabric(), &f->p);
        if (f->p.verdict.class == PAYLOAD_OTHER)
            recall(f, pinfo);
    }
    current = f;
    return f;
}

tvbuff_t *frame_payload(const struct frame *f)
{
    return tvb_new_subset_length_caplen(f->tvb, (int)f->p.ib.payload_off, (int)f->p.ib.payload.cap,
                                        (int)f->p.ib.payload.len);
}

void frame_end(struct frame *f)
{
    current = f->outer;
}

static void forget(void)
{
    current = NULL;
    frames[0] = (struct frame){0};
}

struct frame *frame_current(packet_info *pinfo)
{
    return current && current->number == pinfo->num ? current : NULL;
}

const struct frame *frame_of(packet_info *pinfo)
{
    return frames[0].number == pinfo->num ? &frames[0] : NULL;
}

uint32_t frame_link(packet_info *pinfo)
{
    const struct frame *f = frame_current(pinfo);
    uint16_t subnet = interfaces_subnet(state_facts()->interfaces, interface_of(pinfo));
    return link_key(subnet, f && f->p.ib.has_bth ? f->p.ib.pkey : 0);
}

static void register_expert_info(void)
{
    static ei_register_info ei[] = {
        {&ei_contradiction,
         {"ipoib.interfaces.contradiction", PI_ASSUMPTION, PI_WARN,
          "Interfaces that seemed to see one subnet see two", EXPFILL}},
    };
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
}

void frame_register(void)
{
    register_expert_info();
    register_cleanup_routine(forget);
    shared = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash,
                                    g_direct_equal);
}
