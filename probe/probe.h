/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of the probe: the port it stands on, the IPoIB link, its own address there, and the peer
 * that is asked.
 */
#ifndef IPOIB_PROBE_PROBE_H
#define IPOIB_PROBE_PROBE_H

#include "probe/options.h"
#include "probe/results.h"
#include "probe/transport.h"
#include "probe/wirelog.h"
#include "hca/mcgroup.h"

/* An address of the probe's own that the station answers for. */
struct source {
    bool given, usable;
    bool tentative; /* it is asked for whether somebody has it (RFC 4862 §5.4) */
    bool ipv6;
    uint8_t ip[16];     /* the first 4 octets of IPv4 */
    char defender[120]; /* who else claims it, in words; "": nobody */
};

struct answer; /* below */

/* Which Service-ID the peer takes connections by. */
enum service_form { FORM_UNKNOWN, FORM_RFC, FORM_LINUX, FORM_NONE };

/* How long the peer's answers to address resolution take (probe/patience.c). Times are monotonic
 * microseconds. */
struct patience {
    gint64 first_sent, last_sent; /* the tries of the last question; 0: nothing was asked yet */
    gint64 last_answer;
    gint64 longest; /* from a question to an answer */
    bool answered;
    bool strays;   /* there were answers to earlier questions, or doubled ones */
    bool listened; /* for late and doubled answers, once */
    bool ipv6;
    uint8_t ip[16]; /* the address that was asked for */
};

/* Who announces an IP address, and from where; lid 0: that is not seen. */
struct owner {
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;
    bool weak;    /* its NAs have no Override flag (RFC 4861 §7.2.7, §7.2.8) */
    gint64 heard; /* first; 0: never */
};

/* Addresses that nobody should have, and, a bit each, who answers for them. */
enum { NOBODIES = 3 };
struct nobody {
    unsigned n;
    uint8_t ip[NOBODIES][16];
    unsigned by_peer, by_rival;
};

struct peer {
    char name[48];
    bool ipv6;
    uint8_t ip[16];
    bool known; /* it answered: the following is its own word and what the packet said */
    uint8_t lladdr[LLADDR_SIZE];
    uint16_t lid;
    uint8_t sl;
    uint32_t qpn;              /* that it sends from */
    bool needs_grh;            /* it takes unicast with a GRH alone */
    struct answer *by_unicast; /* what it answered when it was found; NULL: nothing */
    /* probe/owner.c */
    gint64 heard;        /* when a packet of its own came last */
    bool weak;           /* as that of struct owner */
    bool several;        /* before it was known: several ports sent in its name */
    bool gone;           /* it did not answer when it was looked for */
    bool has_rival;      /* another one announces its address too */
    bool both;           /* the peer answered a request that went out after that */
    struct owner rival;  /* the first other one */
    struct owner latest; /* the last other one */
    struct nobody nobody;
    enum service_form form;
    bool cm_silent; /* it answered no REQ: it is not asked again */
    struct patience patience;
};

/*
 * What came of a question to the subnet administrator. SA_BUSY: it answers, but not the question,
 * however often it is asked (IBA 13.4.7). SA_BROKEN: this side could not ask, or not take the
 * answer.
 */
enum sa_result { SA_TOLD, SA_REFUSED, SA_SILENT, SA_BUSY, SA_BROKEN };

struct host; /* probe/sweep.c */

struct probe {
    struct transport *t;
    const struct options *options;
    struct wirelog *log;
    struct results *results;
    const volatile int *stop;

    uint16_t pkey;
    unsigned pkey_index;
    uint64_t sm_key;             /* with which the SA tells of members; 0: it does not */
    struct mc_group link;        /* the broadcast group */
    uint8_t lladdr[LLADDR_SIZE]; /* the probe's own, flags 0 */
    struct source source;
    GArray *memberships;       /* struct joined: what is to be undone */
    const struct guard *guard; /* who does so behind a SIGKILL; NULL: nobody */
    GArray *attached;          /* struct mc_group: those that are received */

