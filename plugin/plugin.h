/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's rooms, and how a packet walks through them:
 *   entry.c    a carrier hands a frame over; frame.c says what is in it, with the pure decoder
 *   payload.c  the encapsulation header and the datagram behind it
 *   message.c  connected mode: parts of a message on their way to one datagram
 *   sa.c cm.c  management datagrams: subnet administration and communication management
 *   arp.c nd.c lladdr.c mgid.c   addresses, wherever they stand
 *   pair.c     request and response;  state.c  what is remembered of a file;  rivals.c  who must be kept silent
 */
#ifndef IPOIB_PLUGIN_PLUGIN_H
#define IPOIB_PLUGIN_PLUGIN_H

#include "plugin/compat.h"

#include <epan/packet.h>

#include "model/connection.h"
#include "model/neighbour.h"
#include "wire/ib.h"
#include "wire/names.h"

/* The built-in protocol "ipoib" (Wireshark's own DLT 242 dissector): its filter name is ours to extend. */
extern int proto_ipoib;

/* A table of wire/ serves a field as Wireshark's value_string. */
#define NAMES(table) (table)
_Static_assert(sizeof(struct name) == sizeof(value_string), "struct name is not laid out as value_string");
_Static_assert(offsetof(struct name, name) == offsetof(value_string, strptr), "as above");

/* ---- what is known of the frame at hand (frame.c) */

enum payload_class {
    PAYLOAD_NONE,       /* none, or headers not whole */
    PAYLOAD_OTHER,      /* not IPoIB's, as far as can be told */
    PAYLOAD_MAD,
    PAYLOAD_IPOIB,      /* one datagram with its encapsulation header */
    PAYLOAD_PART,       /* a part of a message of a connection that is IPoIB's */
    PAYLOAD_FOREIGN,    /* data of a connection that is known to be another protocol's */
};

struct frame {
    tvbuff_t *tvb;       /* from the header that ib.start names */
    struct view view;
    struct ib_packet ib;
    enum wire_result result;
    enum payload_class class;
    struct port src, dst;
    struct connection *connection;
    bool to_requester;
    struct stream_result part; /* PAYLOAD_PART */
    bool cm_is_ipoib;    /* PAYLOAD_MAD: a CM message of an IPoIB connection */
    bool done;           /* the payload was dissected */
};

/* The view of a tvb's octets; they are captured, so that none of them throws. */
struct view tvb_view(tvbuff_t *tvb);

/* Decode and classify; the frame lives as long as the packet. */
struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start);

/* The InfiniBand frame that carries the packet at hand, NULL where none does. */
struct frame *frame_current(packet_info *pinfo);

/* Which link a frame is on: partition and capture interface. For keys; not for show. */
uint32_t frame_link(packet_info *pinfo);

/* ---- other heuristics that would take IPoIB's frames (rivals.c) */

struct rivals;
/* Those that may not see this frame, NULL for none. */
struct rivals *rivals_of(const struct frame *f);
void rivals_silence(struct rivals *r);
void rivals_restore(struct rivals *r);

/* ---- what is remembered of a capture file (state.c) */

struct connections *state_connections(void);
struct neighbours *state_neighbours(void);
struct qpn_set *state_qpns(void);

/* The QPs of which IPoIB datagrams came: unicast payloads between them need no look. */
void qpn_learn(struct qpn_set *s, const struct port *port, uint32_t qpn);
bool qpn_known(const struct qpn_set *s, const struct port *port, uint32_t qpn);

/* Kinds of per-packet data under proto_ipoib. */
enum data_key { DATA_FRAME, DATA_CLASS, DATA_PAIRS, DATA_DUPLICATE, DATA_CM, DATA_TABLE };

/* ---- request and response (pair.c) */

enum pair_kind { PAIR_ARP, PAIR_RARP, PAIR_ND, PAIR_SA, PAIR_CM_SETUP, PAIR_CM_READY, PAIR_CM_END, PAIR_CM_PATH, PAIR_SIDR };

struct pair_key {
    uint8_t kind;
    uint8_t length;
    uint8_t octets[46];
};

void pair_key_add(struct pair_key *k, const void *p, size_t n);
/* what: a number of the caller's, given back to who dissects the response. */
void pair_request(packet_info *pinfo, const struct pair_key *k, uint32_t what);
void pair_response(packet_info *pinfo, const struct pair_key *k);
bool pair_is_known(packet_info *pinfo);
uint32_t pair_answers_what(packet_info *pinfo);
/* Add ipoib.response_in, ipoib.response_to and ipoib.time of this frame. */
void pair_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb);

/* ---- drawing */

/* Draw an IPoIB payload that the built-in dissector did not hand over; its layer is named in frame.protocols. */
void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* The encapsulation header at the begin of tvb and the datagram behind it; f: the InfiniBand frame, or NULL. */
void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f);
/* tvb: the payload of a PAYLOAD_PART frame. */
void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree);
/* ipoib.message, if the frame is a part of one. */
void message_add_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);
void sa_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* Note the CM message, before anybody draws it; sets cm_is_ipoib. */
void cm_observe(struct frame *f, packet_info *pinfo);
void cm_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* ipoib.lladdr and its parts at offset; parent: tree to add to. LLADDR_SIZE octets must be there. */
proto_item *lladdr_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, const char *label);
/* ipoib.mgid and its parts, if the GID at offset is an IPoIB MGID; returns the item or NULL. */
proto_item *mgid_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset);
/* "255.255.255.255", "ff02::1" and the like for an IPoIB MGID, else NULL. */
const char *mgid_group_text(packet_info *pinfo, const uint8_t *gid);
const char *gid_text(packet_info *pinfo, const uint8_t *gid);
/* ipoib.connection and what it is; the frames of its handshake. */
/* In the Info column, whose connection it is if not IPoIB's. */
void connection_name_foreign(packet_info *pinfo, const struct connection *c);
void connection_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, const struct connection *c);

/* ---- registration, in the order of plugin.c */

void state_register(void);
void rivals_register(void);
void entry_register(void);
void entry_handoff(void);
void payload_register(void);
void payload_handoff(void);
void message_register(void);
void lladdr_register(void);
void mgid_register(void);
void pair_register(void);
void sa_register(void);
void cm_register(void);
void arp_register(void);
void arp_handoff(void);
void nd_register(void);
void nd_handoff(void);

#endif
