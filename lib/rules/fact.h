/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts that a failure rests on. A fact is a part of the model: a membership, a group's
 * parameters, the QPN of an address, or that a request was not sent ("the port queried the group
 * and never joined it"). A frame that was not captured may have outdated a fact. Each kind of fact
 * (rules/fact_kinds.def) has one function that decides whether the capture excludes this. A check
 * only lists the facts of its result; report_result() (rules/result.h) calls these functions and
 * combines their answers. Private to rules/.
 */
#ifndef IPOIB_RULES_FACT_H
#define IPOIB_RULES_FACT_H

#include "model/address.h"
#include "rules/check_context.h"
#include "rules/fact_kinds.h"

/*
 * Each kind uses only some of the members. A port that is NULL is not known; a member that is NULL
 * is not known to exist.
 */
struct fact {
    enum fact_kind kind;
    /*
     * the one that the fact is about; GROUP_ABSENT, MLID: the sender; NO_BROADCAST: the one that
     * sends on the link or joins a group of it; NEIGHBOUR: the sender, whose own address it is;
     * NULL: it is the receiver's; REQUEST: the one to whose LID the reply goes, NULL: no matter
     */
    const struct endport *port;
    union {
        /*
         * PARAMETERS: the broadcast group, with its current ones; PORT_MTU: the one that the port
         * joined; NO_OTHER_LINK: the one of which the port is a FullMember
         */
        const struct group *group;
        const struct neighbour *neighbour; /* its port is found by its GID */
        const struct connection *connection;
        const struct resolution *request; /* the one that the packet answers; NULL: not captured */
        /*
         * JOINED_BEFORE: the request to leave; CREATED_WITH: the SA's record of a group, or its
         * refusal to create one, with the broadcast group's parameters
         */
        const struct subnet_event *event;
    };
    /* NO_JOIN: the one that the port queried and did not request, or was refused */
    const struct member *member;
    union {
        uint32_t qpn;  /* UD_QPNS: the port's, as a message of the connection says */
        uint16_t pkey; /* NO_BROADCAST, PKEYS */
    };
    union {
        /* NO_JOIN: since the port got its first LID; else since the SM last brought it up */
        bool since_start;
        uint8_t scope; /* NO_BROADCAST; JOIN_STATE: the link's; 0: not known */
        bool known;    /* INTERFACE: its address, or its datagrams, showed that it has the QP */
        enum announced announced;   /* UD_QPNS */
        enum pkey_known pkey_known; /* PKEYS */
        enum whose whose;           /* GIDS: the result of fabric_whose_gid() */
        /*
         * REQUEST: the target IP address in the ARP reply, NULL: its flags differ; NEIGHBOUR,
         * NEW_ADDRESS: the datagram's source
         */
        const struct ip *ip;
    };
};

/* When is it certain that no frame outdated a fact? From never to now. */
enum certain_when {
    FACT_UNCERTAIN, /* never: a frame may be missing */
    /*
     * for the SA's own port, whose requests are never on the wire because they stay inside the
     * host: when the next GSI packet of another member, the port that received the group's last
     * record, shows that the parameters have not changed. If that port has a pending request for
     * the group, the response to it decides.
     */
    FACT_AT_MEMBER,
    /*
     * when a copy of the current packet shows that both of two capture points have it: then neither
     * has lost the same packet before
     */
    FACT_AT_COPY,
    /*
     * when the next SMP of the port shows that none is missing; or that of the master SM to a
     * switch, that none of its SMPs since the port's last one is
     */
    FACT_AT_SMP,
    /* when the next datagram of the requester shows that none of its requests is missing */
    FACT_AT_DATAGRAM,
    /*
     * when the next GSI packet of the SA shows that no response is missing; if a later request of
     * the port would be right too, that of the port must show that none of its requests is
     */
    FACT_AT_RESPONSE,
    /* the same, but the current packet already shows it of the port: only the SA's is awaited */
    FACT_AT_SA,
    /* when the port's next GSI packet shows that none of its requests is missing */
    FACT_AT_REQUEST,
    FACT_IS_CERTAIN, /* now */
};

/* When a fact is certain, and which packet or missing evidence this depends on. */
struct certainty {
    enum certain_when when;
    /* FACT_AT_REQUEST, FACT_AT_RESPONSE, FACT_AT_SA, FACT_AT_SMP, FACT_AT_COPY, FACT_AT_DATAGRAM */
    const struct endport *port;
    const struct group *group; /* FACT_AT_MEMBER */
    const char *missing;       /* FACT_UNCERTAIN: the evidence that the capture lacks */
    uint32_t since; /* FACT_AT_RESPONSE, FACT_AT_SA: frame since which no response is missing */
    bool copy;      /* besides, a copy of the current packet must show what FACT_AT_COPY says */
    /*
     * FACT_UNCERTAIN: the frame of the fact's value, which only a packet that was not captured can
     * have outdated; 0: there is none
     */
    uint32_t captured_in;
};

/* Uncertain too if a table is full that the fact depends on (model/undone.h). */
struct certainty fact_certainty(const struct check_context *s, const struct fact *f);

/* Has the packet's sender used the holder's new address, seconds before (fact_address.c)? */
bool has_used_new_address(const struct check_context *s, const struct neighbour *holder);

/*
 * Why the connection may have ended with its interface in packets that were not captured
 * (fact_connection.c); NULL: the next packet of an end shows it. The context needs no packet.
 */
const char *why_not_open(const struct check_context *s, const struct connection *c);

/* Is the request too old for a reply to it? */
bool request_is_old(const struct check_context *s, const struct resolution *q);

/* Has a table refused an entry by now that a failure of the rule depends on? */
bool facts_are_undone(const struct check_context *s, enum rule_number rule);

/*
 * Can the fact be certain, now or after a later packet? A check that would otherwise be
 * inconclusive at every packet asks this first and then reports nothing.
 */
static inline bool fact_is_known(const struct check_context *s, struct fact f)
{
    return fact_certainty(s, &f).when != FACT_UNCERTAIN;
}

#endif
