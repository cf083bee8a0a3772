/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage peer.ping: this host's kernel pings a peer that has replied to the
 * probe. The host is played_host.c's, the peer that of probe_peer.c: 10.0.0.2, QPN 0x48, LID 7.
 */
#include "played_host.h"
#include "probe_peer.h"

#include <errno.h>
#include <string.h>

#include "probe/checks/ping.h"
#include "probe/exchange/peer.h"
#include "probe/link/link.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "wire/encap.h"
#include "wire/ip.h"
#include "wire/put.h"

/* The peer, the SA and what the probe knows; all 0: nothing is wrong. */
static struct {
    bool ipv6, sa_busy, sa_silent, gid_elsewhere, wrong_gid;
    bool announced, no_override, connected;
    const char *no_connection;
    unsigned lost; /* packets of the probe */
    uint16_t damaged_lid;
    bool watched; /* and was silent once */
    uint8_t sent_from[4];
} peer;

struct looked {
    unsigned stages;
    int outcome;
    char text[1024], advice[512], state[64];
};

/* ---- a ping */

static void note_source(void *user, const uint8_t *bytes)
{
    (void)user;
    if (be16(bytes) == TYPE_IPV4)
        memcpy(peer.sent_from, bytes + ENCAP_SIZE + IPV4_SOURCE, 4);
}

static bool no_connections(struct transport *t)
{
    (void)t;
    return true;
}

static void know_peer(struct target *t)
{
    static const uint8_t ip6[16] = {0xfd, [15] = 2};
    static const uint8_t lladdr[] = {0, 0, 0,    PEER_QPN, 0xfe, 0x80, 0, 0, 0,    0,
                                     0, 0, 0x00, 0x02,     0xc9, 0x03, 0, 0, 0x18, 0x95};
    struct peer *p = t->peer;
    t->ipv6 = peer.ipv6;
    memcpy(t->ip, peer.ipv6 ? ip6 : peer_ip, peer.ipv6 ? 16 : 4);
    g_strlcpy(t->name, peer.ipv6 ? "fd00::2" : "n2 (10.0.0.2)", sizeof t->name);
    *p = (struct peer){.known = true, .lid = PEER_LID, .qpn = PEER_QPN};
    memcpy(p->lladdr, lladdr, LLADDR_SIZE);
    p->lladdr[LLADDR_FLAGS] = peer.connected ? LLADDR_FLAG_RC : 0;
    p->not_at_gid = peer.gid_elsewhere;
    p->announced = peer.announced;
    p->no_override = peer.no_override;
    if (peer.no_connection)
        g_strlcpy(p->no_connection, peer.no_connection, sizeof p->no_connection);
    p->tally.forms[0] = (struct tally_form){.packets = 10, .responses = 10 - peer.lost};
    p->tally.n = 1;
}

