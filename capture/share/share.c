/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises frames. See share.h. */
#include "capture/share/share.h"

#include <glib.h>
#include <string.h>

#include "capture/share/share_ip.h"
#include "capture/share/share_mad.h"
#include "capture/share/share_outer.h"
#include "capture/share/share_packet.h"
#include "model/observe.h"
#include "wire/link_frame.h"

struct share {
    struct share_map *map;
    struct fabric *fabric; /* finds out which payload is IPoIB */
    struct events *events;
    GByteArray *before; /* the frame as captured: the decoder's structs point into it */
    uint32_t frame;
};

struct share *share_new(const struct share_key *key)
{
    struct share *s = g_new0(struct share, 1);

    s->map = share_map_new(key);
    s->fabric = fabric_new();
    s->events = events_new();
    s->before = g_byte_array_new();
    return s;
}

void share_free(struct share *s)
{
    if (!s)
        return;
    share_map_free(s->map);
    fabric_free(s->fabric);
    events_free(s->events);
    g_byte_array_unref(s->before);
    g_free(s);
}

/* ---- the payload */

/*
 * Zeros after a header with an unknown Type may look like those of an IP datagram without it, and
 * be a violation that the packet did not have. The bytes of IPv6's payload length, and of IPv4's
 * identification, get a value with which no length and no checksum is right.
 */
static void keep_encapsulation(struct part payload, const struct datagram *d, bool first)
{
    if (encap_missing(view_make(payload.to, payload.cap, d->bytes.len), first))
        memcpy(payload.to + ENCAP_SIZE, (const uint8_t[]){0xff, 0xfe}, 2);
}

/*
 * A datagram whose encapsulation header is missing is anonymised like one that has it, so that the
 * violation stays visible. FIRST: the first packet of a message of several. of_interface: as
 * share_datagram().
 */
static void share_ipoib(struct part payload, const struct datagram *d, bool first,
                        bool of_interface)
{
    struct datagram bare;

    if (d->header != WIRE_OK)
        return;
    if (encap_missing(d->bytes, first)) {
        uint8_t version = d->bytes.p[0] >> 4;
        datagram_decode_body(version == 4   ? TYPE_IPV4
                             : version == 6 ? TYPE_IPV6
                                            : TYPE_ARP,
                             d->bytes, &bare);
        share_datagram(payload, &bare, of_interface);
    } else {
        part_keep(payload, 0, ENCAP_SIZE);
        share_datagram(part_from(payload, ENCAP_SIZE), d, of_interface);
        keep_encapsulation(payload, d, first);
    }
}

/* Later packets may show that such data are a datagram, so its headers are kept. */
static bool looks_like_ipoib(const struct packet *p)
{
    return p->datagram.header == WIRE_OK &&
           (encap_agrees(p->ib.payload) ||
            encap_begins_message(p->ib.payload, p->ib.position == IB_FIRST));
}

/* The record that began in the previous segment of a table; NULL: none was read. */
static const struct split_record *split_of(const struct events *e)
{
    for (unsigned i = 0; i < e->count; i++)
        if (e->list[i].split.copy)
            return &e->list[i].split;
    return NULL;
}

/*
 * Anonymises the payload. Only the first fragment of a message contains the headers of the
 * datagram.
 */
static void share_payload(struct part payload, const struct packet *p, const struct events *events)
{
    const struct cm *cm = packet_cm(p);

    switch (p->classification.class) {
    case PAYLOAD_MAD:
        share_mad(payload, &p->mad, cm && packet_cm_is_ipoib(p, cm), split_of(events));
        break;
    case PAYLOAD_IPOIB:
        share_ipoib(payload, &p->datagram, false, false);
        break;
    case PAYLOAD_FRAGMENT:
        if (p->classification.fragment.index == 0)
            share_ipoib(payload, &p->datagram, true, false);
        break;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        if (looks_like_ipoib(p))
            share_ipoib(payload, &p->datagram, p->ib.position == IB_FIRST, false);
        break;
    }
}

/* ---- the frame */

static void share_infiniband(struct part whole, const struct packet *p, const struct events *events)
{
    share_headers(whole, &p->ib);
    if (p->result == WIRE_OK)
        share_payload(part_sub(whole, p->ib.payload_off, p->ib.payload.cap), p, events);
    share_crcs(whole, p->bytes.len, &p->ib);
}

/* A frame without InfiniBand headers; INNER: from the encapsulation header or the datagram on. */
static void share_without_headers(struct part inner, enum link_frame_kind kind,
                                  const struct datagram *d)
{
    if (kind == LINK_FRAME_IPOIB)
        share_ipoib(inner, d, false, datagram_is_of_interface(d));
    else
        share_datagram(inner, d, datagram_is_of_interface(d));
}

/*
 * Whether the frame can be anonymised. An Ethernet frame in an ERF record cannot: its outer headers
 * are not known.
 */
static bool is_shared(const struct share_frame *f, const struct link_frame *c)
{
    return c->kind != LINK_FRAME_NONE &&
           (f->linktype != LINKTYPE_ERF || (c->kind == LINK_FRAME_IB && c->start == IB_START_LRH));
}

static bool observe_shared(struct share *s, struct packet *p, const struct share_frame *f,
                           struct link_frame *c)
{
    struct capture_position at = {.frame = ++s->frame, .ns = f->ns};

    g_byte_array_set_size(s->before, 0);
    g_byte_array_append(s->before, f->bytes, f->cap);
    if (link_frame_locate((int)f->linktype, view_make(s->before->data, f->cap, f->wire), c) !=
            WIRE_OK ||
        !is_shared(f, c))
        return false;
    struct capture_interface captured = {0, c->port, 0};
    at.interface = fabric_enter_interface(s->fabric, captured);
    if (at.interface == INTERFACE_NONE)
        return false;
    packet_read_frame(p, &at, c);
    fabric_observe(s->fabric, p, s->events);
    return true;
}

bool share_frame(struct share *s, const struct share_frame *frame)
{
    struct link_frame c;
    struct packet p;

    if (!observe_shared(s, &p, frame, &c))
        return false;
    if (frame->cap == 0)
        return true;
    memset(frame->bytes, 0, frame->cap);
    struct part whole = {s->map, s->before->data, frame->bytes, frame->cap};
    share_outer(whole, frame->wire, frame->linktype, &c);
    struct part inner = part_sub(whole, (uint32_t)(c.inner.p - whole.from), c.inner.cap);
    if (c.kind == LINK_FRAME_IB)
        share_infiniband(inner, &p, s->events);
    else
        share_without_headers(inner, c.kind, &p.datagram);
    return true;
}
