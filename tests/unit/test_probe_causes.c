/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a peer does not reply (probe/why): the cause, its evidence and the command for what the
 * questions found. Their answers are the test's: nobody is asked (questions_ask() is simulated).
 */
#include "why_run.h"

#include <string.h>

#include "hca/smp_query.h"
#include "probe/exchange/peer.h"
#include "probe/why/questions.h"
#include "wire/put.h"

/* What the questions found. */
static struct diagnosis found;

void __wrap_questions_ask(struct diagnosis *d); /* NOLINT(clang-diagnostic-reserved-identifier) */
void __wrap_questions_ask(struct diagnosis *d)  /* NOLINT(clang-diagnostic-reserved-identifier) */
{
    struct diagnosis now = found;
    if (d->asked)
        return;
    now.t = d->t;
    now.link_error = d->link_error;
    now.interface = d->interface;
    now.known = d->known;
    now.knows_qpn = d->knows_qpn;
    now.permanent = d->permanent;
    memcpy(now.also, d->also, sizeof now.also);
    memcpy(now.at.lladdr, d->at.lladdr, LLADDR_SIZE);
    memcpy(now.gid, d->gid, sizeof now.gid);
    now.mlid = d->mlid;
    now.no_member = d->no_member;
    now.no_group = d->no_group;
    now.asked = true;
    *d = now;
}

/* The kernel knows the peer, at LID 7. */
static void begin(const char *ipv6)
{
    why_run_begin(ipv6);
    memset(&found, 0, sizeof found);
    found.at.lid = PEER_LID;
    host_add_neighbour(2, false, PEER_QPN, 0x95);
    if (ipv6) {
        host.neighbours[0].ipv6 = true;
        memcpy(host.neighbours[0].ip, run.t->ip, 16);
        run.fake.ipv6 = true;
        why_run_list((struct listed_port){.gid = 0x95,
                                          .lid = PEER_LID,
                                          .name = "n2 HCA-1",
                                          .member = true,
                                          .local = true,
                                          .target = true});
    }
}

/* The kernel does not know the peer, nor does the SA its group. */
static void begin_unknown(const char *ipv6)
{
    begin(ipv6);
    host.n_neighbours = run.n_ports = 0;
}

#define GLOBAL      "fd00::2"
#define MADE        "fe80::202:c903:0:1895" /* of the peer's GUID (RFC 4391 §8) */
#define FULL_MEMBER "make one of the two a full member in the SM's partitions.conf"

/* ---- partitions */

static void ports_that_are_both_limited(void **state)
{
    (void)state;
    begin(NULL);
    why_run_set_pkey(0x7fff);
    found.limited = true;
    why_run_finds("both ports are limited members: this port and " PEER_GID
                  " have 0x7fff without the full-member bit",
                  FULL_MEMBER);
    begin(NULL);
    why_run_set_pkey(0x7fff);
    found.unknown_port = true;
    why_run_finds("both ports are limited members, or the peer's is gone: this port is a limited "
                  "member of 0x7fff, and the SA has no path to " PEER_GID,
                  FULL_MEMBER "; else check the host and its cable");
}

static void a_peer_in_another_partition(void **state)
{
    (void)state;
    begin(NULL);
    found.other = true;
    found.pkey = 0x0001;
    why_run_finds("the peer is in another partition: the SA has no path to " PEER_GID
                  " in partition 0xffff, but one in 0x8001",
                  "add 0x0002c90300001895=full, that port's GUID, to 0xffff in the SM's "
                  "partitions.conf; or, if the address is meant to be there: ipoib-probe --pkey "
                  "0x8001 n2");
    begin(NULL);
    found.has_agent = found.agent.pkeys_known = true;
    why_run_finds("the peer's port is not in the partition: the port of " PEER_GID
                  " (LID 7) does not have the P_Key 0xffff any more",
                  "add 0x0002c90300001895=full");
}

/* ---- groups */

static void a_peer_outside_the_broadcast_group(void **state)
{
    (void)state;
    begin(NULL);
    found.path = found.member_known = true;
    why_run_finds("the peer is not in the broadcast group: the SA does not list " PEER_GID
                  " (LID 7) as a full member: its interface is down or absent, or lost the group",
                  "on the peer: ipoib-probe fabric; ip -d link show type ipoib");
    begin(NULL);
    found.path = found.member_known = found.by_unicast = true;
    why_run_finds("as a full member; it replies to a request to its queue pair",
                  "on the peer, set the interface of 0xffff down and up: it joins again");
    begin(NULL);
    found.path = found.member_known = true;
    run.fake.base.facts.pkeys[1] = OTHER_PKEY;
    run.fake.base.facts.n_pkeys = 2;
    run.fake.ipv6 = true; /* the SA has other groups, and the peer is in each */
    why_run_finds("it lists it in the group of partition 0x8001: the address may be on that "
                  "interface, or the one of 0xffff is down",
                  "ipoib-probe --pkey 0x8001 n2; on the peer: ip -br addr; ip -d link");
}

