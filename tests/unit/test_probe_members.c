/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nobody replies for the address: which ports of the subnet may have it (probe/why/members.c,
 * no_host.c, direct.c)? The SA's tables list them; this host's kernel pings them.
 */
#include "why_run.h"

#include <string.h>

#define OWN_GUID "80:00:00:99:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:18:"

static const struct listed_port own = {
    .gid = 0x96, .lid = OWN_LID, .name = "n1 HCA-1", .member = true};

/* 10.0.0.2 is silent. This port is the only member of the broadcast group. */
static void begin(void)
{
    why_run_begin(NULL);
    run.fake.fault = IS_ABSENT;
    why_run_list(own);
}

/* Ports with LID 10 and so on, in the group, without a neighbour entry. */
static void list_members(unsigned n, bool local)
{
    static const char *const names[] = {"n3 HCA-1", "n4 HCA-1", "n5 HCA-1", "n6 HCA-1"};
    for (unsigned i = 0; i < n; i++)
        why_run_list((struct listed_port){.gid = (uint8_t)(0xa0 + i),
                                          .lid = (uint16_t)(10 + i),
                                          .name = names[i],
                                          .member = true,
                                          .local = local});
}

/* ---- no such host */

static void nothing_wrong_on_this_side(void **state)
{
#define NO_HOST                                                                                    \
    "no such host, or it is off: nothing wrong was found on this side: no host of this link"
    (void)state;
    begin();
    why_run_finds(NO_HOST " has the address, or its host, cable, interface or ARP is off; or the "
                          "switches do not deliver the group to it",
                  "check the address; on the host that should have it: ipoib-probe fabric");
    begin();
    host.networks = "10.0.0.5/24";
    run.fake.base.facts.pkeys[1] = OTHER_PKEY;
    run.fake.base.facts.n_pkeys = 2;
    why_run_finds(NO_HOST " has the address (this one has 10.0.0.5/24), or its host",
                  "ipoib-probe fabric; ipoib-probe --pkey 0x8001 n2");
    begin();
    host.networks = "10.0.0.5/8";
    host.wide = true;
    why_run_finds("or it is behind a router, and the prefix of ib0, 10.0.0.5/8, is too short", "");
    begin();
    run.t->link->sm_key = 0;
    why_run_finds("to it; the SA does not say which ports are on this link", "");
    begin();
    run.ops.capabilities &= ~(unsigned)CAN_QUERY_SA; /* through a network interface */
    why_run_finds(
        "the SA cannot be queried through a network interface, so the peer may also be off", "");
}

/* Another interface, of which the SA says that it is on another link. */
static void another_rail(void **state)
{
    static const struct {
        const char *device, *address, *slave;
        bool down, found;
    } all[] = {
        {"fake1", OWN_GUID "a9\n", NULL, false, true},
        {"fake1", OWN_GUID "a0\n", NULL, false, false},       /* a member here */
        {"fake0", OWN_GUID "a9\n", NULL, false, false},       /* of this port */
        {"fake1", OWN_GUID "a9\n", "active\n", false, false}, /* of a bond */
        {"fake1", OWN_GUID "a9\n", NULL, true, false},
        {"", OWN_GUID "a9\n", NULL, false, false},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        list_members(1, false);
        host_add_neighbour(3, false, 0x50, 0xa0); /* its address is known */
        host_add_ipoib("ib1", all[i].device, 0xffff);
        host.ipoib[0].up = !all[i].down;
        host_add_file("/sys/class/net/ib1/address", all[i].address);
        if (all[i].slave)
            host_add_file("/sys/class/net/ib1/bonding_slave/state", all[i].slave);
        run.t->link->opened = true;
        why_run_finds(all[i].found
                          ? "or it is on the link of ib1 (crossed cables?); or the switches"
                          : "interface or ARP is off; or the switches do not deliver",
                      all[i].found ? "ipoib-probe fabric; ipoib-probe -d ib1 n2" : "fabric");
    }
}

/* ---- ports outside the group */

static void list_outside(unsigned n, bool other, bool local)
{
    static const char *const names[] = {"n3 HCA-1", "n4 HCA-1", "n5 HCA-1", "n6 HCA-1"};
    for (unsigned i = 0; i < n; i++)
        why_run_list((struct listed_port){.gid = (uint8_t)(0xb0 + i),
                                          .lid = (uint16_t)(20 + i),
                                          .name = names[i],
                                          .other_member = other && i == 0,
                                          .local = local});
}

