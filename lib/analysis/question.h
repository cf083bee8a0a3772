/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that wait for their answers. Those of one requester about one thing are one question,
 * whatever their transaction IDs. The table is a cache: a question that is overwritten by another
 * counts as not seen, and raises no event. Private to analysis/.
 *
 * A question is unanswered if it was asked three times, and no answer came in the time that its
 * protocol waits after that (question.c). The first packet after this time reports it (due.c). An
 * answer before that is no event, and so is the end of the capture.
 */
#ifndef IPOIB_ANALYSIS_QUESTION_H
#define IPOIB_ANALYSIS_QUESTION_H

#include "analysis/smp_order.h"
#include "model/mix.h"

enum question_kind {
    QUESTION_NONE, /* an unused slot */
    QUESTION_JOIN,
    QUESTION_LEAVE,
    QUESTION_PATH,
    QUESTION_REQ,
    QUESTION_DREQ,
    QUESTION_ARP,
    QUESTION_ND,
    QUESTION_ECHO,
    QUESTION_SA, /* another request to the SA */
    QUESTION_REPORT,
    QUESTION_SMP,
    QUESTION_REP,
    QUESTION_DHCP,
    QUESTION_SEGMENT, /* of a table, which wants an acknowledgement */
    QUESTION_MAD,     /* of another management class */
    QUESTION_LARGE,   /* an echo request that is larger than one that was answered */
    QUESTION_KINDS
};

/* Unused bytes are 0. requester: a LID, a QPN or a number; who, about: GIDs or IP addresses. */
struct question_key {
    uint32_t kind, subnet;
    uint64_t requester;
    uint8_t who[16], about[16];
};

struct question {
    struct question_key key;
    uint64_t last;        /* tells the last request from its copies: its PSN or the like */
    uint32_t asked;       /* requests since the last answer; 0: answered */
    uint32_t first_frame; /* of the first of them */
    uint32_t last_frame;  /* of the last of them */
    /* a response to its requester about the same thing, with a transaction ID of no request; 0:
     * none */
    uint32_t stray_frame;
    uint16_t astray;     /* LID to which the response in stray_frame went; 0: to the requester */
    uint32_t stray_qkey; /* with which QP1 drops it; 0: the Q_Key is right */
    int64_t first_ms, last_ms; /* since 1970 */
    int64_t busy_ns;           /* of the last request, as in struct heard */
    uint16_t lid, peer;        /* LIDs of requester and receiver */
    uint16_t captured_on;      /* capture interface of the last request */
    uint32_t smallest;         /* of echo requests: bytes of the smallest datagram */
    uint32_t server;           /* of DHCP: the server that the last one is to; 0: any */
    /* of ARP and Neighbour Discovery: the first frame after the first request in which the target
     * announced its address by broadcast, if it is greater; and the requests before it */
    uint32_t announced_frame, asked_before;
    /* of ARP and Neighbour Discovery: the last reply of which the requester has no use; 0: none */
    uint32_t useless_frame;
    const char *useless; /* "one to the broadcast group" */
    /* of ARP: requests of earlier rounds without an answer, and the first of them */
    uint32_t earlier, earlier_frame;
    int64_t earlier_ms;
    /* of SMPs, ARP and ND: the last answer, if the key is the same since; 0: none */
    uint32_t answered_frame;
    int64_t answered_ms;
    uint16_t answered_to, answered_from; /* its LIDs */
    uint64_t tid;                        /* of SMPs: of the last request */
    uint32_t repeated;                   /* to the SA: the most requests with one transaction ID */
    uint16_t type; /* of the last one: DHCP message type; attribute of a table */

    /* in the list of those whose time runs; since how many requests */
    struct question *next, *previous;
    int64_t since_ns;     /* time of the last of these requests */
    uint32_t waited;      /* number of these requests */
    uint32_t since_frame; /* the last of them */
    bool waits;           /* it is in the list */
    uint8_t open;         /* its place among those that wait for a proof, from 1; 0: it does not */
    bool reported;        /* as unanswered, since the last answer */
    bool to_group;        /* of DHCP: the answers to all requests go to the broadcast group */
    /* of ARP and ND: since when they are counted for a storm of them (request_rates.c), and how
     * many there were; the entry has 256 bytes, so it is found by few instructions */
    int64_t rate_ms;
    uint32_t rate_frame, rate_times;
};

/* The packet of a request. */
struct question_packet {
    uint64_t last; /* tells it from its copies */
    int64_t ns, busy_ns;
    uint32_t frame;
    uint16_t peer, lid, captured_on; /* as those of struct question */
    bool again;                      /* the same packet was captured before */
};

