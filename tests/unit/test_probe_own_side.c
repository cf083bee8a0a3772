/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes on this host, of a peer that does not reply, and of one that replies to the probe only
 * (probe/why/own_side.c).
 */
#include "why_run.h"

#include <string.h>

#include "probe/exchange/peer.h"
#include "wire/smp.h"

static void begin(void)
{
    why_run_begin(NULL);
}

/* ---- interface, port, partition */

static void an_interface_that_is_down_or_absent(void **state)
{
    (void)state;
    begin();
    host.interface = NULL;
    run.choice.interface[0] = '\0';
    why_run_finds(
        "this host has no IPoIB interface there: none on fake0 port 1 for partition 0xffff "
        "in this network namespace",
        "modprobe ib_ipoib; dmesg");
    begin();
    host.down = true;
    host.parent = "ib3";
    why_run_finds("this host's interface is down: ib0 is down", "ip link set ib0 up");
    begin();
    host_add_file("/sys/class/net/ib0/carrier", "0\n");
    why_run_finds("ib0 is up, but the kernel has not joined its broadcast group",
                  "from a console: ip link set ib0 down; ip link set ib0 up; ipoib-probe -d ib0");
    begin();
    run.t->link->outside = true;
    why_run_finds("this host has lost its membership of the group: ib0 is up, but before this test "
                  "the SA did not list its port in the broadcast group",
                  "from a console: ip link set ib0 down; ip link set ib0 up; then other hosts");
    begin();
    host.down = run.choice.optional = true; /* the user named the port */
    run.fake.fault = IS_ABSENT;
    why_run_finds("no such host, or it is off", "");
}