static void ports_outside_the_group(void **state)
{
    (void)state;
    begin();
    list_outside(1, false, false);
    why_run_list((struct listed_port){.gid = 0xc0, .lid = 70, .name = "sw1", .is_switch = true});
    list_members(1, false);
    host_add_neighbour(3, false, 0x50, 0xa0);
    why_run_finds(
        "no host replies, and some are not on the link: of 2 other ports of the subnet 1 "
        "are not in the broadcast group of 0xffff: 'n3 HCA-1' (LID 20). If the address is "
        "one of theirs, its interface is down, in another partition or has lost the group; "
        "else the host is off, or its ARP is off or filtered",
        "on that host: ipoib-probe fabric");
    begin();
    list_outside(4, false, false);
    why_run_finds("of 4 other ports of the subnet 4 are not in the broadcast group of 0xffff: "
                  "'n3 HCA-1' (LID 20), 'n4 HCA-1' (LID 21), 'n5 HCA-1' (LID 22) and more. If",
                  "");
    begin();
    list_outside(1, false, true); /* its interface is up */
    why_run_finds("a port has lost the broadcast group: LID 20 ('n3 HCA-1') is in the group for "
                  "neighbour solicitations of its link-local address, so its interface is up in "
                  "0xffff, and it is not in the broadcast group",
                  "on that host, set the interface down and up: it joins again");
}

static void ports_of_another_partition(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 2; n++) {
        begin();
        run.fake.base.facts.pkeys[1] = OTHER_PKEY;
        run.fake.base.facts.n_pkeys = 2;
        list_outside(n, true, false);
        why_run_finds(n == 1 ? "no host replies, and those of another partition may be meant: of 1 "
                               "other ports of the subnet 1 are not in the broadcast group of "
                               "0xffff: 'n3 HCA-1' (LID 20); they are in the group of 0x8001, of "
                               "which this port is a member too: is the P_Key of ib0 right?"
                             : "; 1 of these is in the group of 0x8001",
                      "ipoib-probe --pkey 0x8001 n2; ip -d link show type ipoib");
    }
}

/* ---- members without a neighbour entry */

#define LOCAL(last) "fe80::202:c903:0:18" last

static void members_whose_address_is_not_known(void **state)
{
    (void)state;
    begin();
    list_members(1, false);
    why_run_finds(
        "; or 'n3 HCA-1' (LID 10), whose address is not known here, has it, and its replies "
        "are lost, filtered or have a wrong P_Key or Q_Key",
        "");
    begin();
    list_members(2, false);
    why_run_finds(
        "; or one of the ports with LID 10, 11, whose addresses are not known here, has it", "");
    begin();
    list_members(4, true);
    why_run_finds("; or one of 4 members of the group, whose addresses are not known here, has",
                  "");
    begin();
    list_members(1, true);
    host.replies[0] = LOCAL("a0");
    why_run_finds("has it, and replies to ping of its link-local address, and to no request to its "
                  "queue pair: its ARP is off or filtered",
                  "");
    begin();
    list_members(2, true);
    host.replies[0] = LOCAL("a0");
    host.replies[1] = LOCAL("a1"); /* nothing tells them apart */
    why_run_finds("interface or ARP is off; or the switches do not deliver the group to it", "");
}

static void a_member_without_a_path(void **state)
{
    (void)state;
    begin();
    list_members(2, true);
    run.ports[2].path_status = SA_STATUS_NO_RECORDS;
    host.replies[0] = LOCAL("a0");
    host.replies[1] = LOCAL("a1");
    why_run_finds(
        "; or LID 11 has it, which is in the group's list, and to which the SA has no path "
        "in 0xffff: its port is no longer in the partition",
        "");
    begin();
    list_members(1, false);
    run.ports[1].path_status = MAD_STATUS_BUSY;
    why_run_finds("the subnet manager (SA) is busy: it answers PathRecord queries with BUSY, and "
                  "without a path this host's kernel sends no packet to a host",
                  "smpquery -C fake0 -P 1 nodedesc 1 names the host whose load to check");
}

