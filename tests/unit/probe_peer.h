/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated peer and SA for the probe's tests. The peer conforms to all rules, or has one fault.
 * Time is simulated: it passes while the probe waits for the rate or for a response.
 */
#ifndef IPOIB_TESTS_PROBE_PEER_H
#define IPOIB_TESTS_PROBE_PEER_H

#include "unit.h"

#include "probe_fixture.h"

enum {
    PEER_QPN = 0x48,
    PEER_LID = 7,
    CHANGED_QPN = 0x4d,
    CHANGED_LID = 21,
    SECOND_QPN = 0x51,
    SECOND_LID = 9,
    OWN_QPN = 0x99,
    OWN_SECOND_QPN = 0x9a,
    OTHER_PARTITION_QPN = 0x9c,
    OTHER_PKEY = 0x8001,
    OWN_LID = 3,
    MLID = 0xc000,
    QUEUE = 64,
    ROUND_TRIP_US = 100, /* until the peer's response can be received */
    SA_RESPONSE_US = 200,
    SEND_US = 2 /* time to send a packet */
};

extern const uint8_t peer_ip[4], own_ip[4];
/* If true, this host's ib0 has 10.0.0.5; else it has no addresses. */
extern bool host_has_own;

/* Faults of the peer. TAKES_ means that it accepts what it must drop. */
enum fault {
    NO_FAULT,
    NEEDS_GRH,
    REFUSES_GRH,
    MINDS_RESERVED,
    MINDS_FLAGS,
    OTHER_SENDER_QPN,
    WRONG_TARGET,
    WRONG_TARGET_LLADDR,
    ANSWERS_SENDER,
    NOT_FULL_MEMBER,
    DEAF_TO_MULTICAST,
    DEAF_TO_UNICAST,
    DEAF_TO_GROUP,       /* nothing to a group arrives there, from the first request on */
    ANNOUNCES_OTHER_QPN, /* other than its queue pair's */
    SENDS_IP_TO_SENDER,
    TAKES_ANY_QKEY,
    TAKES_ANY_PKEY,
    WRONG_PATH,   /* the SA's path to it leads elsewhere */
    GID_OF_OTHER, /* it announces the GID of another port */
    WRONG_GUID,
    SMALL_MTU,
    SENDS_RESERVED,
    SENDS_FLAGS,
    ECHOES_FLAGS, /* announces the connected modes of the requester */
    HARDWARE_TYPE_1,
    DIES,
    IS_ABSENT,
    DROPS_HALF,
    DROPS_FIFTH,
    DROPS_EIGHTH,
    NO_ECHO,               /* a firewall */
    ICMP_CHECKSUM,         /* of its echo replies is wrong */
    IPV4_CHECKSUM,         /* of the IPv4 headers of its echo replies is wrong */
    OTHER_PAYLOAD,         /* its echo replies have another payload than the request */
    ND_CHECKSUM,           /* of its NAs is wrong */
    ND_HOP_LIMIT,          /* of its NAs is 64 */
    ND_CODE,               /* of its NAs is 1 */
    ND_EMPTY_OPTION,       /* its NAs end with an option of length 0 */
    ND_SOLICITED,          /* its NAs to all nodes have the flag S */
    SMALLER_MTU_FRAGMENTS, /* its MTU is 1400: it fragments larger replies */
    UNKNOWN_MTU,           /* of the SA: the broadcast group has an invalid MTU code */
};

/* What the network does to the peer's packets. */
struct network {
    unsigned late_ms;
    bool doubles; /* each packet arrives again after doubled_after_ms */
    unsigned doubled_after_ms;
    bool loses_half;     /* every second packet */
    unsigned ends_after; /* all packets after this number are lost; 0: none */
    unsigned seed; /* not 0: packets are lost, duplicated and delayed (up to late_ms) at random */
};

/* Another port that claims the peer's IP address. */
struct second {
    bool there;
    bool lies; /* it announces the peer's link-layer address */
    bool same_lid,
        same_qpn; /* same as the peer's: a virtual function, and a queue pair of another port */
    bool responds_to_echo;
    bool weak; /* its NAs have no Override flag, as those of a proxy (RFC 4861) */
    unsigned late_ms;
    enum fault fault;    /* HARDWARE_TYPE_1, SENDS_RESERVED */
    unsigned ends_after; /* number of its packets, then none; 0: never */
};

/* A change of the peer after the probe has sent `after` packets; 0: none. */
struct change {
    unsigned after;
    bool lid, qpn, gid; /* which of these change */
    unsigned silent;    /* packets that the peer drops after the change */
};

/*
 * This port has the switch with LID 70 (its port 5), which leads by its port 9 to port 8 of the
 * switch with LID 71, at whose port 6 the peer is. Else both are at the first one.
 */
struct two_switches {
    bool there;
    uint8_t damaged_port;   /* the only one at damaged_lid; 0: all */
    bool discards;          /* PortXmitDiscards grow instead */
    uint16_t mute_lid;      /* the agent there does not answer */
    bool tables_are_hidden; /* the switches do not answer SMPs */
};