static void a_peer_outside_its_solicited_node_group(void **state)
{
    (void)state;
    begin(GLOBAL);
    found.path = found.solicited_known = found.by_unicast = true;
    why_run_finds("the peer is not in its solicited-node group: the SA does not list " PEER_GID
                  " (LID 7) in the group for its neighbour solicitations; it replies",
                  "on the peer, set the interface down and up: it joins again; ip maddr");
    begin_unknown(GLOBAL);
    run.fake.no_groups = true;
    why_run_finds("no port of the link has the address: the SA has no group for its neighbour",
                  "on the host that should have it: ip -6 addr; sysctl "
                  "net.ipv6.conf.all.disable_ipv6");
    begin_unknown(GLOBAL);
    why_run_finds("no port receives solicitations for the address: the SA lists no port but this "
                  "one in the group",
                  "on the host that should have it: ip -6 addr; ip maddr; set its interface down");
}

/* ---- switches: this port is at port 5 of LID 70, the peer at port 6 of LID 71 */

/* All entries of a table: the ports of all LIDs, or the port masks of all MLIDs. */
static uint8_t entry;

static enum agent_answer answer_with_entry(struct transport *t, struct smp_request *q, int ms)
{
    (void)t;
    (void)ms;
    if (q->attribute != SMP_MULTICAST_TABLE && q->attribute != SMP_LINEAR_TABLE)
        return AGENT_SILENT;
    memset(q->data, entry, sizeof q->data);
    return AGENT_ANSWERS;
}

static void set_switches(uint8_t all)
{
    entry = all;
    run.ops.ask_smp = answer_with_entry;
    run.fake.switches.there = true;
}

static void a_group_that_a_switch_does_not_forward(void **state)
{
    (void)state;
    begin(NULL);
    found.path = found.by_unicast = found.member = found.member_known = true;
    set_switches(0xff); /* to every port */
    why_run_finds("packets to the group do not reach the peer: " PEER_GID " (LID 7) replies to a "
                  "request to its queue pair, and not to the group, of which the SA says it is a "
                  "member",
                  "ibroute -C fake0 -P 1 -M 71  # MLID 0xc000 must lead to LID 7");
    begin(NULL);
    found.path = found.by_unicast = true;
    set_switches(0); /* to none */
    why_run_finds(
        "and not to the group: the switch with LID 71 does not forward MLID 0xc000 to its "
        "port 6, which leads there",
        "on the peer, set the interface down and up, or let the SM sweep again; ibroute");
}

static void a_hole_between_the_ports(void **state)
{
    (void)state;
    begin(NULL);
    found.path = true;
    set_switches(255); /* no port (IBA 14.2.5.10) */
    why_run_finds("no packet comes back from the peer's port: the SA says " PEER_GID " (LID 7) can "
                  "be reached, but the forwarding table of the switch with LID 70 has no port for "
                  "LID 7",
                  "ibroute -C fake0 -P 1 LID  # of that switch; let the SM sweep again");
    begin(NULL);
    found.path = true;
    set_switches(9); /* that of LID 70 leads to LID 71, which sends it back to LID 70's cable */
    why_run_finds("the switches send what is for LID 7 in a loop, by the switch with LID 70", "");
    begin(NULL);
    found.path = found.has_agent = true;
    found.agent.state = PORT_ACTIVE;
    run.cm = true;
    why_run_finds(
        "(LID 7) can be reached, its adapter says that its port is Active, but neither its "
        "interface nor its connection manager answers: one direction is lost",
        "ibtracert -C fake0 -P 1 3 7; perfquery -C fake0 -P 1 7 1");
    begin(NULL);
    found.path = true; /* no manager can be asked */
    why_run_finds("(LID 7) can be reached, but its interface does not answer: one direction", "");
}

/* ---- a port that answers in another way */