    struct peer peer;
    struct host
        *host; /* of a sweep, in which several are asked at once; NULL: one after the other */
    struct probe *root; /* of a host of a sweep: the run that it shares the following with; NULL:
                           this is it */
    gint64 next_slot;   /* monotonic microseconds: when the rate allows the next packet */
    uint16_t sequence;
    unsigned silences;      /* of the SA, or that it is busy, one after the other */
    enum sa_result silence; /* the last of them: SA_SILENT or SA_BUSY */
    GPtrArray *told;        /* by the SA, during a sweep; probe/sa.c */
    bool sweeps; /* a sweep runs: the SA's share counts for the rate, and it is not waited for again
                    and again */
    bool stands; /* link_open() is done */
    /*
     * Why a host would drop the last of the answers that came to the question that is asked, in
     * words that stand after "it has"; NULL: there was none.
     */
    const char *unusable;
    bool about_fabric;    /* what the SA answers is judged; else it is only learnt from */
    bool stopped, broken; /* by a signal; by an error of the transport */
};

static inline struct probe *run_of(struct probe *p)
{
    return p->root ? p->root : p;
}

/* ---- probe/link.c: standing on the link */

/* Searches the broadcast group, from scope 2 outwards, into p->link. */
enum sa_result link_find_broadcast(struct probe *p, char *why, size_t size);
/*
 * The octets of IP that a datagram on the link may have (RFC 4391 §7). 0: the group's MTU has a
 * code that is none.
 */
uint32_t link_mtu(const struct probe *p);
/* With which SM_Key does the SA tell of members? Into p->sm_key. */
void link_find_sm_key(struct probe *p);
/*
 * Chooses the P_Key's place, finds the broadcast group, makes the queue pair, joins and attaches.
 * False: why is told.
 */
bool link_open(struct probe *p, char *why, size_t size);
/* Leaves what was joined. */
void link_close(struct probe *p);
/* The partition asked for, in the port's table. False: it is not there (why). */
bool link_find_pkey(struct probe *p, char *why, size_t size);

/* ---- probe/sa.c: questions to the subnet administrator */

/* Asks, and logs both ways. The records are in a->records, to be cleared by sa_answer_clear. */
enum sa_result sa_ask(struct probe *p, const struct sa_question *q, struct sa_answer *a);
void sa_answer_clear(struct sa_answer *a);
/* Why nothing was told: of SA_SILENT, SA_BUSY and SA_BROKEN, in words. */
const char *sa_silence_text(const struct probe *p, enum sa_result result);
/* What is kept of answers during a sweep. */
void sa_forget(struct probe *p);

/* ---- probe/groups.c: multicast groups */

/* The group's record; status: the SA's word where it refused. */
enum sa_result group_get(struct probe *p, const uint8_t *mgid, struct mc_group *g,
                         uint16_t *status);
/* So answered, the SA says that there is no such group. */
bool group_is_missing(enum sa_result result, uint16_t status);
/*
 * A port's JoinState in the group: SA_TOLD with *known false where it is a member, but the SA does
 * not tell how.
 */
enum sa_result group_standing_of(struct probe *p, const uint8_t *mgid, const uint8_t *port_gid,
                                 uint8_t *join_state, bool *member, bool *known);
/* This port's. */
enum sa_result group_standing(struct probe *p, const uint8_t *mgid, uint8_t *join_state,
                              bool *member, bool *known);
/*
 * This port becomes a member with that JoinState, unless it is already; what was added is taken
 * back by groups_leave(). An MGID without a group: with create true it is made with the broadcast
 * group's attributes.
 */
enum sa_result group_join(struct probe *p, const uint8_t *mgid, uint8_t join_state, bool create,
                          struct mc_group *g, uint16_t *status);
/* The same; the group is made like that one. NULL: it has to be there. */
enum sa_result group_join_as(struct probe *p, const uint8_t *mgid, uint8_t join_state,
                             const struct mc_group *made, struct mc_group *g, uint16_t *status);
/* Takes back all that was added, whatever signal comes. */
void groups_leave(struct probe *p);
/* How many memberships are to be taken back. */
unsigned groups_joined(const struct probe *p);
/*
 * Takes back what was added there with that JoinState. False: the SA did not say that it is left.
 */
