/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules of the plugin, in the order in which a packet passes through them:
 *   entry.c        registration: receives the frames of every link type
 *   frame.c        decodes and classifies the frame, without Wireshark's tree
 *   payload.c      encapsulation header and datagram
 *   message.c      connected mode: reassembly of messages into datagrams
 *   sa.c sa_record.c cm.c       MADs: subnet administration, communication management
 *   arp.c nd.c lladdr.c mgid.c  addresses in any message
 *   conformance.c  runs the checker of rules/ and shows its findings as expert items
 *   tap_*.c        statistics for the Statistics menu and -z (tap.h)
 *   wanted.c       whether tree items and columns are used
 *   pair.c         request and response
 *   state.c        state of the capture file
 *   rivals.c       disables competing heuristic dissectors
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
 * The built-in protocol "ipoib" (Wireshark's own dissector of DLT 242). The plugin adds its fields
 * under this filter name.
 */
extern int proto_ipoib;

/* VALS() for a table of wire/, which has the layout of value_string. */
#define VALS_OF(table) (table)
_Static_assert(sizeof(struct name) == sizeof(value_string),
               "struct name is not laid out as value_string");
_Static_assert(offsetof(struct name, name) == offsetof(value_string, strptr), "as above");

/* ---- the current frame (frame.c) */

struct frame {
    struct packet p; /* decoded and classified by model/ */
    tvbuff_t *tvb;   /* starts at the header that p.ib.start names */
    uint32_t number;
    struct frame *outer; /* frame that carries this one as payload (RoCE v2), or NULL */
    bool cm_is_ipoib;    /* PAYLOAD_MAD: a CM message of an IPoIB connection */
    bool done;           /* the payload was dissected */
};

/*
 * Is the protocol "ipoib" enabled? If not, the plugin does nothing, with two exceptions: link type
 * 247 is still dissected as InfiniBand, and the built-in heuristic stays disabled (payload.c).
 */
bool plugin_enabled(void);

/* The captured bytes of a tvb. Reading them never throws. */
struct view tvb_view(tvbuff_t *tvb);

/*
 * Decodes and classifies the frame. The caller must call frame_end(), even after an exception; the
 * frame is valid until then. Returns NULL if frames are nested too deeply or the capture has too
 * many interfaces.
 */
struct frame *frame_begin(tvbuff_t *tvb, packet_info *pinfo, enum ib_start start);
void frame_end(struct frame *f);
/*
 * Adds an expert item if this frame shows that interfaces are on two subnets which were treated as
 * one (model/interfaces.h).
 */
void frame_show_contradiction(const struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * First pass only: observes and checks the frame in tvb, whose link type has no InfiniBand headers.
 * Called before the frame is dissected.
 */
void frame_observe_bare(tvbuff_t *tvb, packet_info *pinfo);
/* Resets the frames at the end of a file. */
void frame_forget(void);

/* The InfiniBand frame that carries the current packet, or NULL. */
struct frame *frame_current(packet_info *pinfo);

/*
 * The outermost InfiniBand frame of the packet, or NULL. For callers that run after all dissectors.
 */
const struct frame *frame_of(packet_info *pinfo);

/* The IPoIB link of the frame, as a key of P_Key and subnet. Not for display. */
uint32_t frame_link(packet_info *pinfo);

/* ---- competing heuristic dissectors (rivals.c) */

struct rivals;
/* The heuristic dissectors that must not see this frame, NULL for none. */
struct rivals *rivals_of(const struct frame *f);
void rivals_silence(struct rivals *r);
/*
 * Enables the competing heuristic dissectors again, if they are disabled. Call it as early as
 * possible, because an exception may follow at any time.
 */
void rivals_restore(void);

/* ---- state of the capture file (state.c) */

struct fabric *state_fabric(void);
/* What the model knows of the capture file. */
const struct fabric_facts *state_facts(void);
/* What the model learnt from the packet that it observed last. */
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

/*
 * The key of per-packet data of this frame. It differs for each nesting depth, so a frame and the
 * frame that carries it keep their own data.
 */
uint32_t frame_key(const struct frame *f, enum data_key key);

/* ---- checks (conformance.c) */

struct carrier;

/*
 * The results of the file: up to the current frame, or of the whole file once it is read. NULL if
 * there is no verdict. See report/verdict.h.
 */
const struct verdict *conformance_verdict(void);
/* Why there is no verdict; NULL if there is one. */
const char *conformance_why_not(void);
/* The name of the list of known deviations that the user chose. */
const char *conformance_deviations(void);
/*
 * Is the link type one that carries IPoIB without InfiniBand headers? tvb: the whole frame. Sets
 * *c.
 */
bool conformance_bare_carrier(tvbuff_t *tvb, packet_info *pinfo, struct carrier *c);
/*
 * First pass only: checks the packet after the model has observed it. begin: offset of the packet
 * in the frame.
 */
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
    uint16_t subnet; /* number that the model assigns: packet.at.interface */
    uint8_t kind;
    uint8_t length;
    uint8_t octets[44];
};

/* link: result of frame_link() */
struct pair_key pair_key_on(uint8_t kind, uint32_t link);
void pair_key_add(struct pair_key *k, const void *p, size_t n);
/* Adds the port without its subnet, which the key already has. */
void pair_key_add_port(struct pair_key *k, struct port port);
/*
 * what: a number of the caller's choice; the dissector of the response gets it from
 * pair_answers_what().
 */
void pair_request(packet_info *pinfo, const struct pair_key *k, uint32_t what);
void pair_response(packet_info *pinfo, const struct pair_key *k);
bool pair_is_known(packet_info *pinfo);
uint32_t pair_answers_what(packet_info *pinfo);
/* Resets the state at the end of a file. */
void pair_forget(void);
/* Adds ipoib.response_in, ipoib.response_to and ipoib.time of this frame. */
void pair_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb);

