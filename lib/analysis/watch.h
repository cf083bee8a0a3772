/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the watchers of lib/analysis need: each looks for one kind of events. Private to analysis/.
 */
#ifndef IPOIB_ANALYSIS_WATCH_H
#define IPOIB_ANALYSIS_WATCH_H

#include "analysis/analysis.h"
#include "analysis/histories.h"
#include "model/mix.h"

/*
 * A function that few packets need. It is not inlined into its caller, which would save registers
 * for it at each packet.
 */
#define APART __attribute__((noinline))

/*
 * What an earlier packet made possible, so that later ones are looked at for it. A packet without
 * an alert that concerns it skips these watchers. An alert that was raised stays, except
 * ALERT_DOUBTS.
 */
enum alert {
    ALERT_DOUBTS = 1 << 0,       /* the next packet of a sender may take an event back */
    ALERT_LIDS = 1 << 1,         /* a port has another LID, or seems to; two have one (lids.c) */
    ALERT_NO_RECEIVERS = 1 << 2, /* an event that a host of the SA takes back (receivers.c) */
    ALERT_SMALL_PATHS = 1 << 3,  /* a path has a smaller MTU than its link (mtus.c) */
    ALERT_ADDRESSES = 1 << 4,    /* a LID or GID has another user (twins.c) */
    ALERT_CONFLICT = 1 << 5,     /* an address that a port wants is another's (detection.c) */
    ALERT_SMALL_TTLS = 1 << 6,   /* a TTL of 1 ended at a router (small_ttls.c) */
    ALERT_UNHEARD = 1 << 7,      /* a host repeats an ARP request that was answered (unheard.c) */
    ALERT_SLS = 1 << 8,          /* the SA gave a path with another SL than 0 (path_sls.c) */
    ALERT_SMALL_LINKS = 1 << 9,  /* a link's MTU is too small for IPv6 (mtus.c) */
};

/* A function that most packets need: what it calls is inlined into it, if it is not APART. */
#define OFTEN __attribute__((hot, flatten))

/* A packet at an earlier time, without an alert, concerns only itself. */
struct wake {
    int64_t ns;      /* not later than any time that may run out; INT64_MIN if there is an alert */
    unsigned alerts; /* enum alert */
};

/* Where events go. report NULL: only into the table. */
struct event_sink {
    struct event_table *events;
    analysis_report *report;
    void *user;
    struct link_event *last; /* that was reported, or seen again; NULL: none */
};

/* The current packet, and where its events go. */
struct watch {
    struct event_sink *sink;
    const struct fabric_facts *f;
    const struct packet *p;
    const struct events *e;
    struct wake *wake;
    uint16_t *usual_pkey;              /* of datagrams in its partition (pkeys.c) */
    struct questions *questions;       /* analysis/question.h */
    struct subnet_times *times;        /* of the packet's subnet (analysis/question.h) */
    struct transactions *transactions; /* analysis/transactions.h */
    struct twins *twins;               /* analysis/twins.h */
    struct receivers *receivers;
    struct shared_lids *shared_lids; /* analysis/shared_lids.h */
#define HISTORY(type, member, make) struct type *member;
#include "analysis/histories.def"
#undef HISTORY
};

/*
 * The event with this key is seen in the current packet. A new one is reported with the text; for
 * one that is known, the count rises, unless this packet is a copy of the last one. A corrupt
 * packet shows no event. cause: the earlier frame that explains it; 0: none.
 */