bool group_leave(struct probe *p, const uint8_t *mgid, uint8_t join_state);
/* The lists of what was joined and attached, before all else and behind it. */
void groups_open(struct probe *p);
void groups_close(struct probe *p);

/* Receives what is sent to the group from now on, of which this port is a member. */
bool group_attach(struct probe *p, const struct mc_group *g);

/*
 * Has the host an interface up on this port and partition (in this network namespace)? Its name, or
 * NULL; g_free.
 */
char *host_interface(const struct probe *p);
char *host_interface_on(const struct port_facts *port, uint16_t pkey);
/*
 * Does it listen to the group, as far as the kernel lists (dev_mcast)? True also where that cannot
 * be read.
 */
bool host_wants(const char *interface, const uint8_t *mgid);
#define WANTED_GROUPS "/proc/net/dev_mcast"
/*
 * The group of one line of that file: index, name, users, global users, the 20-octet address in
 * hexadecimal digits. False: it is not the interface's.
 */
bool wanted_group_read(const char *line, const char *interface, uint8_t mgid[16]);
/* The names of all that are up in this partition, whatever their port. */
GPtrArray *host_interfaces(const struct probe *p);
/*
 * Has an interface of the host this address (in this network namespace)? Its name, or NULL; g_free.
 */
char *host_has_address(bool ipv6, const uint8_t *ip);
/* All that its interfaces have. */
#define OWN_ADDRESS "this host has the address itself, at %s: probe it from another"
typedef void host_address_take(void *user, const char *interface, bool ipv6, const uint8_t *ip);
void host_addresses(host_address_take *take, void *user);

/* ---- probe/traffic.c: packets */

/* Microseconds until the rate allows the next packet. */
gint64 rate_wait(struct probe *p);
/* One more that the rate counts. */
void rate_take(struct probe *p);
/* A packet to one port or to a group, at the rate that was asked for. False: stopped or broken. */
bool send_unicast(struct probe *p, const struct ud_to *to, const uint8_t *octets, uint32_t n);
bool send_group(struct probe *p, const struct mc_group *g, const uint8_t *octets, uint32_t n);
/* A message over a connection, likewise. False: stopped, or nothing goes over it any more. */
bool send_message(struct probe *p, struct call *c, const uint8_t *octets, uint32_t n);
/* To the peer as it answered; grh: with a Global Route Header. */
struct ud_to to_peer(const struct probe *p, bool grh);

/* true: this is what was waited for. */
typedef bool packet_match(struct probe *p, const struct ud_from *from, void *user);
/*
 * Receives until a match, for ms milliseconds; answers ARP and NS for the probe's own address
 * meanwhile.
 */
bool await_packet(struct probe *p, int ms, packet_match *match, void *user);
/* The IP address that an ARP message or an NA announces; NULL: none. */
const uint8_t *announced(struct view v, bool *ipv6);
/*
 * Is it one that a host takes? It was waited for in all else; false: why is kept in p->unusable.
 * wrong: why it is not, as far as the caller knows; NULL.
 */
bool is_usable(struct probe *p, const struct ud_from *from, const char *wrong);
/* What came: "no echo reply", and of what a host would drop that it came. */
void tell_none_came(struct probe *p, const char *none);
/* Notes that it came, answers it if it asks for the probe's address. */
void take_packet(struct probe *p, const struct ud_from *from, bool of_peer);

/* ---- probe/station.c: the probe's own address */

/* Answers what asks for it. */
void station_take(struct probe *p, const struct ud_from *from);
enum { INTRODUCED_AFTER = 1 }; /* of the tries, counted from 0 */
/*
 * Tells the peer the address by a question of its own: it may know it from an earlier run, at a
 * queue pair that is gone. Not done unless it does not reply, for a peer that asks by itself shows
 * more.
 */
void station_introduce(struct probe *p);
/* Is the source address unused? Makes it ready; false: why tells who has it. */
bool station_open(struct probe *p, char *why, size_t size);

/* ---- probe/question.c: asking the peer for its address */