/* ---- whether output is used (wanted.c) */

/*
 * Is the tree shown, or does a filter, a column, a tap or -T fields use a field of IPoIB or of
 * expert information? If not, the caller needs to add only the item of each protocol.
 */
bool tree_is_wanted(const proto_tree *tree);
/* Is the Info column written? */
bool info_is_wanted(const packet_info *pinfo);

/* ---- dissection */

/* The payload after the InfiniBand headers, without pad bytes and CRCs. */
tvbuff_t *payload_tvb(const struct frame *f);
/*
 * Dissects an IPoIB payload that the built-in dissector did not hand over. frame.protocols lists
 * its layer.
 */
void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * Dissects the encapsulation header at the start of tvb and the datagram after it. f: the
 * InfiniBand frame, or NULL.
 */
void encap_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct frame *f);
/* tvb: the payload of a PAYLOAD_PART frame. */
void message_dissect(tvbuff_t *tvb, struct frame *f, packet_info *pinfo, proto_tree *tree);
/* Adds ipoib.message if the frame is part of a message. */
void message_add_number(proto_tree *tree, tvbuff_t *tvb, const struct frame *f);
/*
 * First pass only: stores whether the IP address that an ARP message announces is in use by another
 * host. arp.c shows it.
 */
void arp_keep_duplicate(packet_info *pinfo, const struct packet *p, const struct events *e);
void sa_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* Adds one record of the MAD sa at offset o of tvb. The sa_record_size() bytes must be captured. */
struct sa;
void sa_record_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o, const struct sa *sa);
/* Stores what is known of the CM message before it is added to the tree. Sets cm_is_ipoib. */
void cm_observe(struct frame *f, packet_info *pinfo);
void cm_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/*
 * Adds ipoib.lladdr and its parts. label: whose address it is. The LLADDR_SIZE bytes must be
 * captured.
 */
void lladdr_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset, const char *label);
/* Adds ipoib.mgid and its parts if the GID at offset is an IPoIB MGID. Returns the item or NULL. */
proto_item *mgid_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int offset);
/* The IP group of an IPoIB MGID ("255.255.255.255", "ff02::1"), else NULL. */
const char *mgid_group_text(packet_info *pinfo, const uint8_t *gid);
const char *gid_text(packet_info *pinfo, const uint8_t *gid);
/* Appends the service of the connection to the Info column if it is not IPoIB. */
void connection_name_foreign(packet_info *pinfo, const struct connection *c);
/* Adds ipoib.connection with its service and the frame of its REQ. */
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