static struct looked ping(void)
{
    struct options options = {.rate = 100000, .timeout_ms = 1, .count = peer.watched};
    struct checked checked = {.name = (char *)"10.0.0.2", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    struct looked l = {0};
    const struct choice choice = {.interface = "ib0"};
    fake_begin(&fake, target, NO_FAULT, true);
    struct transport_ops ops = *fake.base.ops;
    ops.capabilities |= peer.connected ? HAS_CONNECTIONS : 0;
    ops.can_connect = no_connections;
    fake.base.ops = &ops;
    fake.sa_busy = peer.sa_busy;
    fake.sa_silent = peer.sa_silent;
    fake.damaged_lid = peer.damaged_lid;
    fake.watch = note_source;
    target->link->choice = &choice;
    know_peer(target);
    if (peer.wrong_gid)
        results_add(&results, R_RFC4391_9_1_1_GID_OF_PORT, OUTCOME_FAIL, "the port", "another");
    checked.requests.never = peer.watched;
    ping_report(target);
    fake.sa_silent = fake.sa_busy = false;
    fake_end(target);
    l.stages = checked.stages ? checked.stages->len : 0;
    g_strlcpy(l.state, checked.state ? checked.state : "", sizeof l.state);
    if (l.stages) {
        const struct stage *s = checked.stages->pdata[l.stages - 1];
        l.outcome = s->outcome;
        g_strlcpy(l.text, s->text, sizeof l.text);
        g_strlcpy(l.advice, s->advice, sizeof l.advice);
    }
    probe_fixture_forget(&checked);
    return l;
}

/* The last stage. */
static void check(int outcome, const char *text, const char *advice)
{
    struct looked l = ping();
    if (l.outcome != outcome || !strstr(l.text, text) || !strstr(l.advice, advice))
        fail_msg("outcome %d, \"%s\", \"%s\"; expected %d, \"%s\", \"%s\"", l.outcome, l.text,
                 l.advice, outcome, text, advice);
}

static void begin(void)
{
    memset(&peer, 0, sizeof peer);
    host_clear();
    host.ping = (struct host_ping){.permitted = true, .sent = true, .answered = true, .ms = 0.25};
}

/* The ping has no reply; the kernel knows the peer, and has one other neighbour. */
static void begin_silent(void)
{
    begin();
    host.ping.answered = false;
    host.route = (struct host_route){
        .kind = ROUTE_LINK, .interface = "ib0", .has_source = true, .source = {10, 0, 0, 5}};
    host_add_neighbour(2, false, PEER_QPN, 0x95);
    host_add_neighbour(3, false, 0x50, 0x33);
}

/* ---- a ping that is answered, or not sent */

static void an_answered_ping_passes(void **state)
{
    (void)state;
    begin();
    check(OUTCOME_PASS, "this host's ping is answered in 0.25 ms", "");
    assert_int_equal(ping().stages, 1);
    host.down = true; /* peer.own-side says it */
    assert_int_equal(ping().stages, 0);
}

static void a_ping_that_is_not_sent(void **state)
{
    static const struct {
        bool permitted;
        int error, outcome;
        const char *text, *advice;
    } all[] = {
        {false, EACCES, VERDICT_SKIPPED, "this host's ping is not sent: Permission denied", ""},
        {true, EADDRNOTAVAIL, VERDICT_SKIPPED, "is not sent: Cannot assign requested address", ""},
        {true, EPERM, OUTCOME_FAIL, "this host's kernel cannot send to it: Operation not permitted",
         "nft list ruleset  # this host's own filter"},
        {true, ENOBUFS, OUTCOME_FAIL, "cannot send to it: No buffer space available",
         "tc -s filter show dev ib0 egress; tc -s qdisc show dev ib0; dmesg | grep -i neigh; sysctl "
         "net.ipv4.neigh.default.gc_thresh3"},
        {true, EHOSTUNREACH, OUTCOME_FAIL, "cannot send to it: No route to host",
         "ip route get 10.0.0.2; dmesg"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        host.ping = (struct host_ping){.permitted = all[i].permitted, .error = all[i].error};
        check(all[i].outcome, all[i].text, all[i].advice);
        assert_string_equal(
            ping().state, all[i].outcome == OUTCOME_FAIL ? "answers the probe, but not ping" : "");
    }
}

/* ---- pings that are lost */

static void lost_pings(void **state)
{
    (void)state;
    begin();
    host.pings_lost = 2; /* of 12: no stage of its own */
    check(OUTCOME_PASS, "is answered", "");
    host.pings_lost = 3;
    check(
        OUTCOME_INCONCLUSIVE,
        "this host's ping is answered only sometimes (3 of at most 12 had no reply), and no packet "
        "of the probe is lost: a queueing discipline or a filter, here or on the peer",
        "tc -s qdisc show dev ib0; nft list ruleset; on the peer: the same, and sysctl "
        "net.ipv4.icmp_ratelimit");
    assert_string_equal(ping().state, "reachable, but pings are lost");
    peer.watched = true;
    check(OUTCOME_INCONCLUSIVE, "requests of the probe had no reply either: packets are lost", "");
    peer.damaged_lid = PEER_LID; /* that port counts damaged packets meanwhile */
    check(OUTCOME_FAIL, "answered only sometimes (3 of at most 12 had no reply), and 0 of 60",
          "perfquery -C fake0 -P 1 7 1");
    assert_string_equal(ping().state, "reachable, but packets are lost");
    begin_silent();
    peer.lost = 2;
    check(OUTCOME_INCONCLUSIVE, "is not answered, and replies to the probe are lost too", "");
}

/* ---- causes outside the packets */

static void a_kernel_without_a_path(void **state)
{
    (void)state;
    begin_silent();
    peer.sa_busy = true;
    check(
        OUTCOME_INCONCLUSIVE,
        "is not answered, and the subnet manager (SA) is busy: it answers PathRecord queries with "
        "BUSY, so this host's kernel gets no path to the peer",
        "smpquery -C fake0 -P 1 nodedesc 1 names the host whose load to check");
    begin_silent();
    peer.sa_silent = true;
    check(
        OUTCOME_INCONCLUSIVE, "does not answer PathRecord queries",
        "smpquery -C fake0 -P 1 nodedesc 1 names the host whose load to check; the log of the subnet manager");
    begin_silent();
    peer.gid_elsewhere = true;
    check(OUTCOME_INCONCLUSIVE, "or it has none: a consequence of the SA's path", "");
    peer.wrong_gid = true;
    check(OUTCOME_INCONCLUSIVE, "a consequence of rfc4391.9.1.1.gid-of-port", "");
}

static void a_source_of_another_interface(void **state)
{
    (void)state;
    begin_silent();
    host.has_address = "ib1";
    check(OUTCOME_INCONCLUSIVE,
          "its route sends from 10.0.0.5, an address of ib1 and not of ib0, to which the peer may "
          "have no route back",
          "ip route get n2; ip route show dev ib0  # its src; on the peer: ip route get 10.0.0.5");
    host.is_slave = "ib0"; /* of a bond, which has the address */
    check(OUTCOME_INCONCLUSIVE, "but not to this host's ping from 10.0.0.5", "");
}

/* ---- what passed the interface */

static void what_passed_decides(void **state)
{
    static const struct {
        bool unresolved, ipv6;
        struct host_seen seen;
        int outcome;
        const char *text, *advice;
    } all[] = {
        {false,
         false,
         {.overflows = 4},
         OUTCOME_FAIL,
         "neighbour table is full: the kernel could not make an entry 4 times meanwhile",
         "sysctl net.ipv4.neigh.default.gc_thresh3"},
        {false,
         false,
         {.echo_requests = 4, .foreign = 1, .type = 0x1234},
         OUTCOME_INCONCLUSIVE,
         "1 packet with the encapsulation type 0x1234 arrived instead",
         "tcpdump -n -e -i ib0"},
        {false,
         false,
         {.echo_requests = 4, .echo_replies = 4},
         OUTCOME_FAIL,
         "its replies arrive at ib0, and this host drops them",
         "tc -s filter show dev ib0 ingress"},
        {false,
         false,
         {.echo_requests = 0},
         OUTCOME_FAIL,
         "ping: it does not leave ib0",
         "tc -s filter show dev ib0 egress"},
        {true, false, {.own_requests = 0}, OUTCOME_FAIL, "its ARP request does not leave ib0", ""},
        {true, true, {.own_requests = 0}, OUTCOME_FAIL, "its neighbour solicitation does not", ""},
        {true,
         false,
         {.own_requests = 3, .peer_replies = 3},
         OUTCOME_FAIL,
         "the peer's ARP reply arrives at ib0, and this host drops it",
         "arptables -L -v"},
        {true,
         true,
         {.own_requests = 3, .peer_replies = 3},
         OUTCOME_FAIL,
         "the peer's neighbour advertisement arrives at ib0",
         ""},
        {true,
         false,
         {.own_requests = 3},
         OUTCOME_INCONCLUSIVE,
         "this host's ARP requests leave ib0, and no answer arrives: the peer ignores",
         "on the peer: ip -br addr; ip route"},
        {true,
         true,
         {.own_requests = 3},
         OUTCOME_INCONCLUSIVE,
         "this host's neighbour solicitations leave ib0, and no answer arrives",
         ""},
        {false,
         false,
         {.echo_requests = 4, .peer_requests = 2},
         OUTCOME_FAIL,
         "the peer asks for this host's link-layer address, and this host does not answer: "
         "arp_ignore",
         "ip -br addr show ib0"},
        {false,
         true,
         {.echo_requests = 4, .peer_requests = 2},
         OUTCOME_FAIL,
         "does not answer: the address is of another interface",
         ""},
        /* Both directions work, and the packets decide nothing. */
        {false,
         false,
         {.echo_requests = 4, .peer_requests = 2, .own_replies = 2},
         OUTCOME_INCONCLUSIVE,
         "from 10.0.0.5, which leaves this host and brings nothing back",
         ""},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin_silent();
        peer.ipv6 = all[i].ipv6;
        if (all[i].ipv6) {
            host.neighbours[0].ipv6 = true;
            memcpy(host.neighbours[0].ip, (const uint8_t[16]){0xfd, [15] = 2}, 16);
        }
        if (all[i].unresolved)
            host.n_neighbours = 0;
        host.captured = true;
        host.seen = all[i].seen;
        check(all[i].outcome, all[i].text, all[i].advice);
    }
}

/* ---- without it */

static void an_address_that_is_not_resolved(void **state)
{
    (void)state;
    begin_silent();
    host.neighbours[0] = host.neighbours[1];
    host.n_neighbours = 1;
    host.replies[0] = "10.0.0.3";
    check(OUTCOME_INCONCLUSIVE,
          "not to the requests of this host's kernel from 10.0.0.5, and other neighbours do",
          "on the peer: ip route get 10.0.0.5; sysctl -a | grep '\\.rp_filter'");
    host.replies[0] = NULL;
    check(
        OUTCOME_INCONCLUSIVE,
        "this host's kernel cannot resolve its address through ib0: a filter of this host drops "
        "ARP, the peer drops what this address sends, or the interface's own queue pair is broken",
        "from a console: ip link set ib0 down; ip link set ib0 up");
}

static void a_wrong_path_of_the_kernel(void **state)
{
    static const uint8_t own[4] = {10, 0, 0, 5};
    (void)state;
    begin_silent();
    host.path_lid = 12;
    check(OUTCOME_FAIL, "ib0 has an old path to the peer, to LID 12, and the peer is at LID 7",
          "from a console: ip link set ib0 down; ip link set ib0 up");
    host.path_lid = 0; /* unknown: the probe sends with the kernel's address */
    host.seen.echo_replies = 1;
    check(OUTCOME_FAIL, "the probe's ping from the same address arrives at LID 7; so ib0 has an",
          "");
    assert_memory_equal(peer.sent_from, own, 4);
}

static void other_packets_of_the_kernel(void **state)
{
    (void)state;
    begin_silent();
    host.tcp = true;
    check(OUTCOME_INCONCLUSIVE,
          "it answers TCP of this host, but not its ping from 10.0.0.5: a filter, there or here, "
          "drops ICMP echo",
          "sysctl net.ipv4.icmp_echo_ignore_all");
    assert_string_equal(ping().state, "reachable, but does not answer ping");
    peer.connected = true;
    peer.no_connection = "no REP";
    host_add_file("/sys/class/net/ib0/mode", "connected\n");
    check(OUTCOME_INCONCLUSIVE,
          "it goes over a connection (RC), and connections to the peer do not work: no REP",
          "echo datagram > /sys/class/net/ib0/mode");
    peer.connected = false; /* of the peer: then nothing goes over connections */
    check(OUTCOME_INCONCLUSIVE, "it answers TCP of this host", "");
}

#define LOCAL "fe80::202:c903:0:1895" /* of the peer's GUID */

/* Who else replies to this host's ping tells where to look. */
static void who_else_replies(void **state)
{
    static const struct {
        const char *replies[2];
        uint16_t path;
        bool announced, no_override, no_local;
        const char *text, *advice;
    } all[] = {
        {{0},
         PEER_LID,
         true,
         false,
         false,
         "did not ask for the address of --source either",
         "ip neigh show 10.0.0.5"},
        {{LOCAL},
         PEER_LID,
         false,
         false,
         false,
         ", although its link-local address replies: the peer has no route back",
         "here: nft list ruleset; ipoib-probe --source FREE_ADDRESS n2"},
        {{0},
         0,
         false,
         false,
         false,
         "no other neighbour that was asked replies to it either: this host's paths are old (the SM "
         "has changed LIDs); or this host filters it; or the peers filter",
         "ip link set ib0 down"},
        {{0},
         PEER_LID,
         false,
         false,
         false,
         "either: this host filters it; or the peers filter",
         ""},
        {{"10.0.0.3"},
         0,
         false,
         false,
         false,
         "other neighbours reply to it, and the peer's link-local address does not: this host has "
         "an old path to that port, packets to the group do not reach this host",
         "ip link set ib0 down; ip link set ib0 up"},
        {{"10.0.0.3"},
         PEER_LID,
         false,
         false,
         false,
         "link-local address does not: packets to the group do not reach this host",
         ""},
        {{"10.0.0.3", LOCAL},
         PEER_LID,
         false,
         true,
         false,
         "its NAs have no Override flag, as those of a proxy, perhaps for a host that is gone, "
         "although its link-local",
         "--source FREE_ADDRESS n2"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin_silent();
        memcpy(host.replies, all[i].replies, sizeof all[i].replies);
        host.path_lid = all[i].path;
        peer.announced = all[i].announced;
        peer.no_override = all[i].no_override;
        check(OUTCOME_INCONCLUSIVE, all[i].text, all[i].advice);
        assert_string_equal(ping().state, "answers the probe, but not ping");
    }
}

static void nobody_else_to_ask(void **state)
{
    (void)state;
    begin_silent();
    host.n_neighbours = 1; /* the peer */
    check(OUTCOME_INCONCLUSIVE,
          "and its link-local address is silent too: this host has an old path",
          "ip link set ib0 down");
    host.path_lid = PEER_LID;
    check(OUTCOME_INCONCLUSIVE, "is silent too: a filter, here or there, drops the packets", "");
    host.cannot_ask = true;
    check(OUTCOME_INCONCLUSIVE,
          "from 10.0.0.5: this host filters it; or the peer has no route back",
          "here: nft list ruleset; ipoib-probe --source FREE_ADDRESS n2");
    host.no_table = true; /* the kernel may have resolved it */
    check(OUTCOME_INCONCLUSIVE, "this host filters it; or the peer has no route back", "");
    host.route.has_source = false;
    check(OUTCOME_INCONCLUSIVE,
          "this host's ping from ib0: ", "on the peer: ip route get ADDRESS;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answered_ping_passes),
        cmocka_unit_test(a_ping_that_is_not_sent),
        cmocka_unit_test(lost_pings),
        cmocka_unit_test(a_kernel_without_a_path),
        cmocka_unit_test(a_source_of_another_interface),
        cmocka_unit_test(what_passed_decides),
        cmocka_unit_test(an_address_that_is_not_resolved),
        cmocka_unit_test(a_wrong_path_of_the_kernel),
        cmocka_unit_test(other_packets_of_the_kernel),
        cmocka_unit_test(who_else_replies),
        cmocka_unit_test(nobody_else_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