static void members_that_are_silent(void **state)
{
    static const struct {
        bool cm, answers;
        const char *text;
    } all[] = {
        {false, false, "do not answer this host's ping either: the packets of fake0 port 1, or"},
        {true, true, "this host's ping either, though their connection managers answer: the"},
        {true, false, "this host's ping either, nor do their connection managers: the packets of"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        list_members(2, true);
        run.cm = all[i].cm;
        run.cm_answers = all[i].answers;
        why_run_finds(all[i].text, "perfquery -C fake0 -P 1; iblinkinfo -C fake0 -P 1; nft list");
        assert_int_equal(run.cm_asked, !all[i].cm ? 0 : all[i].answers ? 1 : 2);
    }
    begin();
    list_members(2, true);
    host_add_file("/sys/class/net/ib0/mode", "connected\n"); /* the ping says nothing about UD */
    why_run_finds("; or one of the ports with LID 10, 11, whose addresses", "");
}

static void one_member_that_is_silent(void **state)
{
    (void)state;
    for (int answers = 0; answers <= 1; answers++) {
        begin();
        list_members(2, true);
        host.replies[0] = LOCAL("a0");
        run.cm = true;
        run.cm_answers = answers;
        why_run_finds(answers
                          ? "packets to groups do not reach it, what it sends over UD is lost or "
                            "has a wrong P_Key or Q_Key, or it filters ND; its kernel answers a "
                            "connection request"
                          : "a port that may have the address is silent: LID 11 ('n4 HCA-1') is a "
                            "member of the group, and its link-local address does not answer, as "
                            "those of others do. If the address is its, its host hangs",
                      answers ? "on that host: ipoib-probe fabric; nft list ruleset; set the"
                              : "look at that host; ibtracert -C fake0 -P 1 3 11; perfquery");
    }
}

/* A member replies for the address at its queue pair: it has not got the requests to the group. */
static void a_member_that_has_the_address(void **state)
{
    (void)state;
    begin();
    run.fake.fault = DEAF_TO_GROUP;
    why_run_list((struct listed_port){
        .gid = 0x95, .lid = PEER_LID, .name = "n2 HCA-1", .member = true, .local = true});
    host.replies[0] = LOCAL("95");
    host_add_neighbour(0, true, PEER_QPN, 0x95); /* made by that ping */
    why_run_finds(
        "packets to the group do not reach the peer: LID 7 has the address: it replies to "
        "a request to its queue pair, and not to the group, of which the SA says it is a "
        "member",
        "MLID 0xc000 must lead to LID 7");
}

/* ---- limited members */

static void other_limited_members(void **state)
{
    (void)state;
    begin();
    why_run_set_pkey(0x7fff);
    list_members(2, false);
    run.ports[2].path_status = SA_STATUS_NO_RECORDS;
    why_run_finds(
        "this port is a limited member, and so are others: this port has 0x7fff without "
        "the full-member bit, and to 1 of 2 other members of the group the SA has no path",
        "make one of the two a full member in the SM's partitions.conf");
}

/* ---- a neighbour that takes packets for the address */

static void set_direct(bool forwarded, uint8_t qpn, uint8_t gid)
{
    host_add_neighbour(3, false, qpn, gid);
    host.direct = (struct direct_reply){.found = true, .forwarded = forwarded};
    memcpy(host.direct.lladdr, host.neighbours[0].lladdr, LLADDR_SIZE);
}

static void a_router(void **state)
{
    (void)state;
    begin();
    list_members(1, false);
    set_direct(true, 0x50, 0xa0);
    host.wide = true;
    host.networks = "10.0.0.5/8";
    why_run_finds(
        "it is behind a router, and this host's prefix says that it is not: it replies to a "
        "packet that 10.0.0.3 (GID fe80::2:c903:0:18a0, LID 10) forwards to it: the prefix "
        "of ib0, 10.0.0.5/8, is too short",
        "correct the prefix of ib0; until then: ip route add 10.0.0.2 via 10.0.0.3");
    begin();
    set_direct(true, 0x50, 0xa0);
    host.n_neighbours = 0; /* it is gone, and the SA has no path */
    host.wide = true;
    why_run_finds("a packet that the port with the GID fe80::2:c903:0:18a0 forwards to it",
                  "correct the prefix: ip -br addr show ib0");
}

static void a_host_without_address_resolution(void **state)
{
    (void)state;
    begin();
    set_direct(false, 0x50, 0xa0);
    run.fake.base.facts.pkeys[1] = OTHER_PKEY;
    run.fake.base.facts.n_pkeys = 2;
    why_run_finds("the host is there, and requests to the group have no answer: 10.0.0.3 (GID "
                  "fe80::2:c903:0:18a0) has the address: it replies to a ping that is sent to its "
                  "queue pair, and to no request for its link-layer address: its ARP is off",
                  "on that host: ip -br addr; ip link | grep NOARP; sysctl -a | grep "
                  "'\\.arp_ignore'; nft list ruleset; ipoib-probe --pkey 0x8001 n2");
    begin();
    run.fake.fault = DEAF_TO_GROUP;
    run.n_ports = 0;
    set_direct(false, PEER_QPN, 0x95);
    why_run_finds("10.0.0.3 (GID " PEER_GID
                  ", LID 7) has the address: it replies to a request to its "
                  "queue pair, and not to the group",
                  "MLID 0xc000 must lead to LID 7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_wrong_on_this_side),
        cmocka_unit_test(another_rail),
        cmocka_unit_test(ports_outside_the_group),
        cmocka_unit_test(ports_of_another_partition),
        cmocka_unit_test(members_whose_address_is_not_known),
        cmocka_unit_test(a_member_without_a_path),
        cmocka_unit_test(members_that_are_silent),
        cmocka_unit_test(one_member_that_is_silent),
        cmocka_unit_test(a_member_that_has_the_address),
        cmocka_unit_test(other_limited_members),
        cmocka_unit_test(a_router),
        cmocka_unit_test(a_host_without_address_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
