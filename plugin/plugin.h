/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's rooms, and how a packet walks through them:
 *   entry.c    a carrier hands a frame over; frame.c says what is in it, with the pure decoder
 *   payload.c  the encapsulation header and the datagram behind it
 *   message.c  connected mode: parts of a message on their way to one datagram
 *   sa.c sa_record.c cm.c  management datagrams: subnet administration and communication management
 *   arp.c nd.c lladdr.c mgid.c   addresses, wherever they stand
 *   conformance.c  what the judge of rules/ finds, as expert items
 *   tap_*.c    statistics, of the Statistics menu and of -z (tap.h)
 *   wanted.c   does anybody see what is added to the tree?
 *   pair.c     request and response;  state.c  what is remembered of a file;  rivals.c  who must be
 * kept silent
 */
#ifndef IPOIB_PLUGIN_PLUGIN_H
#define IPOIB_PLUGIN_PLUGIN_H

#include "plugin/compat.h"

#include <epan/packet.h>

#include "model/observe.h"
#include "rules/check.h"
#include "wire/ib.h"
#include "wire/names.h"

/*
 * The built-in protocol "ipoib" (Wireshark's own DLT 242 dissector): its filter name is ours to
 * extend.
 */
extern int proto_ipoib;

/* VALS() for a table of wire/, which has value_string's layout. */
#define VALS_OF(table) (table)
_Static_assert(sizeof(struct name) == sizeof(value_string),
               "struct name is not laid out as value_string");
_Static_assert(offsetof(struct name, name) == offsetof(value_string, strptr), "as above");

/* ---- what is known of the frame at hand (frame.c) */

struct frame {
    struct packet p; /* what model/ makes of it */
    tvbuff_t *tvb;   /* from the header that p.ib.start names */
    uint32_t number;
    struct frame *outer; /* of which this is a payload (RoCE v2), or NULL */
    bool cm_is_ipoib;    /* PAYLOAD_MAD: a CM message of an IPoIB connection */
    bool done;           /* the payload was dissected */
};

/*
 * Has the user left the protocol "ipoib" enabled? Without it all is as if the plugin were not
 * there, but that link type 247 is InfiniBand still, and the built-in guess stays retired
 * (payload.c).
 */
bool plugin_enabled(void);

/* The view of a tvb's octets; they are captured, so that none of them throws. */
struct view tvb_view(tvbuff_t *tvb);

/*
 * Decode and classify; the frame lives until frame_end(), which must come, exception or not. NULL:
 * nested too deep.
 */
struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start);
void frame_end(struct frame *f);
/* If it shows that interfaces, which seemed to see one subnet, see two (model/interfaces.h). */
void frame_show_contradiction(const struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * The frame in tvb, of a link type without InfiniBand headers: observe and check it in the first
 * pass, before it is dissected.
 */
void frame_observe_bare(tvbuff_t *tvb, packet_info *pinfo);
/* At the end of a file. */
void frame_forget(void);

/* The InfiniBand frame that carries the packet at hand, NULL where none does. */
struct frame *frame_current(packet_info *pinfo);

/* The outermost one of the packet, for who comes behind all dissectors; NULL where it has none. */
const struct frame *frame_of(packet_info *pinfo);

/* Which link a frame is on: partition and capture interface. For keys; not for show. */
uint32_t frame_link(packet_info *pinfo);

/* ---- other heuristics that would take IPoIB's frames (rivals.c) */

struct rivals;
/* Those that may not see this frame, NULL for none. */
struct rivals *rivals_of(const struct frame *f);
void rivals_silence(struct rivals *r);
/*
 * End the silence, if there is one; as soon as it has served, for an exception may come at any
 * time.
 */
void rivals_restore(void);

/* ---- what is remembered of a capture file (state.c) */

struct fabric *state_fabric(void);
/* What the fabric learnt from the packet that it observed last. */
struct events *state_events(void);

/* Kinds of per-packet data under proto_ipoib. */
enum data_key {
    DATA_VERDICT,
    DATA_PAIRS,
    DATA_DUPLICATE,
    DATA_CM,
    DATA_TABLE,
    DATA_FINDINGS,
    DATA_KEYS
};

/* The key of what is of this frame alone, not of another that carries it. */
uint32_t frame_key(const struct frame *f, enum data_key key);

/* ---- judging (conformance.c) */

struct carrier;

/*
 * What was found in the file, up to now or, once it was read, as a whole; NULL: there is no
 * verdict. See report/verdict.h.
 */
const struct verdict *conformance_verdict(void);
/* Why there is no verdict; NULL: there is one. */
const char *conformance_why_not(void);
/* The list of known deviations that the user chose. */
const char *conformance_deviations(void);
/* Is the frame's carrier one of IPoIB without InfiniBand headers? tvb: the whole frame. */
bool conformance_bare_carrier(tvbuff_t *tvb, packet_info *pinfo, struct carrier *c);
/* In the first pass, once the packet is observed. begin: of the packet, in the frame. */
void conformance_judge(const struct packet *p, packet_info *pinfo, uint32_t begin);

/* ---- request and response (pair.c) */

enum pair_kind {
    PAIR_ARP,
    PAIR_RARP,
    PAIR_ND,
    PAIR_SA,
    PAIR_CM_SETUP,
    PAIR_CM_READY,
    PAIR_CM_END,
    PAIR_CM_PATH,
    PAIR_SIDR
};

struct pair_key {
    uint16_t subnet; /* the number that the model gives it: packet.at.interface */
    uint8_t kind;
    uint8_t length;
    uint8_t octets[44];
};

/* link: of frame_link() */
struct pair_key pair_key_on(uint8_t kind, uint32_t link);
void pair_key_add(struct pair_key *k, const void *p, size_t n);
/* The port in the key's subnet. */
void pair_key_add_port(struct pair_key *k, struct port port);
/* what: a number of the caller's, given back to who dissects the response. */
void pair_request(packet_info *pinfo, const struct pair_key *k, uint32_t what);
void pair_response(packet_info *pinfo, const struct pair_key *k);
bool pair_is_known(packet_info *pinfo);
uint32_t pair_answers_what(packet_info *pinfo);
/* At the end of a file. */
void pair_forget(void);
/* Add ipoib.response_in, ipoib.response_to and ipoib.time of this frame. */
void pair_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb);