struct fake {
    struct transport base;
    enum fault fault;
    struct second second;
    struct change change;
    bool proxy; /* it replies for every address */
    struct ud_from queue[QUEUE];
    uint8_t bytes[QUEUE][UD_SIZE], grh[GRH_SIZE];
    gint64 due[QUEUE]; /* time at which it can be received; 0: the slot is free */
    unsigned next, n, sent, outcome, pushed, pushed_second;
    struct network network;
    uint64_t dice;
    uint32_t sender; /* QPN that the current packet came from */
    bool member, knows_us;
    unsigned signal_at;       /* a signal arrives during this request to the SA; 0: never */
    uint8_t waiting[UD_SIZE]; /* an echo reply that waits for address resolution */
    uint32_t waiting_n, waiting_sender;
    /*
     * The subnet: SMs in state master, groups with the broadcast group (0: it alone), MLIDs of its
     * switch (0: not reported).
     */
    unsigned masters, groups, mlids;
    bool lists_none; /* the table of groups is empty */
    /* How many of these groups are solicited-node groups, or no IPoIB groups, or have no member. */
    unsigned solicited, foreign, memberless;
    uint16_t unlisted_sm;  /* LID of a port with IsSM that the table of SMs lacks */
    uint32_t unlisted_cap; /* its CapabilityMask; 0: IsSM alone */
    uint16_t group_pkey;   /* of their records; 0: that of the broadcast group */
    bool refuses_send_only;
    bool makes_groups; /* it creates and deletes one group of the probe's, made */
    struct {
        bool there;
        uint8_t held; /* JoinState */
    } made;
    bool sa_busy;                        /* the SA responds to every request with status busy */
    unsigned busy_after;                 /* the same after this number of requests; 0: never */
    uint16_t refused, refused_attribute; /* the status of its responses about this attribute */
    bool wrong_record;                   /* its records of groups are of another group */
    /*
     * What is wrong in its responses to requests about this attribute with this method: two bytes
     * at an offset of the first record, and bytes that the table lacks at its end.
     */
    struct {
        uint8_t method;
        uint16_t attribute, value;
        unsigned at, lacks;
    } spoils;
    unsigned refused_at;   /* it refuses this request, with status 0x0700; 0: none */
    bool sa_fails;         /* an error of this host: nothing can be sent to the SA */
    uint16_t group_status; /* of its responses about groups; 0: the true one */
    /*
     * Subscriptions to the traps 66 and 67: the one that is rejected, the one whose response is
     * lost, and the active ones (one bit each).
     */
    uint16_t refused_trap, lost_trap;
    unsigned subscribed, subscriptions;
    /* IPv6: the peer has every address; no_groups: none of the groups exists. */
    bool ipv6, no_groups;
    unsigned asks, sets,
        silent_after; /* SA requests, joins; requests after which the SA is silent, 0: never */
    uint32_t pkey_violations, qkey_violations; /* of this port, now */
    bool sa_silent;                            /* from the first request on */
    enum agent_answer agent;                   /* of the port with the SM's LID */
    unsigned
        down_at; /* the switch, from this port on, whose port to the SM is Down; 0: none answers */
    unsigned broadcasts; /* that wait to be received: of another host, or of this host's kernel */
    bool broadcasts_are_own;
    bool broadcasts_elsewhere; /* to all nodes of IPv6 */
    uint16_t damaged_lid; /* agents answer: at this LID PortRcvErrors grows with each request */
    unsigned damaged;
    struct two_switches switches;
    bool many;        /* it has every even address of 10.0.0.0/8, not only peer_ip */
    uint8_t asked[4]; /* the address that was requested last */
    void (*watch)(void *user,
                  const uint8_t *bytes); /* called for each packet of the probe, if set */
    void *watch_user;
    uint32_t loses_requests, loses_replies; /* the path loses larger datagrams; 0: none */
    uint8_t reassembled[UD_SIZE];
    uint32_t reassembled_n;
    unsigned ext_speed;   /* of this port, in the SA's PortInfoRecord (IBA 14.2.5.6) */
    unsigned fails_after; /* packets after which nothing can be sent; 0: never */
    /* packets after which this port is in no partition, or down, so the peer receives nothing */
    unsigned pkey_gone_after, down_after;
    unsigned limited_after; /* packets after which both ports are limited members */
    bool peer_agent;        /* the subnet management agent at the peer's LID answers */
    unsigned joins, leaves,
        announced; /* announced: packets in which the probe announced an address of its own */
};

/* Set up a probe on the link of such a peer, and take it down. */
void fake_begin(struct fake *f, struct target *t, enum fault fault, bool member);
void fake_end(struct target *t);

/*
 * Simulated time in microseconds. The probe's g_get_monotonic_time() returns it, too (wrapped in
 * tests/CMakeLists.txt).
 */
gint64 simulated_now(void);

#endif
