/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --only and -I. See selection.h. */
#include "capture/receive/selection.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/receive/connections.h"
#include "pcapio/pcapng.h"
#include "wire/encap.h"
#include "wire/ib.h"
#include "wire/mad.h"
#include "wire/mgid.h"

enum {
    QP_SMI = 0,
    QP_GSI = 1,
    LNH_MASK = 0x03, /* mask in LRH_SL_LNH (IBA 7.7.5) */
    LENGTH_MASK = 0x07ff,
    TRANSPORT_SHIFT = 5, /* shift in the BTH opcode (IBA 9.2.1, table 38) */
    OPERATION_MASK = 0x1f,
    SEND_FIRST = 0x00,
    SEND_ONLY = 0x04,
    SEND_ONLY_IMMEDIATE = 0x05,
};
#define QKEY_GSI 0x80010000u /* the well-known Q_Key of QP 1 (IBA 10.2.5) */

struct packet_selection {
    struct selection_plan plan;
    struct connection_table *connections;
    uint64_t left_out[KINDS];
    uint64_t wrong_direction; /* left out, of any kind */
};

static const char *const names[KINDS] = {
    [KIND_IPOIB] = "ipoib", [KIND_CM] = "cm",       [KIND_SA] = "sa",
    [KIND_SMP] = "smp",     [KIND_OTHER] = "other",
};

/* --- the option */

static bool take_name(const char *name, size_t len, unsigned *kinds)
{
    for (unsigned kind = 0; kind < KIND_OTHER; kind++)
        if (strlen(names[kind]) == len && strncmp(name, names[kind], len) == 0) {
            *kinds |= 1u << kind;
            return true;
        }
    return false;
}

bool selection_parse(const char *text, unsigned *kinds)
{
    *kinds = 0;
    for (;; text++) {
        size_t len = strcspn(text, ",");

        if (!take_name(text, len, kinds))
            return false;
        text += len;
        if (*text == '\0')
            return true;
    }
}

const char *selection_name(enum packet_kind kind)
{
    return names[kind];
}

/* Writes the names of KINDS, comma-separated, as selection_parse reads them. */
static void write_names(unsigned kinds, char *text, size_t size)
{
    size_t len = 0;

    text[0] = '\0';
    for (unsigned kind = 0; kind < KIND_OTHER; kind++)
        if (kinds & 1u << kind && len < size)
            len += (size_t)snprintf(text + len, size - len, "%s%s", len ? "," : "", names[kind]);
}

/* --- headers of a packet */

struct headers {
    uint16_t slid, dlid;
    const uint8_t *dgid; /* NULL without a GRH */
    const uint8_t *bth;
    uint32_t payload_off; /* bytes from the LRH, after the BTH */
    uint8_t transport, operation;
    uint32_t dest_qp;
};

/* Returns false if there is no BTH. */
static bool read_headers(const uint8_t *p, uint32_t len, struct headers *h)
{
    unsigned lnh = len < LRH_SIZE ? LNH_RAW : p[LRH_SL_LNH] & LNH_MASK;
    uint32_t bth = lnh == LNH_GRH ? LRH_SIZE + GRH_SIZE : LRH_SIZE;

    if ((lnh != LNH_BTH && lnh != LNH_GRH) || len < bth + BTH_SIZE)
        return false;
    if (lnh == LNH_GRH && p[LRH_SIZE + GRH_NXT_HDR] != GRH_NXT_HDR_BTH)
        return false;
    h->slid = be16(p + LRH_SLID);
    h->dlid = be16(p + LRH_DLID);
    h->dgid = lnh == LNH_GRH ? p + LRH_SIZE + GRH_DGID : NULL;
    h->bth = p + bth;
    h->payload_off = bth + BTH_SIZE;
    h->transport = h->bth[BTH_OPCODE] >> TRANSPORT_SHIFT;
    h->operation = h->bth[BTH_OPCODE] & OPERATION_MASK;
    h->dest_qp = be24(h->bth + BTH_DEST_QP);
    return true;
}

/*
 * Returns the bytes from OFF to the pad bytes and CRCs; uses the length in the LRH if it is
 * plausible.
 */
static struct view payload_of(const uint8_t *p, uint32_t len, const struct headers *h, uint32_t off)
{
    uint32_t end = (be16(p + LRH_PKT_LEN) & LENGTH_MASK) * 4u;
    uint32_t tail = ICRC_SIZE + (h->bth[BTH_SE_M_PAD_TVER] >> 4 & 3);
    struct view whole;

    end = end >= off + tail ? end - tail : len;
    whole = view_make(p, end < len ? end : len, end);
    return view_from(whole, off);
}

/* --- kind of a packet */

static enum packet_kind mad_kind(struct packet_selection *s, const struct headers *h,
                                 struct view mad)
{
    if (view_has(mad, 0, MAD_DATA) != WIRE_OK)
        return KIND_OTHER;
    if (mad.p[MAD_CLASS] == MAD_CLASS_SA)
        return KIND_SA;
    if (mad.p[MAD_CLASS] != MAD_CLASS_CM)
        return KIND_OTHER;
    connections_learn(s->connections, h->slid, h->dlid, mad);
    return KIND_CM;
}

/*
 * Whether the payload starts with an encapsulation header with a Type of RFC 4391 section 6;
 * Reserved is not checked.
 */
static bool is_encapsulated(struct view payload)
{
    uint16_t type;

    if (view_has(payload, 0, ENCAP_SIZE) != WIRE_OK)
        return false;
    type = be16(payload.p + ENCAP_TYPE);
    return type == TYPE_IPV4 || type == TYPE_ARP || type == TYPE_RARP || type == TYPE_IPV6;
}