/* ---- who sees what is added (wanted.c) */

/*
 * Is the tree shown, or does a filter, a column, a tap or -T fields name a field of IPoIB's or of
 * expert information? If not, only the protocols' own items need to be there.
 */
bool tree_is_wanted(const proto_tree *tree);
/* Is anything written to the Info column? */
bool info_is_wanted(const packet_info *pinfo);

/* ---- drawing */

/* What is behind the InfiniBand headers, without pad and CRCs. */
tvbuff_t *payload_tvb(const struct frame *f);
/*
 * Draw an IPoIB payload that the built-in dissector did not hand over; its layer is named in
 * frame.protocols.
 */
void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * The encapsulation header at the begin of tvb and the datagram behind it; f: the InfiniBand frame,
 * or NULL.
 */
void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f);
/* tvb: the payload of a PAYLOAD_PART frame. */
void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree);
/* ipoib.message, if the frame is a part of one. */
void message_add_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);
/* In the first pass: keep for arp.c whether the IP that an ARP message announces is in use. */
void arp_keep_duplicate(packet_info *pinfo, const struct packet *p, const struct events *e);
void sa_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* One record of the MAD sa at offset o of tvb; its sa_record_size() octets must be there. */
struct sa;
void sa_record_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o, const struct sa *sa);
/* Keep what is known of the CM message, before anybody draws it; sets cm_is_ipoib. */
void cm_observe(struct frame *f, packet_info *pinfo);
void cm_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* ipoib.lladdr and its parts at offset; label: whose it is. LLADDR_SIZE octets must be there. */
void lladdr_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, const char *label);
/* ipoib.mgid and its parts, if the GID at offset is an IPoIB MGID; returns the item or NULL. */
proto_item *mgid_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset);
/* "255.255.255.255", "ff02::1" and the like for an IPoIB MGID, else NULL. */
const char *mgid_group_text(packet_info *pinfo, const uint8_t *gid);
const char *gid_text(packet_info *pinfo, const uint8_t *gid);
/* In the Info column, whose connection it is if not IPoIB's. */
void connection_name_foreign(packet_info *pinfo, const struct connection *c);
/* ipoib.connection and what it is; its REQ. */
void connection_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb,
                    const struct connection *c);

/* ---- registration, in the order of plugin.c */

void frame_register(void);
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
void sa_record_register(void);
void cm_register(void);
void arp_register(void);
void arp_handoff(void);
void nd_register(void);
void nd_handoff(void);
void conformance_register(void);
void conformance_handoff(void);
void wanted_handoff(void);

#endif