static void a_port_without_a_link(void **state)
{
    static const struct {
        uint8_t state;
        const char *text, *advice;
    } all[] = {
        {PORT_DOWN, "this host's port has no link: fake0 port 1 is Down: the cable is out, or the",
         "ibstat fake0 1; check the cable and the switch port"},
        {PORT_INIT, "no subnet manager has set up this host's port: fake0 port 1 is in Initialize",
         "ibstat fake0 1; start opensm, or see the log of the subnet manager"},
        {PORT_ARMED, "fake0 port 1 is Armed", "ibstat fake0 1; see the log of the subnet manager"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.fake.base.facts.state = all[i].state;
        why_run_finds(all[i].text, all[i].advice);
        begin();
        run.fake.base.facts.state = all[i].state;
        run.ops.read_port = NULL; /* as it was opened */
        why_run_finds(all[i].text, all[i].advice);
    }
}

static void a_port_outside_the_partition(void **state)
{
    (void)state;
    begin();
    run.t->link->pkey = 0x8005;
    why_run_finds(
        "this host's port is not in the partition: fake0 port 1 is not in partition 0x8005; "
        "it has the P_Keys 0xffff",
        "head /sys/class/infiniband/fake0/ports/1/pkeys/*; add 0x0002c90300001896=full to "
        "the partition in the SM's partitions.conf");
    begin();
    run.t->link->pkey = run.options.pkey = 0x8005;
    why_run_finds("is not in partition 0x8005", "without --pkey: ipoib-probe n2; else head /sys");
}

/* ---- a link that could not be opened */

static void an_sa_that_does_not_answer(void **state)
{
    static const struct {
        enum sa_result failure;
        const char *slow;
        enum agent_answer agent;
        unsigned down_at;
        const char *text, *advice;
    } all[] = {
        {SA_BUSY, "", AGENT_NOT_ASKED, 0, "the subnet manager (SA) is busy: no group",
         "test again; then smpquery -C fake0 -P 1 nodedesc 1 names the host whose load to check"},
        {SA_NO_RESPONSE, "the SA is slow", AGENT_NOT_ASKED, 0,
         "the subnet manager is slow, or seems so: the SA is slow",
         "perfquery -C fake0 -P 1: lost"},
        {SA_ABSENT, "", AGENT_NOT_ASKED, 0,
         "the subnet manager (SA) does not answer: no group: it has ended, or this port's SM LID is "
         "old",
         "smpquery -C fake0 -P 1 nodedesc 1: start the subnet manager there"},
        {SA_NO_RESPONSE, "", AGENT_ANSWERS, 0,
         "no group: the port with LID 1 is alive: the subnet manager there hangs or is very slow",
         "see that host's load and the SM's log, restart the SM"},
        {SA_NO_RESPONSE, "", AGENT_SILENT, 0,
         "no group: nothing at LID 1 answers: its host is off, a cable on the way is out",
         "iblinkinfo -C fake0 -P 1: is a cable out?"},
        {SA_NO_RESPONSE, "", AGENT_SILENT, 2,
         "the way to it ends at port 9 of the switch with LID 71 (hop 2), which is Down",
         "check that cable; ibportstate -C fake0 -P 1 71 9"},
        {SA_NO_RESPONSE, "", AGENT_NOT_ASKED, 0, "no group: ", "perfquery -C fake0 -P 1"},
        {SA_REJECTED, "", AGENT_NOT_ASKED, 0, "this host's port cannot join the link: no group",
         "ipoib-probe -d ib0 fabric"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.link_error = "no group";
        run.t->run->sa.failures = 1;
        run.t->run->sa.failure = all[i].failure;
        g_strlcpy(run.t->run->sa.slow, all[i].slow, sizeof run.t->run->sa.slow);
        run.fake.agent = all[i].agent;
        run.fake.down_at = all[i].down_at;
        why_run_finds(all[i].text, all[i].advice);
    }
}

static void a_link_that_is_closed(void **state)
{
    (void)state;
    begin();
    run.link_error = "its MTU is too small";
    host.interface = NULL; /* the user named the port and the partition */
    run.choice = (struct choice){.optional = true, .pkey = 0xffff};
    why_run_finds("this host's port cannot join the link: its MTU is too small",
                  "ipoib-probe -d fake0 -p 1 --pkey 0xffff fabric");
    begin();
    run.link_error = "partition 0x8001 has no broadcast group";
    run.fake.base.facts.pkeys[1] = OTHER_PKEY; /* 0xffff has a group */
    run.fake.base.facts.n_pkeys = 2;
    run.t->link->pkey = OTHER_PKEY;
    run.t->link->no_group = true;
    why_run_finds(
        "partition 0x8001 has no broadcast group; partition 0xffff of this port has one",
        "have the SM create the group (partitions.conf: ipoib); if the other partition is "
        "meant: ipoib-probe -d fake0 -p 1 --pkey 0xffff n2");
}

/* ---- routes and addresses */

static void a_route_to_elsewhere(void **state)
{
    static const struct {
        struct host_route route;
        const char *networks, *text;
    } all[] = {
        {{.kind = ROUTE_NONE, .forbids = "blackhole"},
         "10.0.0.5/24",
         "a route of type blackhole forbids it; ib0 has 10.0.0.5/24"},
        {{.kind = ROUTE_NONE}, NULL, "there is no route; ib0 has no IPv4 address"},
        {{.kind = ROUTE_GATEWAY, .interface = "eth0", .gateway = {192, 0, 2, 1}},
         "10.0.0.5/30",
         "the route leads through the router 192.0.2.1 at eth0; ib0 has 10.0.0.5/30"},
        {{.kind = ROUTE_LINK, .interface = "eth0"},
         "10.0.0.5/24",
         "the route leads through eth0; ib0 has 10.0.0.5/24"},
        {{.kind = ROUTE_LINK, .interface = "ib1"}, "10.0.0.5/24", "the route leads through ib1"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        for (int by_route = 0; by_route <= 1; by_route++) {
            begin();
            run.choice.other_route = !by_route;
            run.choice.by_route = by_route; /* when the test began */
            host.route = all[i].route;
            host.networks = all[i].networks;
            host_add_ipoib("ib0", "fake0", 0xffff);
            host_add_ipoib("ib1", "fake1", 0xffff);
            why_run_finds(all[i].text, "ip route get 10.0.0.2; ip rule show; if no rule is the "
                                       "cause: ip route replace 10.0.0.2 dev ib0");
        }
    why_run_begin("fe80::5");
    run.choice.other_route = true;
    why_run_finds("there is no route; ib0 has no IPv6 address",
                  "ip -6 addr show dev ib0; sysctl net.ipv6.conf.ib0.disable_ipv6");
}

static void a_route_that_still_leads_here(void **state)
{
    static const struct host_route all[] = {
        {.kind = ROUTE_LINK, .interface = "ib0"}, {.kind = ROUTE_UNKNOWN}, {.kind = ROUTE_LOCAL}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin();
        run.choice.by_route = true;
        host.route = all[i];
        host_add_ipoib("ib0", "fake0", 0xffff);
        host.has_address = "ib0";
        why_run_finds("this host has the address itself: it is at ib0",
                      "run ipoib-probe on another host");
    }
    for (int leads = 0; leads <= 1; leads++) { /* a VRF has a table of its own */
        begin();
        run.choice.by_route = true;
        host.route.kind = ROUTE_NONE;
        host.route_through.kind = leads ? ROUTE_LINK : ROUTE_NONE;
        host_add_file("/sys/class/net/ib0/master/uevent", "INTERFACE=red\n");
        host.has_address = "ib0";
        why_run_finds(leads ? "this host has the address itself" : "there is no route", "");
    }
}

/* ---- a peer that replies to the probe */

/* The kernel has the peer where it is. */
static void begin_replies(void)
{
    begin();
    why_run_know_peer();
    host_add_neighbour(2, false, PEER_QPN, 0x95);
}

static void a_side_that_is_good(void **state)
{
    (void)state;
    begin_replies();
    why_run_finds_own(OWN_SIDE_GOOD, NULL, NULL);
    begin_replies(); /* the peer announces another QPN than it sends from: its fault */
    run.t->peer->lladdr[LLADDR_QPN + 2] = 0x60;
    why_run_finds_own(OWN_SIDE_GOOD, NULL, NULL);
}

static void a_kernel_that_does_not_reach_the_peer(void **state)
{
    (void)state;
    begin_replies();
    host_add_file("/sys/class/net/ib0/flags", "0x1083\n"); /* IFF_NOARP is 0x80 */
    why_run_finds_own(OWN_SIDE_FAILS,
                      "the peer replies to the probe, but this host's interface does not resolve "
                      "addresses: ib0 has the flag NOARP",
                      "ip link set ib0 arp on");
    begin_replies();
    run.t->link->outside = true;
    why_run_finds_own(OWN_SIDE_REPAIRED, "this host had lost its membership of the group", "");
    begin_replies();
    run.choice.other_route = true;
    why_run_finds_own(OWN_SIDE_FAILS, "this host's kernel does not send the address to this link",
                      "ip route get 10.0.0.2");
    why_run_begin("fd00::2");
    host.dad_failed = "fd00::5";
    why_run_finds_own(
        OWN_SIDE_FAILS,
        "duplicate address detection failed for fd00::5 of ib0, so this host does not "
        "use it: another port has the address",
        "ip -6 addr show dev ib0; ipoib-probe -d ib0 fabric");
}

static void an_old_neighbour_entry(void **state)
{
    (void)state;
    begin_replies();
    run.t->peer->qpn = 0x4d;
    run.t->peer->lladdr[LLADDR_QPN + 2] = 0x4d;
    why_run_finds_own(OWN_SIDE_FAILS,
                      "this host's neighbour table has an old address: the QPN differs: it has "
                      "00:00:00:48:fe:80",
                      "ip neigh del 10.0.0.2 dev ib0");
    begin_replies();
    host.neighbours[0].lladdr[LLADDR_SIZE - 1] = 0x33;
    why_run_finds_own(OWN_SIDE_FAILS, "the GID differs: it has 00:00:00:48:fe:80", "");
}

static void a_path_of_the_sa_to_elsewhere(void **state)
{
    (void)state;
    begin_replies();
    run.fake.fault = WRONG_PATH;
    why_run_finds_own(OWN_SIDE_FAILS,
                      "the SA's path does not lead to it: it leads to LID 11, and the peer replies "
                      "from LID 7",
                      "see the log of the subnet manager; let it sweep again");
    begin_replies();
    why_run_list((struct listed_port){
        .gid = 0x95, .lid = PEER_LID, .name = "n2", .path_status = SA_STATUS_NO_RECORDS});
    why_run_finds_own(OWN_SIDE_FAILS, "it has none to LID 7, where the peer replies from", "");
    begin_replies();
    why_run_list(
        (struct listed_port){.gid = 0x95, .lid = PEER_LID, .name = "n2", .path_status = 0x0700});
    why_run_finds_own(OWN_SIDE_FAILS, "the SA refuses it: status 0x0700, request denied", "");
    begin_replies(); /* the peer announces the GID of another port: its fault */
    run.fake.fault = GID_OF_OTHER;
    why_run_finds_own(OWN_SIDE_GOOD, NULL, NULL);
}

static enum agent_answer no_entries(struct transport *t, struct smp_request *q, int ms)
{
    (void)t;
    (void)ms;
    memset(q->data, 0, sizeof q->data);
    return q->attribute == SMP_MULTICAST_TABLE ? AGENT_ANSWERS : AGENT_SILENT;
}

/* A group without another member needs no entry. */
static void a_group_that_is_not_forwarded_to_this_port(void **state)
{
    (void)state;
    for (int others = 0; others <= 1; others++) {
        begin_replies();
        run.fake.switches.there = true;
        run.ops.ask_smp = no_entries;
        why_run_list((struct listed_port){
            .gid = 0x95, .lid = PEER_LID, .name = "n2", .member = others != 0});
        if (others)
            why_run_finds_own(
                OWN_SIDE_FAILS,
                "packets to the group do not reach this host: the switch with LID 70 "
                "does not forward MLID 0xc000 to its port 5, which leads to this host",
                "from a console: ip link set ib0 down; ip link set ib0 up; or let");
        else
            why_run_finds_own(OWN_SIDE_GOOD, NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interface_that_is_down_or_absent),
        cmocka_unit_test(a_port_without_a_link),
        cmocka_unit_test(a_port_outside_the_partition),
        cmocka_unit_test(an_sa_that_does_not_answer),
        cmocka_unit_test(a_link_that_is_closed),
        cmocka_unit_test(a_route_to_elsewhere),
        cmocka_unit_test(a_route_that_still_leads_here),
        cmocka_unit_test(a_side_that_is_good),
        cmocka_unit_test(a_kernel_that_does_not_reach_the_peer),
        cmocka_unit_test(an_old_neighbour_entry),
        cmocka_unit_test(a_path_of_the_sa_to_elsewhere),
        cmocka_unit_test(a_group_that_is_not_forwarded_to_this_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
