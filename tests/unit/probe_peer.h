/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A peer and a subnet administrator in memory for the probe's tests: the peer keeps everything, or
 * has one fault. Time is simulated: it passes while the probe waits, for the rate or for an answer.
 */
#ifndef IPOIB_TESTS_PROBE_PEER_H
#define IPOIB_TESTS_PROBE_PEER_H

#include "unit.h"

#include "stand.h"

enum {
    PEER_QPN = 0x48,
    PEER_LID = 7,
    CHANGED_QPN = 0x4d,
    CHANGED_LID = 21,
    SECOND_QPN = 0x51,
    SECOND_LID = 9,
    OWN_QPN = 0x99,
    ASIDE_QPN = 0x9a,
    STRANGER_QPN = 0x9c,
    OTHER_PKEY = 0x8001,
    OWN_LID = 3,
    MLID = 0xc000,
    QUEUE = 64,
    ROUND_TRIP_US = 100, /* until the peer's answer is there */
    SA_ANSWER_US = 200,
    SEND_US = 2 /* what it takes to send a packet */
};

extern const uint8_t peer_ip[4], own_ip[4];
/* This host's ib0 has 10.0.0.5; else it has no addresses. */
extern bool host_has_own;

/* What is wrong with the peer. */
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
    ANNOUNCES_OTHER_QPN, /* than that of its queue pair */
    SENDS_IP_TO_SENDER,
    TAKES_ANY_QKEY,
    TAKES_ANY_PKEY,
    WRONG_PATH,
    WRONG_GUID,
    SMALL_MTU,
    SENDS_RESERVED,
    SENDS_FLAGS,
    ECHOES_FLAGS, /* announces the connected modes of who asks */
    HARDWARE_TYPE_1,
    DIES,
    IS_ABSENT,
    DROPS_HALF,
    DROPS_FIFTH,
    ICMP_CHECKSUM,   /* of its echo replies, is wrong */
    IPV4_CHECKSUM,   /* of their IPv4 headers */
    OTHER_PAYLOAD,   /* its echo replies have not what was sent */
    ND_CHECKSUM,     /* of its NAs, is wrong */
    ND_HOP_LIMIT,    /* of its NAs, is 64 */
    ND_CODE,         /* of its NAs, is 1 */
    ND_EMPTY_OPTION, /* its NAs end with an option of length 0 */
    ND_SOLICITED,    /* its NAs to all nodes have the flag S */
    UNKNOWN_MTU,     /* of the SA: the MTU code of its broadcast group is none */
};

/* What becomes of the peer's packets on their way. */
struct network {
    unsigned late_ms;
    bool doubles; /* each comes again, so much later */
    unsigned doubled_after_ms;
    bool loses_half;     /* every second one */
    unsigned ends_after; /* so many nothing comes any more; 0: never */
    unsigned seed;       /* not 0: chance loses, doubles and delays, up to late_ms */
};

/* Another port that sends in the peer's name. */
struct second {
    bool there;
    bool lies; /* it announces the peer's link-layer address */
    bool same_lid,
        same_qpn; /* as the peer's: a virtual function, and a queue pair of another port */
    bool answers_echo;
    bool weak; /* its NAs have no Override flag: a proxy's, or of an anycast address (RFC 4861) */
    unsigned late_ms;
    enum fault fault;    /* HARDWARE_TYPE_1, SENDS_RESERVED */
    unsigned ends_after; /* so many of its packets; 0: never */
};

/* What becomes of the peer after so many packets of the probe's; 0: nothing. */
struct change {
    unsigned after;
    bool lid, qpn, gid; /* that it has another one of these then */
    unsigned silent;    /* it takes none of so many packets meanwhile */
};

struct fake {
    struct transport base;
    enum fault fault;
    struct second second;
    struct change change;
    bool proxy; /* it answers for every address */
    struct ud_from queue[QUEUE];
    uint8_t octets[QUEUE][UD_SIZE], grh[GRH_SIZE];
    gint64 due[QUEUE]; /* when it is there to be received; 0: the place is free */
    unsigned next, n, sent, heard, pushed, pushed_second;
    struct network network;
    uint64_t dice;
    uint32_t sender; /* the QPN that the packet in hand came from */
    bool member, knows_us;
    uint8_t waiting[UD_SIZE]; /* an echo reply that waits for address resolution */
    uint32_t waiting_n, waiting_sender;
    /*
     * of the subnet: SMs that say that they are master, groups beside the broadcast group, MLIDs of
     * its switch; 0: not told
     */
    unsigned masters, groups, mlids;
    bool refuses_send_only;
    bool sa_busy;  /* whatever it is asked, it says so */
    bool sa_fails; /* an error of this host: nothing can be asked */
    /*
     * Subscriptions to the traps 66 and 67: the one that is refused, or lost on its way back; and
     * which stand, a bit each
     */
    uint16_t refused_trap, lost_trap;
    unsigned subscribed, subscriptions;
    /* IPv6: the peer has every address, and the groups are there, or none of them is */
    bool ipv6, no_groups;
    unsigned asks, sets,
        silent_after; /* SA questions, those to join; after so many it is silent, 0: never */
    bool many;        /* it has every even address of 10.0.0.0/8, not peer_ip alone */
    uint8_t asked[4]; /* the address that was asked for last */
    void (*watch)(void *user,
                  const uint8_t *octets); /* of each packet that the probe sends, if it is there */
    void *watch_user;
    unsigned fails_after; /* so many packets nothing can be sent any more; 0: never */
    unsigned joins, leaves,
        announced; /* announced: packets in which the probe told an address of its own */
};

/* A probe that stands on the link of such a peer; and takes it down again. */
void fake_begin(struct fake *f, struct target *t, enum fault fault, bool member);
void fake_end(struct target *t);

/* Microseconds: the probe's g_get_monotonic_time() as well (tests/CMakeLists.txt wraps it). */
gint64 simulated_now(void);

#endif