/* A requester retries twice before the lack of an answer means anything. */
enum { QUESTION_ASKED = 3 };
/*
 * Of ARP, each round of requests may have fewer, as the datagrams that need the address come now
 * and then (RFC 1122 section 2.3.2.1: at most one request in a second). Then so many are needed,
 * over so long, with pauses of at most a minute.
 */
enum { QUESTION_ASKED_SLOWLY = 6, SLOWLY_MS = 10000, ROUND_MS = 60000 };
/* The same request is captured twice within this time; later, it was sent again (repeated.c). */
enum { COPY_MS = 100 };
enum { NS_PER_MS = 1000000 };

/* A LID to which a packet was captured: the capture point sees what is sent to it. */
struct heard {
    int64_t busy_ns; /* without the pauses in which nothing was captured */
    uint32_t subnet;
    bool is_known;
};

/* Answers of the SA to a port whose requests were not captured. */
struct unasked {
    uint16_t subnet, lid; /* LID 0: unused */
    uint16_t answers;
};

/* Was the port at this LID Active in its last PortInfo? */
struct port_activity {
    uint8_t gid[GID_SIZE];
    uint16_t subnet, lid;
    bool active;
    uint16_t manager; /* LID of its SM; 0: not known */
    struct smp_order order;
};

/* An SM that said by SMInfo that it is not the master. A cache. frame 0: none. */
struct idle_manager {
    uint32_t frame;
    uint16_t subnet, lid;
    uint8_t state;
};

/* A port that took an address over by an announcement to its link. A cache. frame 0: none. */
struct taken_address {
    struct ip ip;
    uint32_t link, frame;
    uint8_t gid[GID_SIZE];
};

/* The scope of the groups to which a queue pair sends. A cache. frame 0: none. */
struct sender_scope {
    const struct endport *port;
    uint32_t qpn, link, frame; /* of the first packet */
    uint8_t scope;             /* SCOPES: several */
    uint8_t ended;             /* of the endport, then */
};

/* A port that has sent to the broadcast group. A cache. lid 0: none. */
struct broadcaster {
    int64_t busy_ns; /* as in struct heard */
    uint32_t link;
    uint16_t lid;
};

/* A host that repeats ARP requests that were answered. times 0: none. */
struct unheard {
    struct question_key key;
    uint16_t lid, target; /* of requester and target */
    uint32_t times, first_frame;
    int64_t ms; /* of the last time */
};

/* Two ports that take an address over from each other. A cache. takes 0: none. */
enum { FIGHT_TAKES = 4 };
struct fight {
    struct ip ip;
    uint32_t link, takes;
    uint8_t gids[2][GID_SIZE];
    struct {
        int64_t ms;
        uint32_t frame;
    } last[FIGHT_TAKES]; /* a ring */
};

enum {
    FIGHTS = 1 << 6,
    IDLE_MANAGERS = 8,
    TAKEN_ADDRESSES = 1 << 6,
    SENDER_SCOPES = 1 << 8,
    UNHEARD_MAX = 16,
    BROADCASTERS = 1 << 6,
    QUESTIONS = 1 << 12,
    HEARD = 1 << 16, /* all LIDs: then no packet is asked whether it goes to a port */
    UNASKED_PORTS = 1 << 12,
    PORTS = 1 << 12,
    OPEN_MAX = 32,
    WAITING_SUBNETS = 16 /* further ones share these */
};

/* Questions of a kind: their times run out in this order. */
struct waiting_list {
    struct question *first, *last;
};

/* The sender of a doubtful event sends again, and the capture has no gap there. */
typedef void doubt_ends(const struct watch *w, const struct link_event *event);

/* An event that the next packet of a sender may take back, with its count before. */
struct doubtful {
    const struct link_event *event;
    const struct psn_sender *sender;
    uint32_t last_frame, first_frame; /* of the sender; of the requests */
    uint64_t count;
    doubt_ends *sends; /* NULL: nothing else is to be done */
};
enum { DOUBTS_MAX = 64 };
struct doubts {
    struct doubtful list[DOUBTS_MAX];
    unsigned count;
};

/* Times of a subnet's packets. */
struct subnet_times {
    int64_t due_ns;    /* no time runs out before */
    int64_t pauses_ns; /* in which nothing was captured */
    int64_t seen_ns;   /* of the last packet; 0: none */
    /* steps back in the times of an interface, and the last one; of 32 bytes, an entry is found by
     * fewer instructions */
    uint32_t backs, back_frame;
};

