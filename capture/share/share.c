/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises packets. See share.h. */
#include "capture/share/share.h"

#include <glib.h>
#include <string.h>

#include "capture/share/share_mad.h"
#include "capture/share/share_outer.h"
#include "model/observe.h"
#include "wire/link_frame.h"
#include "wire/erf.h"
#include "wire/icrc.h"
#include "wire/vcrc.h"

struct share {
    struct share_map *map;
    struct fabric *fabric; /* finds out which payload is IPoIB */
    struct events *events;
    GByteArray *before; /* the frame before the changes: the decoder's structs point into it */
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
static void keep_encapsulation(struct span payload, const struct datagram *d, bool first)
{
    if (encap_missing(view_make(payload.p, payload.cap, d->bytes.len), first))
        memcpy(payload.p + ENCAP_SIZE, (const uint8_t[]){0xff, 0xfe}, 2);
}

/*
 * A datagram whose encapsulation header is missing is anonymised like one that has it, so that the
 * violation stays visible. FIRST: the first packet of a message of several. of_interface: as
 * share_datagram().
 */
static void share_ipoib(struct share *s, struct span payload, const struct datagram *d, bool first,
                        bool of_interface)
{
    struct datagram bare;

    if (d->header != WIRE_OK) {
        span_clear(payload, 0);
    } else if (encap_missing(d->bytes, first)) {
        uint8_t version = d->bytes.p[0] >> 4;
        datagram_decode_body(version == 4   ? TYPE_IPV4
                             : version == 6 ? TYPE_IPV6
                                            : TYPE_ARP,
                             d->bytes, &bare);
        share_datagram(s->map, payload, &bare, of_interface);
    } else {
        share_datagram(s->map, span_from(payload, ENCAP_SIZE), d, of_interface);
        keep_encapsulation(payload, d, first);
    }
}

/* Later packets may show that such data are a datagram, so its headers stay. */
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
static void share_payload(struct share *s, struct span payload, const struct packet *p)
{
    const struct cm *cm = packet_cm(p);

    switch (p->classification.class) {
    case PAYLOAD_MAD:
        share_mad(s->map, payload, &p->mad, cm && packet_cm_is_ipoib(p, cm), split_of(s->events));
        break;
    case PAYLOAD_IPOIB:
        share_ipoib(s, payload, &p->datagram, false, false);
        break;
    case PAYLOAD_FRAGMENT:
        if (p->classification.fragment.index == 0)
            share_ipoib(s, payload, &p->datagram, true, false);
        else
            span_clear(payload, 0);
        break;
    case PAYLOAD_NONE:
    case PAYLOAD_OTHER:
    case PAYLOAD_FOREIGN:
        if (looks_like_ipoib(p))
            share_ipoib(s, payload, &p->datagram, p->ib.position == IB_FIRST, false);
        else
            span_clear(payload, 0);
        break;
    }
}

/* ---- the packet */

/* Returns the offset after the last decoded header. */
static uint32_t end_of_headers(const struct packet *p)
{
    const struct ib_packet *ib = &p->ib;

    return p->result == WIRE_OK ? ib->payload_off
           : ib->has_deth       ? ib->deth_off + (uint32_t)DETH_SIZE
           : ib->has_bth        ? ib->bth_off + (uint32_t)BTH_SIZE
           : ib->has_grh        ? ib->grh_off + (uint32_t)GRH_SIZE
           : ib->has_lrh        ? LRH_SIZE
                                : 0;
}

/*
 * Clears the bytes from FROM to the ICRC (padding), and everything after the VCRC. CRCs that are
 * not checked are cleared too: that of RoCE covers the outer addresses, the rest of a truncated CRC
 * is of the old payload, and a raw packet has payload there.
 */
static void clear_rest(struct span whole, const struct packet *p, uint32_t from)
{
    uint32_t length = p->ib.length;
    bool has_icrc = icrc_check(p->bytes, &p->ib) != ICRC_NOT_THERE,
         has_vcrc = vcrc_check(p->bytes, &p->ib) != VCRC_NOT_THERE;

    if (length < from + ICRC_SIZE) {
        span_clear(whole, from);
        return;
    }
    span_clear_part(whole, from, length - from - (has_icrc ? ICRC_SIZE : 0));
    span_clear(whole, length + (has_vcrc ? VCRC_SIZE : 0));
}

static void share_headers(struct share *s, struct span whole, const struct packet *p)
{
    uint8_t *grh = p->ib.has_grh ? span_field(whole, p->ib.grh_off, GRH_SIZE) : NULL;

    if (!grh)
        return;
    share_gid(s->map, grh + GRH_SGID);
    share_gid(s->map, grh + GRH_DGID);
}

/*
 * The new CRC: a wrong one stays wrong. It is not 0 then, because 0 counts as "no CRC". A right one
 * may be 0 by chance, the VCRC of one packet in 65,536: that packet counts as one without VCRC.
 */
static uint32_t new_crc(uint32_t right, bool stays_wrong)
{
    enum { SPOIL = 0x5a5a };

    return !stays_wrong ? right : right == SPOIL ? SPOIL + 1 : right ^ SPOIL;
}

static void update_crcs(struct span whole, const struct packet *p)
{
    struct view now = view_make(whole.p, whole.cap, p->bytes.len);
    enum icrc icrc = icrc_check(p->bytes, &p->ib);
    enum vcrc vcrc = vcrc_check(p->bytes, &p->ib);

    if (icrc != ICRC_NOT_THERE) {
        uint32_t crc = new_crc(icrc_of(now, &p->ib), icrc == ICRC_WRONG);
        for (int i = 0; i < ICRC_SIZE; i++)
            whole.p[p->ib.length - ICRC_SIZE + i] = (uint8_t)(crc >> 8 * i);
    }
    if (vcrc != VCRC_NOT_THERE) {
        uint16_t crc = (uint16_t)new_crc(vcrc_of(now, &p->ib), vcrc == VCRC_WRONG);
        whole.p[p->ib.length] = (uint8_t)crc;
        whole.p[p->ib.length + 1] = (uint8_t)(crc >> 8);
    }
}

/*
 * Clears the extended headers after BTH and DETH: memory addresses and keys, immediate data. The
 * AETH is kept: opcodes 0x0d to 0x12 (IBA table 38).
 */
static void clear_extended(struct span whole, const struct ib_packet *ib)
{
    uint32_t from = ib->has_deth ? ib->deth_off + (uint32_t)DETH_SIZE
                                 : ib->bth_off + (uint32_t)BTH_SIZE;
    uint8_t kind = ib->opcode & 0x1f;

    if (kind >= 0x0d && kind <= 0x12)
        from += AETH_SIZE;
    if (from < ib->payload_off)
        span_clear_part(whole, from, ib->payload_off - from);
}

static void share_infiniband(struct share *s, struct span whole, const struct packet *p)
{
    uint32_t from = end_of_headers(p);

    share_headers(s, whole, p);
    if (p->result == WIRE_OK) {
        struct span payload = span_from(whole, from);
        payload.cap = payload.cap < p->ib.payload.cap ? payload.cap : p->ib.payload.cap;
        clear_extended(whole, &p->ib);
        share_payload(s, payload, p);
        from += payload.cap;
    }
    clear_rest(whole, p, from);
    update_crcs(whole, p);
}

/* ---- the frame */

/*
 * Anonymises the ERF extension headers: maps the number of the capturing host (Host ID), clears the
 * contents of all others.
 */
static void share_extensions(struct share *s, uint8_t *record, uint32_t cap)
{
    uint32_t at = ERF_HEADER_LEN;
    bool more = cap > ERF_HEADER_LEN && record[ERF_OFF_TYPE] & ERF_TYPE_MORE;

    for (; more && at + ERF_EXT_LEN <= cap; at += ERF_EXT_LEN) {
        more = record[at] & ERF_TYPE_MORE;
        if ((record[at] & ERF_TYPE_MASK) == ERF_EXT_HOST_ID)
            share_bytes(s->map, record + at + 2, ERF_EXT_LEN - 2);
        else
            memset(record + at + 1, 0, ERF_EXT_LEN - 1);
    }
}

/*
 * Whether the frame can be anonymised. An Ethernet frame in an ERF record cannot: its MAC addresses
 * would stay.
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
    if (!fabric_enter_interface(s->fabric, captured, &at.interface))
        return false;
    packet_read_frame(p, &at, c);
    fabric_observe(s->fabric, p, s->events);
    return true;
}

/* A frame without InfiniBand headers; INNER: from the encapsulation header or the datagram on. */
static void share_without_headers(struct share *s, struct span inner, enum link_frame_kind kind,
                                  const struct packet *p)
{
    if (kind == LINK_FRAME_IPOIB)
        share_ipoib(s, inner, &p->datagram, false, datagram_is_of_interface(&p->datagram));
    else
        share_datagram(s->map, inner, &p->datagram, datagram_is_of_interface(&p->datagram));
}

bool share_frame(struct share *s, const struct share_frame *frame)
{
    struct span whole = {frame->bytes, frame->cap}, inner;
    struct link_frame c;
    struct packet p;

    if (!observe_shared(s, &p, frame, &c))
        return false;
    if (frame->linktype == LINKTYPE_ERF)
        share_extensions(s, frame->bytes, frame->cap);
    share_outer(s->map, frame->linktype, whole, s->before->data, &c);
    inner = span_from(whole, (uint32_t)(c.inner.p - s->before->data));
    if (c.kind != LINK_FRAME_IB) {
        share_without_headers(s, inner, c.kind, &p);
        return true;
    }
    share_infiniband(s, inner, &p);
    return true;
}