static void a_port_without_the_address(void **state)
{
    (void)state;
    begin(NULL);
    found.path = found.by_cm = found.by_local = true;
    why_run_finds("the peer's port replies, its interface does not: the interface at " PEER_GID
                  " (LID 7) replies to ping for its link-local address, and to nothing for this "
                  "one: the address was removed or moved, its ARP is off or filtered",
                  "on the peer: ip -br addr; ip link | grep NOARP");
    begin(GLOBAL);
    found.path = found.by_cm = found.by_local = true;
    why_run_finds("or moved or is a duplicate (dadfailed), packets to its solicited-node group",
                  "ip -6 addr | grep -B1 dadfailed");
    begin(NULL);
    found.path = found.by_local = true; /* without connections, no manager is asked */
    why_run_finds("replies to ping for its link-local address, and to nothing for this one", "");
    begin(NULL);
    found.path = found.by_cm = found.by_local = true;
    host_add_neighbour(0, true, 0x52, 0x95); /* its link-local address */
    why_run_finds("the address was at queue pair 0x000048 of " PEER_GID " (LID 7), whose other "
                  "interface, at 0x000052, replies",
                  "lsns -t net: set that interface up");
    begin(NULL);
    found.path = found.by_cm = found.asked_local = true;
    why_run_finds("the kernel at " PEER_GID " (LID 7) answers a connection request, but queue pair "
                  "0x000048 answers nothing, for its link-local address either",
                  "ip link | grep NOARP");
    begin(GLOBAL);
    found.path = found.by_cm = true;
    why_run_finds("queue pair 0x000048 answers nothing: what it sends",
                  "ip link; nft list ruleset");
    begin(MADE);
    host.n_neighbours = 0; /* known by its address only */
    found.path = found.by_cm = true;
    why_run_finds("and nothing answers the solicited-node group of the address",
                  "on the peer: ip -br addr; nft list ruleset; here: ibroute");
}

static void a_guid_in_the_address(void **state)
{
    (void)state;
    begin_unknown(MADE);
    found.unknown_port = true;
    why_run_finds("the peer's port is gone: the SA has no port with the GID " PEER_GID
                  ", of whose GUID the address is made: a digit of it is wrong",
                  "compare the address with ip -6 addr on that host");
}

/* Whatever is found there: the entry may be of another port. */
static void a_permanent_entry_is_doubted(void **state)
{
    (void)state;
    begin(NULL);
    host.neighbours[0].permanent = true;
    found.unknown_port = true;
    why_run_finds("the neighbour entry is permanent (made by hand) and may be wrong; else: the SA",
                  "ip neigh del 10.0.0.2 dev ib0; test again; if the same: check the host");
    begin(NULL);
    host.neighbours[0].permanent = true;
    host_add_neighbour(9, false, PEER_QPN, 0x95);
    found.unknown_port = true;
    why_run_finds("may be wrong: that port also has 10.0.0.9; else: the SA", "");
}

/* ---- replies */

static void replies_that_are_late_or_wrong(void **state)
{
    (void)state;
    begin(NULL);
    found.replies = 1;
    run.t->peer->response_times.first_sent = 1000000;
    found.first_reply = 2200000;
    why_run_finds("the peer is slow: its reply came 1.2 s after the first request",
                  "ipoib-probe --timeout 1800 n2");
    begin(NULL);
    run.t->peer->several_senders = true;
    why_run_finds("two hosts use the address: several ports sent packets in its name",
                  "arping -c 3 n2  # from another host: shows both");
    begin(NULL);
    run.t->unusable = "a wrong ICMPv6 checksum";
    why_run_finds("the peer replies, but wrongly: a reply was received that has a wrong ICMPv6",
                  "ipoib-probe -w packets.pcapng n2");
    begin(NULL);
    why_run_know_peer();
    results_add(&run.results, R_RFC4391_9_1_1_GID_OF_PORT, OUTCOME_FAIL, "the port", "another");
    why_run_finds("its reply violates rfc4391.9.1.1.gid-of-port, and hosts drop it: ",
                  "ipoib-probe --explain rfc4391.9.1.1.gid-of-port; ipoib-probe -w");
    begin(NULL);
    found.by_group = true;
    why_run_finds(
        "packets are lost: it did not reply to the first three requests to the group, and "
        "replies to a later one",
        "perfquery -C fake0 -P 1 7 1; ibqueryerrors -C fake0 -P 1");
    begin_unknown(NULL);
    found.few_replies = true;
    found.at.lid = 0;
    why_run_finds("packets are lost: it answers some of 12 requests, and not those before",
                  "perfquery -C fake0 -P 1; ibqueryerrors -C fake0 -P 1: errors of the links");
}