void watch_event(const struct watch *w, const struct event_key *key, const struct sender *who,
                 uint32_t cause, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* The next packet with the event is no copy of the last one, even if its PSN is the same. */
void watch_no_copy(const struct watch *w, const struct event_key *key);

/* The event was seen only so often; 0: not at all, and then it is reported as taken back. */
void watch_take_back(const struct watch *w, const struct link_event *event, uint64_t count);

bool watch_has_event(const struct watch *w, const struct event_key *key);

/* Key of an event in the packet's subnet. who, about: 16 bytes; NULL: none. */
struct event_key event_key(const struct watch *w, enum event_kind kind, const uint8_t *who,
                           const uint8_t *about, uint64_t number);

/* The sender fields of a port that the model knows; NULL: nothing. */
struct sender sender_of_endport(const struct endport *port);
/* The same of the port at this LID. */
struct sender sender_of_lid(const struct watch *w, uint16_t lid);
/* Adds the IP address. */
struct sender sender_with_ip(struct sender s, const struct ip *ip);

/* "ff12:401b:ffff::16": the text of 16 bytes. Returns text. */
enum { GID_TEXT = 46 };
const char *text_of_gid(char text[GID_TEXT], const uint8_t *gid);

/* memcmp() of these may be a call. */
static inline bool gid_same(const uint8_t *a, const uint8_t *b)
{
    return mix_word_at(a) == mix_word_at(b) && mix_word_at(a + 8) == mix_word_at(b + 8);
}

static inline bool is_unspecified_ipv6(const uint8_t *address)
{
    return !(mix_word_at(address) | mix_word_at(address + 8));
}

/* Time of the current packet in ms since 1970; differences of these do not overflow. */
static inline int64_t watch_ms(const struct watch *w)
{
    return w->p->at.ns / 1000000;
}

static inline void watch_alert(const struct watch *w, enum alert alert)
{
    w->wake->alerts |= alert;
    w->wake->ns = INT64_MIN;
}

static inline void watch_no_alert(const struct watch *w, enum alert alert)
{
    w->wake->alerts &= ~(unsigned)alert;
}

/* A time may run out at ns. */
static inline void watch_wake(const struct watch *w, int64_t ns)
{
    w->wake->ns = MIN(w->wake->ns, ns);
}

static inline bool watch_is_alert(const struct watch *w, unsigned alerts)
{
    return w->wake->alerts & alerts;
}

/* The last packet of the port; 0: none was captured (silent.c). */
uint32_t port_last_frame(const struct watch *w, struct port port);

/* ---- the watchers */

void watch_refused_requests(const struct watch *w, const struct subnet_event *e); /* refused.c */
/* The SA has a record of a broadcast group (missing_groups.c, shared_mlids.c). */
void watch_group_record(const struct watch *w, const struct subnet_event *e);
void watch_shared_mlid(const struct watch *w, const struct subnet_event *e);
APART void watch_sa_requests(const struct watch *w);        /* sa_requests.c */
void watch_holders(const struct watch *w);                  /* holders.c */
APART void watch_connection_message(const struct watch *w); /* connections.c */
void watch_connection_question(const struct watch *w);
/* The packet is a CM message, of no IPoIB connection (services_refused.c). */
APART void watch_other_service(const struct watch *w);
/* A NAK other than "PSN sequence error" moves the requester's QP to the error state. */
void watch_nak(const struct watch *w, uint8_t code);
/* A REQ, and a DREQ or DREP, of the connection (loops.c). */
void watch_connection_opens(const struct watch *w, const struct connection *c);
void watch_connection_closes(const struct watch *w, const struct connection *c, bool is_request);
APART void watch_smp_trap(const struct watch *w); /* subnet.c */
APART void watch_sm_info(const struct watch *w);
void watch_notice(const struct watch *w);
APART void watch_managers(const struct watch *w, const struct subnet_event *e);
void watch_address_requests(const struct watch *w);     /* unanswered.c */
void watch_router_advertisement(const struct watch *w); /* advertisements.c */
void watch_sender_scope(const struct watch *w);         /* holders.c; the packet has a GRH */
APART void watch_heard_answer(const struct watch *w);   /* unheard.c */
void watch_echo(const struct watch *w);                 /* echo.c */
APART void watch_open_requests(const struct watch *w);  /* sa_requests.c */
APART void watch_report(const struct watch *w);         /* sa_transfers.c */
APART void watch_rmpp(const struct watch *w);
APART void watch_segment(const struct watch *w);
APART void watch_counters(const struct watch *w);                     /* counters.c */
APART void watch_dhcp(const struct watch *w);                         /* dhcp.c */
void watch_prefix(const struct watch *w, const struct endport *port); /* see watch_lid_of() */
/* What names a port with its LID (lids.c). */
enum sighting { SIGHTING_PACKET, SIGHTING_PATH, SIGHTING_JOIN, SIGHTING_PORT_INFO };
/* Was the port, or nothing, named so lately? Then the current packet shows nothing new. */
bool lid_is_seen(const struct watch *w, const struct endport *port, enum sighting how);
/* Else; by its own message, the port also has the prefix of the subnet (twins.c). */
APART void watch_lid_of(const struct watch *w, const struct endport *port, enum sighting how);
void watch_packet_prefixes(const struct watch *w); /* twins.c; the packet has a GRH */
void watch_twins(const struct watch *w);           /* twins.c */
/* The sender looks whether the address is free; a port has it (seekers.c). */
void watch_wanted(const struct watch *w, const struct ip *ip);
/* Has any port looked so for an address? */
bool watch_has_seekers(const struct watch *w);
void watch_held(const struct watch *w, const uint8_t *ip, uint8_t length, const uint8_t *lladdr);
/* The packet is Neighbour Discovery, or it has IPv6 and ALERT_CONFLICT was raised (detection.c). */
APART void watch_detection(const struct watch *w);
void watch_connection_data(const struct watch *w); /* connection_data.c */
void watch_lids_of_request(const struct watch *w, const struct connection *c);
void watch_lids_of_datagram(const struct watch *w);
void watch_stale_path(const struct watch *w);
void watch_shared_lid(const struct watch *w, const struct subnet_event *e); /* shared_lids.c */
APART void watch_shared_datagram(const struct watch *w);
APART void watch_shared_source(const struct watch *w);
void watch_shared_join(const struct watch *w, const struct subnet_event *e); /* a request */
void watch_rc(const struct watch *w);                                        /* rc.c */
/* Is it data of a connection that was captured before, at any time? Ask before watch_rc(). */
bool watch_is_sent_again(const struct watch *w);
APART void watch_join_state(const struct watch *w, const struct subnet_event *e); /* receivers.c */
static inline bool changes_member(const struct subnet_event *e)
{
    return e->member && e->member->join_state != e->join_state_before;
}
static inline void watch_members(const struct watch *w, const struct subnet_event *e)
{
    if (e->group && changes_member(e))
        watch_join_state(w, e);
}
APART void watch_empty_group(const struct watch *w, const struct subnet_event *e);
APART void watch_refused_join(const struct watch *w, const struct subnet_event *e);
void watch_receivers(const struct watch *w);
void watch_sa_host(const struct watch *w);
APART void watch_pkey_table(const struct watch *w, const struct subnet_event *e); /* pkeys.c */
APART void watch_pkey_block(const struct watch *w);                               /* an SMP */
void watch_sender_pkey(const struct watch *w);
APART void watch_unicast_pkey(const struct watch *w);
/* The frame of the port's P_Key table, if it certainly has no entry of the partition; else 0. */
uint32_t pkey_table_without(const struct watch *w, const struct endport *port, uint16_t pkey);
void watch_path_of_event(const struct watch *w, const struct subnet_event *e); /* mtus.c */
void watch_path_mtu(const struct watch *w);
void watch_advertised_mtu(const struct watch *w);
/* The MTU of the link is known; the packet is ICMPv6. */
void watch_link_mtu(const struct watch *w, const struct group *link);
APART void watch_ipv6_mtu(const struct watch *w);
/* Another SM or SA is in charge; LIDs, 0: not known (rejoins.c). */
APART void watch_new_manager(const struct watch *w, uint16_t before, uint16_t now);
/* The SA answers a join of a port with the JoinState that it had already (rejoins.c). */
APART void watch_join_again(const struct watch *w, const struct subnet_event *e);
APART void watch_loop(const struct watch *w); /* switching_loops.c; a copy */
void watch_group_packet(const struct watch *w);
void watch_group_source(const struct watch *w); /* group_sources.c */
void watch_broadcaster(const struct watch *w);  /* broadcasters.c */
/* The group has another member. */
void watch_more_copies(const struct watch *w, const struct group *group);
/* The PSN with which a side of the connection begins: a REQ or a REP (first_psns.c). */
void watch_first_psn(const struct watch *w, const struct cm *cm, const struct connection *c);
/* The frame of the message in which the receiver named this PSN; 0: none. */
uint32_t first_psn_frame(const struct watch *w, bool to_requester, uint32_t psn);
void watch_sl_of_path(const struct watch *w, const struct subnet_event *e); /* path_sls.c */
APART void watch_sl(const struct watch *w);
void watch_operational_vls(const struct watch *w); /* headers.c */
bool has_unusual_headers(const struct watch *w);
/* No unusual ones, to one port, without a GRH, and with the SL 0. */
bool has_plain_headers(const struct packet *p);
APART void watch_headers(const struct watch *w); /* the packet has these */
void watch_grh(const struct watch *w);
void watch_reply_lid(const struct watch *w);
void watch_nd_hop_limit(const struct watch *w);
APART void watch_nd_redirect(const struct watch *w);    /* redirects.c */
void watch_advertised_hop_limit(const struct watch *w); /* small_ttls.c */
void watch_ip_header(const struct watch *w);            /* the packet has an LRH and IP */
APART void watch_ip(const struct watch *w);             /* ip.c; if the packet has IP */
/*
 * The packet has plain headers, and IP. ORDINARY: it is UDP or a fragment of which watch_ip() would
 * report nothing, and is noted (ordinary.c).
 */
enum ordinary { NOT_ORDINARY, ORDINARY, ORDINARY_IF_SUM };
enum ordinary watch_ordinary_ipv4(const struct watch *w);
enum ordinary watch_ordinary_ipv6(const struct watch *w);
/* ORDINARY_IF_SUM: is the sum of the UDP datagram right? Then it is noted. */
bool watch_sample(const struct watch *w);
void watch_mad_requests(const struct watch *w); /* mads.c */
void watch_same_again(const struct watch *w);   /* repeated.c */

#endif