struct questions {
    struct doubts doubts;
    struct question all[QUESTIONS];
    struct heard heard[HEARD + 1]; /* the last: responses to LID_PERMISSIVE */
    struct unasked unasked[UNASKED_PORTS];
    struct subnet_times times[WAITING_SUBNETS];
    struct port_activity ports[PORTS];
    struct idle_manager idle_managers[IDLE_MANAGERS];
    struct taken_address taken[TAKEN_ADDRESSES];
    struct fight fights[FIGHTS];
    struct sender_scope scopes[SENDER_SCOPES];
    struct unheard unheard[UNHEARD_MAX];
    struct broadcaster broadcasters[BROADCASTERS];
    struct question *open[OPEN_MAX]; /* those that wait for a packet that proves their event */
    unsigned n_open;
    int64_t proof_ns;               /* no packet before this time proves one of them */
    uint32_t asked[QUESTION_KINDS]; /* number of those that were asked and have no answer */
    struct waiting_list waiting[WAITING_SUBNETS][QUESTION_KINDS];
    struct {
        uint32_t frame, xid;
    } dhcp_stray[WAITING_SUBNETS];         /* the last DHCP reply to no request that was captured */
    uint16_t dhcp_server[WAITING_SUBNETS]; /* LID of the one that replied last; 0: none */
};

static inline uint64_t question_key_hash(const struct question_key *key)
{
    uint64_t h = mix_two(0, (uint64_t)key->subnet << 32 | key->kind, key->requester);
    return mix_gid(mix_gid(h, key->who), key->about);
}

/* A place in a table by the key. */
static inline unsigned question_key_place(const struct question_key *key)
{
    return (unsigned)(question_key_hash(key) >> 32);
}

