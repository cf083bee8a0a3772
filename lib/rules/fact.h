/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts that a failure rests on. A fact is a piece of the model that earlier frames taught: a
 * membership, a group's parameters, the QPN of an address; or the absence of a request ("asked, and
 * never joined"). A frame that was not captured may have outdated it. Each kind
 * (rules/fact_kinds.def) has one function, which decides whether the capture excludes that. A check
 * names the facts of a result (rules/result.h) and decides nothing of this itself. Private to
 * rules/.
 */
#ifndef IPOIB_RULES_FACT_H
#define IPOIB_RULES_FACT_H

#include "model/address.h"
#include "rules/check_context.h"
#include "rules/fact_kinds.h"

/* The function of a kind, below, sets the members it uses. */
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
 * m: the membership that the port asked about and did not request; NULL: none is known.
 * since_start: since the port started; else since it was initialised.
 */
static inline struct fact fact_no_join(const struct endport *port, const struct member *m,
                                       bool since_start)
{
    return (struct fact){
        .kind = FACT_NO_JOIN, .port = port, .member = m, .since_start = since_start};
}

/* scope: of the link; 0: not known. */
static inline struct fact fact_join_state(const struct endport *port, uint8_t scope)
{
    return (struct fact){.kind = FACT_JOIN_STATE, .port = port, .scope = scope};
}

static inline struct fact fact_no_other_link(const struct endport *port)
{
    return (struct fact){.kind = FACT_NO_OTHER_LINK, .port = port};
}

static inline struct fact fact_subscriptions(const struct endport *port)
{
    return (struct fact){.kind = FACT_SUBSCRIPTIONS, .port = port};
}

/* The sender of the packet is meant. */
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

/* e: the SA's record of a group, with the broadcast group's parameters. */
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

static inline struct fact fact_gids(enum whose whose)
{
    return (struct fact){.kind = FACT_GIDS, .whose = whose};
}

static inline struct fact fact_interface(bool known)
{
    return (struct fact){.kind = FACT_INTERFACE, .known = known};
}

/* sender: of the datagram to the neighbour. The neighbour's port is found by its GID. */
static inline struct fact fact_neighbour(const struct neighbour *n, const struct ip *sender)
{
    return (struct fact){.kind = FACT_NEIGHBOUR, .neighbour = n, .ip = sender};
}

static inline struct fact fact_new_address(const struct neighbour *n)
{
    return (struct fact){.kind = FACT_NEW_ADDRESS, .neighbour = n};
}

static inline struct fact fact_ud_qpns(const struct endport *port, enum announced announced)
{
    return (struct fact){.kind = FACT_UD_QPNS, .port = port, .announced = announced};
}

/* target: the IP address that the reply names as the requester's. */
static inline struct fact fact_request(const struct resolution *q, const struct ip *target)
{
    return (struct fact){.kind = FACT_REQUEST, .request = q, .ip = target};
}

/* q NULL: none was seen. */
static inline struct fact fact_solicitation(const struct resolution *q)
{
    return (struct fact){.kind = FACT_SOLICITATION, .request = q};
}

static inline struct fact fact_of_connection(enum fact_kind kind, const struct connection *c)
{
    return (struct fact){.kind = kind, .connection = c};
}

/* When is it certain that no frame outdated a fact? */
enum certainty {
    FACT_UNCERTAIN,  /* never: a frame may be missing */
    FACT_AT_WITNESS, /* see postpone_to_witness() (rules/postpone.h) */
    FACT_AT_SMP,     /* when the next SMP of the port shows that none is missing */
    /*
     * when the next GSI packet of the port shows that no request is missing, and one of the SA that
     * no response is
     */
    FACT_AT_RESPONSE,
    FACT_AT_REQUEST, /* when the next GSI packet of the port shows that no request is missing */
    FACT_IS_CERTAIN, /* now */
};

struct standing {
    enum certainty certainty;
    const struct endport *port; /* FACT_AT_REQUEST, FACT_AT_RESPONSE, FACT_AT_SMP */
    const struct group *group;  /* FACT_AT_WITNESS */
    const char *missing;        /* FACT_UNCERTAIN: the evidence that the capture lacks */
    uint32_t since;             /* FACT_AT_RESPONSE: frame of the SA's response with the fact */
};

struct standing fact_standing(const struct check_context *s, const struct fact *f);

/* May the check use the fact, as far as the capture shows? */
static inline bool fact_is_known(const struct check_context *s, struct fact f)
{
    return fact_standing(s, &f).certainty != FACT_UNCERTAIN;
}

#endif