static enum packet_kind ud_kind(struct packet_selection *s, const uint8_t *p, uint32_t len,
                                const struct headers *h)
{
    uint32_t off = h->payload_off + DETH_SIZE;
    struct view payload;

    if (h->dest_qp == QP_SMI)
        return KIND_SMP;
    if (len < off)
        return KIND_OTHER;
    payload = payload_of(p, len, h, off + (h->operation == SEND_ONLY_IMMEDIATE ? IMMDT_SIZE : 0));
    if (h->dest_qp == QP_GSI || be32(p + h->payload_off + DETH_QKEY) == QKEY_GSI)
        return mad_kind(s, h, payload);
    return (h->dgid && mgid_is_ipoib(h->dgid)) || is_encapsulated(payload) ? KIND_IPOIB
                                                                           : KIND_OTHER;
}

/*
 * Whether the first packet of a message shows by its encapsulation and IP headers that the
 * connection is IPoIB. Used if the REQ was before the capture. Acknowledgements to the sender stay
 * unknown.
 */
static bool is_recognised(const uint8_t *p, uint32_t len, const struct headers *h)
{
    uint32_t immediate = h->operation == SEND_ONLY_IMMEDIATE ? IMMDT_SIZE : 0;
    bool first = h->operation == SEND_FIRST;

    if (h->transport != IB_RC && h->transport != IB_UC)
        return false;
    if (!first && h->operation != SEND_ONLY && h->operation != SEND_ONLY_IMMEDIATE)
        return false;
    return encap_begins_message(payload_of(p, len, h, h->payload_off + immediate), first);
}

static enum packet_kind connected_kind(struct packet_selection *s, const uint8_t *p, uint32_t len,
                                       const struct headers *h)
{
    enum connection_owner owner = connections_owner(s->connections, h->dlid, h->dest_qp);

    if (owner == OWNER_UNKNOWN && is_recognised(p, len, h)) {
        connections_recognise(s->connections, h->dlid, h->dest_qp);
        owner = OWNER_IPOIB;
    }
    return owner == OWNER_IPOIB ? KIND_IPOIB : KIND_OTHER;
}

static enum packet_kind packet_kind_of(struct packet_selection *s, const uint8_t *p, uint32_t len)
{
    struct headers h;

    if (!read_headers(p, len, &h))
        return KIND_OTHER;
    return h.transport == IB_UD ? ud_kind(s, p, len, &h) : connected_kind(s, p, len, &h);
}

/* A packet of unknown direction is wanted in both. */
static bool wants_direction(const struct packet_selection *s, uint32_t direction)
{
    switch (s->plan.direction) {
    case DIRECTION_TX:
        return direction != PCAPNG_INBOUND;
    case DIRECTION_RX:
        return direction != PCAPNG_OUTBOUND;
    case DIRECTION_BOTH:
        break;
    }
    return true;
}

/* With --only, also a packet of the wrong direction is read: a REQ names queue pairs of both. */
bool selection_wants(struct packet_selection *s, const struct recorded_frame *packet)
{
    unsigned kinds = s->plan.kinds;
    enum packet_kind kind = kinds ? packet_kind_of(s, packet->bytes, packet->len) : KIND_OTHER;

    if (!wants_direction(s, packet->direction))
        s->wrong_direction++;
    else if (kinds && !(kinds & 1u << kind))
        s->left_out[kind]++;
    else
        return true;
    return false;
}

/* --- create, destroy, texts */

struct packet_selection *selection_create(const struct selection_plan *plan)
{
    struct packet_selection *s = g_new0(struct packet_selection, 1);

    s->plan = *plan;
    s->connections = connections_create();
    return s;
}

void selection_destroy(struct packet_selection *s)
{
    if (s)
        connections_destroy(s->connections);
    g_free(s);
}

void selection_describe(const struct packet_selection *s, char *text, size_t size)
{
    const char *direction = s->plan.direction == DIRECTION_TX   ? "-I tx"
                            : s->plan.direction == DIRECTION_RX ? "-I rx"
                                                                : "";
    char kinds[40];

    write_names(s->plan.kinds, kinds, sizeof(kinds));
    snprintf(text, size, "%s%s%s%s: other packets were left out", direction,
             direction[0] && kinds[0] ? " " : "", kinds[0] ? "--only " : "", kinds);
}

static uint64_t sum_left_out(const struct packet_selection *s)
{
    uint64_t sum = s->wrong_direction;

    for (int kind = 0; kind < KINDS; kind++)
        sum += s->left_out[kind];
    return sum;
}

/* Appends "NAME COUNT" to the list after "; left out: 7", unless COUNT is 0. */
static void add_count(GString *text, const char *name, uint64_t count)
{
    if (count > 0)
        g_string_append_printf(text, "%s%s %" PRIu64, strchr(text->str, '(') ? ", " : " (", name,
                               count);
}

void selection_summary(const struct packet_selection *s, char *text, size_t size)
{
    GString *out = g_string_new(NULL);

    g_string_printf(out, "; left out: %" PRIu64, sum_left_out(s));
    add_count(out, s->plan.direction == DIRECTION_TX ? "received" : "sent", s->wrong_direction);
    for (int kind = 0; kind < KINDS; kind++)
        add_count(out, names[kind], s->left_out[kind]);
    if (sum_left_out(s) > 0)
        g_string_append_c(out, ')');
    g_strlcpy(text, out->str, size);
    g_string_free(out, TRUE);
}