static inline bool question_key_same(const struct question_key *a, const struct question_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* May there be a pause before the current packet? Or it is older than the one before. */
enum { PAUSE_NS = 1000000000 };
static inline bool question_may_pause(const struct watch *w)
{
    return (uint64_t)w->p->at.ns - (uint64_t)w->times->seen_ns > PAUSE_NS;
}

/* Time of the current packet without the pauses. Unsigned: times of a file may be any. */
static inline int64_t question_busy_ns(const struct watch *w)
{
    return (int64_t)((uint64_t)w->p->at.ns - (uint64_t)w->times->pauses_ns);
}

/* Notes the current packet. */
static inline void question_note_packet(const struct watch *w, struct question_packet *q,
                                        uint64_t last)
{
    const struct packet *p = w->p;
    q->last = last;
    q->ns = p->at.ns;
    q->busy_ns = question_busy_ns(w);
    q->frame = p->at.frame;
    q->peer = p->ib.dlid;
    q->lid = p->ib.slid;
    q->captured_on = p->captured_on;
    q->again = p->copy_of;
}

/* Is it a request to the SA? */
static inline bool question_is_of_sa(const struct question *q)
{
    return (q->key.kind >= QUESTION_JOIN && q->key.kind <= QUESTION_PATH) ||
           q->key.kind == QUESTION_SA;
}

struct questions *questions_new(void);

/* who, about: 16 bytes; NULL: none. */
static inline struct question_key question_key(const struct watch *w, enum question_kind kind,
                                               uint64_t requester, const uint8_t *who,
                                               const uint8_t *about)
{
    struct question_key key = {.kind = kind, .subnet = w->p->at.interface, .requester = requester};
    if (who)
        memcpy(key.who, who, sizeof key.who);
    if (about)
        memcpy(key.about, about, sizeof key.about);
    return key;
}

/*
 * The current packet asks. last: tells it from its copies. Returns NULL for a copy, and for a
 * message that a connection sends again: until it is acknowledged, it is one request. A request
 * that comes long after the one before it is a new question.
 */
struct question *question_ask(const struct watch *w, const struct question_key *key, uint64_t last);
/* The same of an earlier packet. */
struct question *question_ask_by(const struct watch *w, const struct question_key *key,
                                 const struct question_packet *p);
/* The question, if it was asked and has no answer; or NULL. */
struct question *question_find(const struct watch *w, const struct question_key *key);
/* The same for callers that need the place of the key several times: question_key_place(). */
struct question *question_ask_at(const struct watch *w, const struct question_key *key,
                                 unsigned place, uint64_t last);
struct question *question_find_at(const struct watch *w, const struct question_key *key,
                                  unsigned place);
/* The same, or the last one with an answer. */
const struct question *question_last(const struct watch *w, const struct question_key *key);
void question_answer(const struct watch *w, struct question *q);
/* The same; the current packet is the answer. */
void question_answer_now(const struct watch *w, struct question *q);
/* The question has another key from now on. Returns it, or NULL if it cannot be kept. */
struct question *question_take(const struct watch *w, struct question *q,
                               const struct question_key *key);

/* How many requests certainly have no answer? The current packet may still be answered. */
unsigned question_lacks(const struct watch *w, const struct question *q);

/* The question waits for a proof: a packet at least so long after its requests. */
enum { GIVEN_UP_MS = 3000 };
void question_open(const struct watch *w, struct question *q);
/* It waits no more, neither for a proof nor for its time. */
void question_close(const struct watch *w, struct question *q);
/* When the first of those that wait for a proof may have it. */
int64_t question_next_proof(const struct questions *all);
/* When the first time may run out, or a proof may come. */
int64_t question_next_wake(const struct questions *all);

enum { HEARD_MS = 60000 };
/*
 * Was a packet to the requester captured within the minute before its last request, or later? A
 * pause in which nothing was captured does not count.
 */
bool question_is_heard(const struct watch *w, const struct question *q);
/*
 * The answer goes to the broadcast group: were packets to it from another port captured, and
 * packets to that port (broadcasters.c)?
 */
APART bool question_hears_group(const struct watch *w, const struct question *q);
/* Are the packets in the order of their times? Else an answer may stand before its request. */
bool question_has_order(const struct watch *w, const struct question *q);
/* The same for the sender of the current packet. */
bool question_hears_sender(const struct watch *w);
/* Note to whom the current packet goes. */
void question_hear(const struct watch *w);
/* Note the pause before it. */
APART void question_note_pause(const struct watch *w);
/* The same for a response to a directed route, which may have no LID as its destination. */
void question_hear_at(const struct watch *w, uint16_t lid);

/* The SA answers the port at this LID, and no request was captured (answerers.c). */
APART void question_unasked(const struct watch *w, uint16_t lid);

/*
 * May the capture have lost the answers, as the PSNs of who answers show? The port is that of any
 * of its LIDs. SILENT: it has sent nothing since, so its next packet shows it.
 */
enum answer_seen { ANSWER_NOT_SENT, ANSWER_MAY_BE_LOST, ANSWER_SILENT };
enum answer_seen question_answer_of(const struct watch *w, struct port port, enum psn_class class,
                                    uint32_t first_frame, uint32_t last_frame);
/* The same of the question's answer, by the port that it was asked, or that has the address. */
enum answer_seen question_seen(const struct watch *w, const struct question *q);
/* The port that is to answer the question. Id 0: not known. */
struct port question_answerer(const struct watch *w, const struct question *q);
/* The question was reported, and this port, which is to answer it, is silent (silent.c). */
APART void watch_silent_host(const struct watch *w, const struct question *q, struct port port);
/*
 * The event that was reported last is taken back if the next packet of these queue pairs shows a
 * gap since first_frame: the answers were lost by the capture. If it shows none, sends is called,
 * unless it is NULL.
 */
void question_may_take_back(const struct watch *w, struct port port, enum psn_class class,
                            uint32_t first_frame, doubt_ends *sends);
/* The event is taken back for another reason. */
void question_no_doubt(const struct watch *w, const struct link_event *event);
/* The same as question_may_take_back() for the question's event. */
void question_doubt(const struct watch *w, const struct question *q);

/* Seconds that the protocol waits for an answer to a question of this kind. */
double question_wait_s(enum question_kind kind);
/* A question whose time has run out; it leaves its list. NULL: none. */
struct question *question_due(const struct watch *w);

/* Reports the question, which has no answer. One for each kind. */
typedef void question_report(const struct watch *w, struct question *q);
question_report sa_unanswered, report_unanswered, smp_unanswered, dhcp_unanswered, arp_unanswered,
    nd_unanswered, echo_unanswered, large_lost, segment_unanswered, req_unanswered, rep_unanswered,
    dreq_unanswered, mad_unanswered;

/* Takes events back that the current packet shows to be doubtful (answerers.c). */
APART void watch_doubts(const struct watch *w);

/* Reports the questions whose times have run out at the current packet (due.c). */
APART void watch_due_questions(const struct watch *w);

static inline int64_t *question_due_ns(const struct watch *w)
{
    return &w->times->due_ns;
}

#endif
