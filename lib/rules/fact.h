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
 * Each kind uses only some of the members. The functions below make a fact: one function for each
 * kind, which sets the members of this kind.
 */
struct fact {
    enum fact_kind kind;
    const struct endport *port;
    union {
        const struct group *group;
        const struct neighbour *neighbour;
        const struct connection *connection;
        const struct resolution *request;
        const struct subnet_event *event;
    };
    const struct member *member;
    uint32_t qpn; /* FACT_UD_QPNS */
    union {
        bool since_start;         /* FACT_NO_JOIN */
        uint8_t scope;            /* FACT_JOIN_STATE */
        bool known;               /* FACT_INTERFACE */
        uint32_t link;            /* FACT_NO_BROADCAST: scope and P_Key */
        enum announced announced; /* FACT_UD_QPNS */
        enum pkey_known pkey;     /* FACT_PKEYS */
        enum whose whose;         /* FACT_GIDS */
        const struct ip *ip;      /* FACT_REQUEST, FACT_NEIGHBOUR */
    };
};

/* port NULL: the sender is not known. m NULL: no membership is known. */
static inline struct fact fact_membership(const struct endport *port, const struct member *m)
{
    return (struct fact){.kind = FACT_MEMBERSHIP, .port = port, .member = m};
}

/* The port left the group, or its join was refused. */
static inline struct fact fact_no_membership(const struct endport *port, const struct member *m)
{
    return (struct fact){.kind = FACT_NO_MEMBERSHIP, .port = port, .member = m};
}

/*
 * The port has not requested to join, or the SA refused its requests. m: the membership that the
 * port queried and did not request; NULL: none is known. since_start: since the port got its first
 * LID; else since the SM last brought the port up.
 */
static inline struct fact fact_no_join(const struct endport *port, const struct member *m,
                                       bool since_start)
{
    return (struct fact){
        .kind = FACT_NO_JOIN, .port = port, .member = m, .since_start = since_start};
}

/*
 * The port's whole JoinState in the broadcast group. m: its membership. scope: the link's scope; 0:
 * not known.
 */
static inline struct fact fact_join_state(const struct endport *port, const struct member *m,
                                          uint8_t scope)
{
    return (struct fact){.kind = FACT_JOIN_STATE, .port = port, .member = m, .scope = scope};
}

/* The port has joined no broadcast group of the partition with another scope. */
static inline struct fact fact_no_other_link(const struct endport *port)
{
    return (struct fact){.kind = FACT_NO_OTHER_LINK, .port = port};
}

/* The port has subscribed to the traps that the model shows, and to no others. */
static inline struct fact fact_subscriptions(const struct endport *port)
{
    return (struct fact){.kind = FACT_SUBSCRIPTIONS, .port = port};
}

/* The SA has given the broadcast group's current parameters to the sender of the packet. */
static inline struct fact fact_parameters(const struct group *broadcast)
{
    return (struct fact){.kind = FACT_PARAMETERS, .group = broadcast};
}

static inline struct fact fact_mlid(const struct group *g, const struct endport *port,
                                    const struct member *m)
{
    return (struct fact){.kind = FACT_MLID, .port = port, .group = g, .member = m};
}

/* port: the sender; NULL: not known. */
static inline struct fact fact_group_absent(const struct group *g, const struct endport *port)
{
    return (struct fact){.kind = FACT_GROUP_ABSENT, .port = port, .group = g};
}

/* port: the one that sends on the link or joins a group of it; NULL: not known. */
static inline struct fact fact_no_broadcast(uint16_t pkey, uint8_t scope,
                                            const struct endport *port)
{
    return (struct fact){
        .kind = FACT_NO_BROADCAST, .port = port, .link = (uint32_t)scope << 16 | pkey};
}

/* e: the port's request to leave the group. */
static inline struct fact fact_joined_before(const struct subnet_event *e)
{
    return (struct fact){.kind = FACT_JOINED_BEFORE, .event = e};
}

/*
 * e: the SA's record of a group, or its refusal to create one, with the broadcast group's
 * parameters.
 */
static inline struct fact fact_created_with(const struct subnet_event *e)
{
    return (struct fact){.kind = FACT_CREATED_WITH, .event = e};
}

static inline struct fact fact_group_mtu(const struct group *g)
{
    return (struct fact){.kind = FACT_GROUP_MTU, .group = g};
}

static inline struct fact fact_port_mtu(const struct endport *port)
{
    return (struct fact){.kind = FACT_PORT_MTU, .port = port};
}

static inline struct fact fact_pkeys(const struct endport *port, enum pkey_known pkey)
{
    return (struct fact){.kind = FACT_PKEYS, .port = port, .pkey = pkey};
}

/* Whether the GID belongs to the sender's port. whose: the result of fabric_whose_gid(). */
static inline struct fact fact_gids(enum whose whose)
{
    return (struct fact){.kind = FACT_GIDS, .whose = whose};
}

/* An IPoIB interface has the sending QP. known: its address, or its datagrams, showed this. */
static inline struct fact fact_interface(bool known)
{
    return (struct fact){.kind = FACT_INTERFACE, .known = known};
}

/* sender: of the datagram to the neighbour. The neighbour's port is found by its GID. */
static inline struct fact fact_neighbour(const struct neighbour *n, const struct ip *sender)
{
    return (struct fact){.kind = FACT_NEIGHBOUR, .neighbour = n, .ip = sender};
}

/* The neighbour has had its new address for longer than the ARP timeout of any sender. */
static inline struct fact fact_new_address(const struct neighbour *n)
{
    return (struct fact){.kind = FACT_NEW_ADDRESS, .neighbour = n};
}

/* qpn: the one that a message of the connection says is the port's. */
static inline struct fact fact_ud_qpns(const struct endport *port, const struct connection *c,
                                       uint32_t qpn, enum announced announced)
{
    return (struct fact){
        .kind = FACT_UD_QPNS, .port = port, .connection = c, .qpn = qpn, .announced = announced};
}

/* The ARP request that the packet answers. target: the target IP address in the ARP reply. */
static inline struct fact fact_request(const struct resolution *q, const struct ip *target)
{
    return (struct fact){.kind = FACT_REQUEST, .request = q, .ip = target};
}

/* The solicitation that the packet answers. q NULL: none was captured. */
static inline struct fact fact_solicitation(const struct resolution *q)
{
    return (struct fact){.kind = FACT_SOLICITATION, .request = q};
}

static inline struct fact fact_of_connection(enum fact_kind kind, const struct connection *c)
{
    return (struct fact){.kind = kind, .connection = c};
}

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
    FACT_AT_SMP, /* when the next SMP of the port shows that none is missing */
    /* when the next datagram of the requester shows that none of its requests is missing */
    FACT_AT_DATAGRAM,
    /*
     * when the next GSI packets of the port and of the SA show that no request of the port and no
     * response of the SA is missing
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