static void replies_to_this_hosts_kernel_only(void **state)
{
    (void)state;
    begin_unknown(NULL);
    found.by_ping = true;
    why_run_finds("it replies to ping, and not to address resolution: it replies to this host's "
                  "kernel, which has its link-layer address, but to no request for it: address "
                  "resolution is off or filtered there",
                  "on the peer: ip link | grep NOARP");
    begin(GLOBAL);
    found.by_ping = true;
    why_run_finds("its replies, which go to all nodes, are not delivered to this host",
                  "on the peer: ip maddr; nft list ruleset");
    begin(NULL);
    found.by_ping = true;
    set_switches(0);
    why_run_finds("it replies to ping, and not to address resolution: " PEER_GID " (LID 7) replies "
                  "to a request to its queue pair, and not to the group: the switch with LID 71",
                  "");
}

/* ---- others */

static void others_that_reply(void **state)
{
    (void)state;
    begin(NULL);
    found.n_others = 2;
    why_run_finds("this host reaches nobody on the link: 2 other neighbours were asked, and none "
                  "replies: the packets of fake0 port 1",
                  "perfquery -C fake0 -P 1; iblinkinfo -C fake0 -P 1");
    begin(NULL);
    found.n_others = 2;
    found.others[0].by_unicast = found.others[1].by_unicast = found.by_unicast = true;
    run.fake.switches.there = true;
    why_run_finds(
        "packets to the group reach nobody: 2 other neighbours were asked: none replies to "
        "the group, 2 to its queue pair, as the peer: what this port sends",
        "ibroute -C fake0 -P 1 -M 70  # MLID 0xc000 must lead to LID 3");
}

static void advertisements_that_do_not_arrive(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        begin(GLOBAL);
        run.fake.fault = DEAF_TO_GROUP; /* their solicitations have no answer */
        found.n_others = n;
        found.others[0].by_group = found.others[1].by_group = true;
        unsigned sent = run.fake.sent;
        why_run_finds(n == 1
                          ? "packets to groups do not reach this host: 1 other host replies to "
                            "ARP, by unicast, and its advertisements"
                          : "2 other hosts reply to ARP, by unicast, and their advertisements to "
                            "all nodes do not arrive here, as the target's would",
                      "ibroute -C fake0 -P 1 -M 70  # MLID 0xc000 must lead to LID 3");
        assert_int_equal(run.fake.sent - sent, 3 * n); /* each is solicited three times */
    }
    begin(GLOBAL);
    found.n_others = 1;
    found.others[0].by_group = true;
    why_run_finds("no such host, or it is off: nothing wrong was found on this side, and another "
                  "host replies to requests to the same group",
                  "");
}

static void other_interfaces_of_this_host(void **state)
{
    (void)state;
    begin_unknown(NULL);
    host_add_ipoib("ib0", "fake0", 0xffff);
    host_add_ipoib("ib1", "fake1", 0xffff);
    host_add_ipoib("ib1.8002", "fake1", 0x0002);
    host.replies[0] = "ib1 10.0.0.2";
    host.replies[1] = "ib1.8002 10.0.0.2";
    why_run_finds("it is on the link of another interface: asked for there, it replies: at ib1 "
                  "(P_Key 0xffff), ib1.8002 (P_Key 0x8002), and not at ib0",
                  "ipoib-probe -d ib1.8002 10.0.0.2; ip route get 10.0.0.2  # correct the route");
    begin_unknown(NULL);
    host.other_network = "ib1";
    why_run_finds("no host replies through this interface: ib1 has that network too",
                  "ipoib-probe -d ib1 10.0.0.2; ip route show to match 10.0.0.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_that_are_both_limited),
        cmocka_unit_test(a_peer_in_another_partition),
        cmocka_unit_test(a_peer_outside_the_broadcast_group),
        cmocka_unit_test(a_peer_outside_its_solicited_node_group),
        cmocka_unit_test(a_group_that_a_switch_does_not_forward),
        cmocka_unit_test(a_hole_between_the_ports),
        cmocka_unit_test(a_port_without_the_address),
        cmocka_unit_test(a_guid_in_the_address),
        cmocka_unit_test(a_permanent_entry_is_doubted),
        cmocka_unit_test(replies_that_are_late_or_wrong),
        cmocka_unit_test(replies_to_this_hosts_kernel_only),
        cmocka_unit_test(others_that_reply),
        cmocka_unit_test(advertisements_that_do_not_arrive),
        cmocka_unit_test(other_interfaces_of_this_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
