/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A frame, as model/ sees it. What it says in the light of the frames before is decided in the
 * first pass and kept, so that a second pass, a filtered one and a redrawn packet show the same.
 */
#include "plugin/plugin.h"

#include <epan/proto_data.h>
#include <wiretap/wtap.h>

#include "wire/nanoseconds.h"

struct view tvb_view(tvbuff_t *tvb)
{
    uint32_t cap = tvb_captured_length(tvb);
    return view_make(cap ? tvb_get_ptr(tvb, 0, (int)cap) : NULL, cap, tvb_reported_length(tvb));
}

bool plugin_enabled(void)
{
    return proto_is_protocol_enabled(find_protocol_by_id(proto_ipoib));
}

/* Of the capture file; 0 where it has one alone. */
static uint32_t number_of_interface(packet_info *pinfo)
{
    bool told = pinfo->rec->presence_flags & WTAP_HAS_INTERFACE_ID;
    return told ? pinfo->rec->rec_header.packet_header.interface_id : 0;
}

/* The model tells 65,536 apart; frame_begin takes no frame of another. */
static uint16_t interface_of(packet_info *pinfo)
{
    return (uint16_t)number_of_interface(pinfo);
}

int64_t frame_seconds(packet_info *pinfo)
{
    return nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs) / NANOSECONDS;
}

static struct port port_of_address(packet_info *pinfo, const address *a)
{
    if (a->type == AT_IPv4 || a->type == AT_IPv6)
        return port_ip(interface_of(pinfo), a->data, (size_t)a->len);
    return (struct port){0};
}

/*
 * Verdicts that are not about one part of a message are the same for all packets of a flow: kept
 * once, for a capture has many.
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
 * The frame at hand, and more for RoCE v2 within IPoIB. Not in the packet's memory pool: that costs
 * more than all of the decoding, for every frame of a capture.
 */
enum { DEPTH = 4 };
static struct frame frames[DEPTH];
static struct frame *current;

uint32_t frame_key(const struct frame *f, enum data_key key)
{
    return (uint32_t)(f - frames) * DATA_KEYS + key;
}

static void keep(const struct frame *f, packet_info *pinfo)
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

struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start)
{
    struct frame *outer = frame_current(pinfo);
    struct frame *f = outer ? outer + 1 : frames;
    if (f == frames + DEPTH || number_of_interface(pinfo) > UINT16_MAX)
        return NULL;
    struct port src = port_of_address(pinfo, &pinfo->net_src),
                dst = port_of_address(pinfo, &pinfo->net_dst);
    struct moment at = {pinfo->num, interface_of(pinfo),
                        nanoseconds_of(pinfo->abs_ts.secs, pinfo->abs_ts.nsecs)};
    *f = (struct frame){.tvb = tvb, .number = pinfo->num, .outer = outer};
    packet_read(&f->p, &at, tvb_view(tvb), start, &src, &dst);
    if (!pinfo->fd->visited) {
        fabric_classify(state_fabric(), &f->p);
        if (f->p.verdict.by_context)
            keep(f, pinfo);
        conformance_judge(f, pinfo);
    } else if (f->p.verdict.class == PAYLOAD_OTHER) {
        recall(f, pinfo);
    }
    current = f;
    return f;
}

void frame_end(struct frame *f)
{
    current = f->outer;
}

void frame_forget(void)
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

bool frame_is_corrupt(packet_info *pinfo)
{
    const struct frame *f = frame_current(pinfo);
    return f && packet_is_corrupt(&f->p);
}

uint32_t frame_link(packet_info *pinfo)
{
    const struct frame *f = frame_current(pinfo);
    return link_key(interface_of(pinfo), f && f->p.ib.has_bth ? f->p.ib.pkey : 0);
}

void frame_register(void)
{
    shared = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash,
                                    g_direct_equal);
}