struct question {
    bool
        multicast; /* to the broadcast or the solicited-node group; else to the peer's queue pair */
    bool grh;      /* unicast alone: multicast always has one */
    uint16_t reserved;
    uint8_t
        flags; /* of the probe's link-layer address: of IPv4, and of IPv6 with a source address */
    uint32_t qkey;      /* 0: the link's */
    const uint8_t *ip;  /* whose address is asked for; NULL: the peer's */
    uint8_t ip_version; /* of ip: 4 or 6; 0: that of the probe's own address */
    bool any;           /* take an answer of anybody, not of the peer alone */
    /*
     * IPv6: from the probe's own address, with the option that has its link-layer address; the
     * answer is unicast
     */
    bool named;
    uint16_t padding; /* of that option */
    bool aside;       /* unicast alone: sent from the second queue pair, in the name of the first */
    bool stranger;    /* the same from the queue pair of another partition, once there is one */
    bool alone;       /* its answer is evidence: a second's silence goes before it */
};

struct answer {
    uint8_t lladdr[LLADDR_SIZE];
    uint32_t qpn, to_qpn;
    uint16_t lid;
    uint8_t sl;
    bool grh;
    double ms;
    uint32_t n;
    uint8_t octets[UD_SIZE]; /* from the encapsulation header on */
};

enum { TRIES = 3 };

/* A question that was asked: about which address, when, and where its answer goes. */
struct asked {
    const struct question *q;
    bool ipv6;
    const uint8_t *ip;
    struct answer *a;
    gint64 sent;
};
/* Is it the answer? (packet_match; user: struct asked) */
bool take_answer(struct probe *p, const struct ud_from *from, void *user);
uint32_t make_question(const struct probe *p, const struct asked *x, const uint8_t *lladdr,
                       uint8_t *out);
/*
 * The group that the question goes to. Not SA_TOLD: it cannot be sent to; *there false: for there
 * is no such group.
 */
enum sa_result question_group(struct probe *p, const struct asked *x, struct mc_group *g,
                              bool *there);
/* SA_TOLD: this port hears what is sent to all IPv6 nodes. */
enum sa_result hear_all_nodes(struct probe *p);

/*
 * What came of a question. NOT_ASKED says nothing of the peer: results_came tells what kept it from
 * being sent.
 */
enum came { CAME_ANSWER, CAME_NOTHING, NOT_ASKED };
/* Asks up to so many times. CAME_ANSWER: it is in a. */
enum came ask_peer(struct probe *p, const struct question *q, unsigned tries, struct answer *a);
/* What is asked, in words. */
void question_text(const struct probe *p, const struct question *q, char *out, size_t size);
void lladdr_text(const uint8_t *lladdr, char out[64]);
void ip_text(bool ipv6, const uint8_t *ip, char out[48]);
/* The answer, in words. */
void answer_text(const struct answer *a, char *out, size_t size);

/* ---- probe/patience.c: which question an answer is to */

/* A question for that address goes out; again: it is not its first try. */
void patience_asks(struct probe *p, bool ipv6, const uint8_t *ip, bool again);
/* An answer came; and one that nobody waited for. */
void patience_hears(struct probe *p);
void patience_hears_stray(struct probe *p);
/* How long the last try is worth waiting for: the timeout, or what this peer takes. */
unsigned patience_ms(const struct probe *p);
/*
 * Before a question: waits until the answers to those before are in. alone: for a second at least,
 * for a network may double one packet and not the others. False: they do not end, and no answer
 * could be told apart.
 */
bool patience_settle(struct probe *p, bool alone);

/* ---- the runs */

/* Why something is skipped where the transport is a network interface. */
extern const char interface_shows_less[];

/*
 * The checks of a peer (probe/run_peer.c). first: what it answered already; NULL: it is to be
 * asked.
 */
void run_peer(struct probe *p, const struct answer *first);
/*
 * Has another one announced the peer's IP address, or does it within a moment (ARP flux)? Then it
 * is in p->peer.rival (probe/owner.c).
 */
bool find_rival(struct probe *p);
/* SA Get PathRecord from this port to the GID; what came is whole, or no SA_TOLD. */
enum sa_result ask_path(struct probe *p, const uint8_t *gid, struct sa_answer *a);
/* The fabric from the bottom up (probe/run_fabric.c). */
void run_fabric(struct probe *p, enum opening opening, const char *why);

#endif
