/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What subnet administration and subnet management tell of a fabric: groups and their members,
 * endports, paths, subscriptions, who is the subnet manager. Each message is turned into events,
 * after the model has learnt from it.
 */
#ifndef IPOIB_MODEL_SUBNET_H
#define IPOIB_MODEL_SUBNET_H

#include "model/group.h"
#include "model/port.h"
#include "wire/payload.h"

/* A request to the SA that waits for its answer. */
struct sa_request {
    struct port asker;
    uint64_t tid, mask;
    struct group *group;     /* that it is about; NULL: none */
    struct endport *endport; /* whose membership */
    uint32_t frame;
    uint16_t attribute;
    uint8_t method, join_state;
    uint8_t mtu_selector, mtu; /* if the mask has them */
    uint8_t traps;             /* SUBSCRIBED_*, of an InformInfo that subscribes */
};

enum subnet_event_kind {
    SUBNET_GROUP_ASKED, /* never told: for the request alone */
    SUBNET_JOIN_ASKED,
    SUBNET_JOINED,
    SUBNET_JOIN_REFUSED,
    SUBNET_LEAVE_ASKED,
    SUBNET_LEFT,
    SUBNET_LEAVE_REFUSED,
    SUBNET_GROUP_TOLD,    /* a record that was asked for, or of a table */
    SUBNET_GROUP_MISSING, /* the SA has no record of it */
    SUBNET_GROUP_CREATED, /* trap 66 */
    SUBNET_GROUP_DELETED, /* trap 67 */
    SUBNET_SUBSCRIBED,    /* InformInfo, accepted */
    SUBNET_PATH,
    SUBNET_SA_MOVED,  /* the SA answers from another LID than before */
    SUBNET_PORT_BORN, /* the SM sets a port to Armed or Active */
    SUBNET_PORT_INFO,
    SUBNET_PKEYS,
    SUBNET_SM_SEEN,    /* a SMInfo of a master */
    SUBNET_SM_SECOND,  /* of another master than before */
    SUBNET_SM_CONTROL, /* Set(SMInfo): handover and the like */
    SUBNET_TEARDOWN,   /* it is decided whether a connection ended with its interface */
};

struct subnet_event {
    enum subnet_event_kind kind;
    uint16_t interface;
    struct group *group;       /* that the event is about; NULL: none, or too many */
    struct endport *endport;   /* whose membership, table, subscription; NULL: not known */
    struct member *member;     /* after the event; NULL: not known */
    uint8_t join_state_before; /* of the member, as far as it was known */
    bool left_before;          /* it had left before */
    const uint8_t
        *record; /* the record in the packet (MCMemberRecord, PathRecord, InformInfo); NULL: none */
    struct mc_member member_record;
    /* of JOINED and GROUP_TOLD of an IPoIB group: its parameters by this event, and those of the
     * broadcast group of its link (NULL: none is known); later events may tell others */
    struct group group_facts, broadcast_facts;
    struct group *broadcast;
    struct connection *connection;    /* TEARDOWN */
    const struct sa_request *request; /* that is answered, or is made; NULL: it was not seen */
    uint16_t lid;    /* SA_MOVED: before; PORT_INFO, PORT_BORN: of the port; SM: 0 */
    uint8_t control; /* SM_CONTROL: SM_HANDOVER and the like */
    uint8_t mtu;     /* PATH: code */
};

struct subnet;
/* Two interfaces turned out to see one subnet; after endports_merge() and groups_merge(). */
void subnet_merge(struct subnet *s, uint16_t from, uint16_t to);
typedef void subnet_observer(void *user, const struct subnet_event *e);

struct subnet *subnet_new(struct groups *groups, struct endports *endports);
void subnet_free(struct subnet *s);

/*
 * The LID from which the SA last answered; 0: not seen. What the port there asks itself never
 * reaches the wire.
 */
uint16_t subnet_sa_lid(const struct subnet *s, uint16_t interface);

/*
 * An SMP from the SMI (QP0) of src. Its PSNs count up one by one, so a packet that was not captured
 * shows: it may have acknowledged another P_Key table, and the one that is known of the port is
 * forgotten. Before subnet_mad of the same packet. Returns the port, NULL: not known. *whole: none
 * is missing since its last one.
 */
struct endport *subnet_smi_sent(struct subnet *s, const struct mad_payload *m,
                                const struct port *src, uint32_t psn, int64_t ns, bool *whole);

/*
 * A management datagram of the SA or SM class in frame number frame, from src to dst. Others are
 * ignored. observer: told of each event; NULL: nobody.
 */
void subnet_mad(struct subnet *s, uint32_t frame, const struct mad_payload *m,
                const struct port *src, const struct port *dst, subnet_observer *observer,
                void *user);

#endif
