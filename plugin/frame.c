/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes and classifies a frame with model/. The classification depends on earlier frames. It is
 * made in the first pass and stored, so that a second pass, a filtered pass and a packet that is
 * dissected again show the same.
 */
#include "plugin/frame.h"
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/store.h"

#include <epan/expert.h>
#include <wiretap/wtap.h>

#include "wire/link_frame.h"
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
 * an interface. It numbers the interfaces of each section of a pcapng file from 0.
 */
static uint16_t interface_of(packet_info *pinfo)
{
    const wtap_packet_header *h = &pinfo->rec->rec_header.packet_header;
    bool reported = pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID;
    bool erf = pinfo->rec->rec_type == REC_TYPE_PACKET && h->pkt_encap == WTAP_ENCAP_ERF;
    bool has_section = pinfo->rec->presence_flags & WTAP_HAS_SECTION_NUMBER;
    struct capture_interface captured = {reported ? h->interface_id : 0,
                                         erf ? port_of_erf(pinfo) : 0,
                                         has_section ? pinfo->rec->section_number : 0};
    return fabric_enter_interface(state_fabric(), captured);
}

static struct port port_of_address(packet_info *pinfo, const address *a)
{
    if (a->type == AT_IPv4 || a->type == AT_IPv6)
        return port_ip(interface_of(pinfo), a->data, (size_t)a->len);
    return (struct port){0};
}

/*
 * A classification by earlier packets, as it is stored. The packets of a message, and those of a
 * connection that are no part of one, have the same, so they share its memory: a capture has many
 * packets.
 */
struct stored_verdict {
    uint32_t connection; /* number; 0: none */
    uint32_t message;    /* number; 0: none */
    uint32_t first_psn;  /* of the message */
    uint8_t class, part;
    bool to_requester, unused;
};

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
    const struct classification *v = &f->p.classification;
    uint32_t number = v->fragment.number;
    const struct stored_verdict s = {
        .connection = v->connection ? v->connection->number : 0,
        .message = number,
        .first_psn = number ? (f->p.ib.psn - v->fragment.index) & PSN_MASK : 0,
        .class = (uint8_t)v->class,
        .part = (uint8_t)v->fragment.state,
        .to_requester = v->to_requester};
    store_share(pinfo->num, frame_key(f, DATA_VERDICT), &s, sizeof s,
                alignof(struct stored_verdict));
}

static void recall(struct frame *f, packet_info *pinfo)
{
    const struct stored_verdict *s = store_find(pinfo->num, frame_key(f, DATA_VERDICT));
    if (!s)
        return;
    uint32_t place = s->message ? (f->p.ib.psn - s->first_psn) & PSN_MASK : 0;
    f->p.classification = (struct classification){
        .class = (enum payload_class)s->class,
        .by_context = true,
        .connection = state_connection(s->connection),
        .to_requester = s->to_requester,
        .fragment = {.state = (enum stream_state)s->part, .number = s->message, .index = place}};
}

static expert_field ei_ipoib_interfaces_contradiction = EI_INIT;

void frame_show_contradiction(const struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    const struct contradiction *c = &state_facts()->contradiction;
    char interfaces[CONTRADICTION_TEXT];
    if (c->frame != pinfo->num)
        return;
    contradiction_interfaces(c, interfaces);
    proto_tree_add_expert_format(
        tree, pinfo, &ei_ipoib_interfaces_contradiction, f->tvb, 0, 0,
        "Taken for one subnet, but belong to two: %s; the state from earlier frames is not used any more",
        interfaces);
}

struct capture_position frame_position(packet_info *pinfo)
{
    return (struct capture_position){.frame = pinfo->num,
                                     .interface = interface_of(pinfo),
                                     .ns = nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs)};
}

struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start)
{
    struct frame *outer = frame_current(pinfo);
    struct frame *f = outer ? outer + 1 : frames;
    if (f == frames + DEPTH)
        return NULL;
    const struct capture_position at = frame_position(pinfo);
    struct port src = port_of_address(pinfo, &pinfo->net_src),
                dst = port_of_address(pinfo, &pinfo->net_dst);
    packet_read(&f->p, &at, tvb_view(tvb), start, &src, &dst);
    f->tvb = tvb;
    f->number = pinfo->num;
    f->outer = outer;
    f->cm_is_ipoib = f->done = false;
    if (pinfo->fd->visited && f->p.classification.class == PAYLOAD_OTHER)
        recall(f, pinfo);
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

static void forget_frames(void)
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
        {&ei_ipoib_interfaces_contradiction,
         {"ipoib.interfaces.contradiction", PI_ASSUMPTION, PI_WARN,
          "Interfaces taken for one subnet belong to two", EXPFILL}},
    };
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
}

void frame_register(void)
{
    register_expert_info();
    register_cleanup_routine(forget_frames);
}
