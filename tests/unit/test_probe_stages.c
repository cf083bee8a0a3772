/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages of the fabric diagnosis about this host (probe/fabric/host.c) and its neighbours
 * (neighbours.c). The host's interfaces, its neighbour table and its settings are simulated; the
 * peer is that of probe_peer.c: 10.0.0.2 at QPN 0x48, LID 7, on a link with an MTU of 2044
 * (RFC 4391 §7: 2048 less 4).
 */
#include "probe_peer.h"

#include <stdio.h>
#include <string.h>

#include "probe/fabric/stages.h"
#include "probe/link/hostif.h"
#include "probe/link/hostneigh.h"
#include "probe/link/link.h"
#include "probe/run/options.h"
#include "probe/why/why.h"
#include "probe/run/results.h"
#include "probe/run/target.h"
#include "wire/smp.h"

enum { NEIGHBOURS = 40 };

/* The simulated host. */
static struct {
    unsigned interfaces; /* ib0, ib1 ...: those that are up */
    const char *other;   /* the only interface of the port and partition, if none is up */
    const char *parent;  /* of that one, or of the port */
    const char *named;   /* the device that the user named */
    bool taken;          /* another port has every address */
    bool answers;        /* it is a port of this host */
    bool silent;         /* the SA */
    bool loses_half;     /* the path, of the peer's packets */
    unsigned memberless, ext_speed; /* groups; the SA's record of this port */
    uint8_t port_state;             /* 0: Active */
    bool no_guid;
    unsigned timeout_ms; /* of the options; 0: 1 */
    bool no_table;       /* the kernel does not list the neighbours */
    struct host_neighbour neighbours[NEIGHBOURS];
    unsigned n;
    struct {
        const char *path, *text;
    } files[8]; /* unused entries: NULL */
} host;

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
char *__wrap_host_interface(const struct probe_link *l);
char *__wrap_host_interface(const struct probe_link *l)
{
    (void)l;
    return host.interfaces ? g_strdup("ib0") : NULL;
}

char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey);
char *__wrap_host_interface_in_any_state(const struct port_facts *port, uint16_t pkey)
{
    (void)port;
    (void)pkey;
    return g_strdup(host.interfaces ? "ib0" : host.other);
}

char *__wrap_host_parent(const char *name);
char *__wrap_host_parent(const char *name)
{
    (void)name;
    return g_strdup(host.parent);
}

char *__wrap_host_parent_of_port(const struct port_facts *port);
char *__wrap_host_parent_of_port(const struct port_facts *port)
{
    (void)port;
    return g_strdup(host.parent);
}

GPtrArray *__wrap_host_interfaces(const struct probe_link *l);
GPtrArray *__wrap_host_interfaces(const struct probe_link *l)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    (void)l;
    for (unsigned i = 0; i < host.interfaces; i++)
        g_ptr_array_add(all, g_strdup_printf("ib%u", i));
    return all;
}

bool __wrap_host_has_port(const uint8_t *lladdr);
bool __wrap_host_has_port(const uint8_t *lladdr)
{
    (void)lladdr;
    return host.answers;
}

GArray *__wrap_hostneigh_read(const char *interface);
GArray *__wrap_hostneigh_read(const char *interface)
{
    assert_string_equal(interface, "ib0");
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct host_neighbour));
    if (!host.no_table)
        return g_array_append_vals(all, host.neighbours, host.n);
    g_array_unref(all);
    return NULL;
}

gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error);
gboolean __wrap_g_file_get_contents(const char *path, char **text, gsize *n, GError **error)
{
    (void)n;
    (void)error;
    *text = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(host.files) && host.files[i].path; i++)
        if (strcmp(host.files[i].path, path) == 0)
            *text = g_strdup(host.files[i].text);
    return *text != NULL;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

/* ---- a stage */

struct looked {
    int outcome;
    char text[1024], advice[256];
};

static const struct stage_of_fabric *find_stage(const char *id)
{
    const struct stage_of_fabric *s;
    for (unsigned i = 0; (s = fabric_stage_at(i)); i++)
        if (strcmp(s->id, id) == 0)
            return s;
    fail_msg("no stage %s", id);
    return NULL;
}

/* Runs the stage on the simulated host, with a peer with that fault. */
static struct looked look(const char *id, enum fault fault, bool second)
{
    struct options options = {.rate = 1000, .timeout_ms = MAX(host.timeout_ms, 1)};
    struct checked checked = {.name = (char *)"fabric", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    struct looked l;
    fake_begin(&fake, target, fault, true);
    fake.second.there = second;
    fake.proxy = host.taken;
    fake.silent_after = host.silent ? fake.asks : 0;
    fake.ext_speed = host.ext_speed;
    target->link->memberless = host.memberless;
    if (host.port_state)
        fake.base.facts.state = host.port_state;
    if (host.no_guid)
        memset(fake.base.facts.gid + 8, 0, 8);
    target->about_fabric = true;
    const struct choice choice = {.optional = host.named != NULL};
    target->link->choice = &choice;
    results_begin(&results, id);
    assert_true(find_stage(id)->run(target, id));
    fake.silent_after = 0;
    fake_end(target);
    assert_int_equal(checked.stages->len, 1);
    const struct stage *s = checked.stages->pdata[0];
    l.outcome = s->outcome;
    g_strlcpy(l.text, s->text, sizeof l.text);
    g_strlcpy(l.advice, s->advice, sizeof l.advice);
    probe_fixture_forget(&checked);
    return l;
}

static void check(const struct looked *l, int outcome, const char *words)
{
    if (l->outcome != outcome || !strstr(l->text, words))
        fail_msg("outcome %d, \"%s\"; expected %d, \"%s\"", l->outcome, l->text, outcome, words);
}

static void advises(const struct looked *l, const char *words)
{
    if (!strstr(l->advice, words))
        fail_msg("\"%s\" does not advise \"%s\"", l->advice, words);
}

static void clear_host(void)
{
    memset(&host, 0, sizeof host);
    host.interfaces = 1;
}

static void set_file(const char *path, const char *text)
{
    size_t i = 0;
    while (host.files[i].path && strcmp(host.files[i].path, path) != 0)
        i++;
    assert_true(i < G_N_ELEMENTS(host.files));
    host.files[i].path = path;
    host.files[i].text = text;
}

/* ---- known faults of others */

#define DEVICE "/sys/class/infiniband/fake0"

static void check_known(int outcome, const char *words, const char *source, const char *advice)
{
    struct looked l = look("fabric.known-faults", NO_FAULT, false);
    check(&l, outcome, words);
    check(&l, outcome, source);
    advises(&l, advice);
}

static void known_faults_are_recognised(void **state)
{
    (void)state;
    clear_host();
    check_known(OUTCOME_PASS, "none of 5 known faults is recognised", "", "");
    host.interfaces = 0;
    check_known(OUTCOME_NOTED, "ib_ipoib is missing", "linux-rdma", "modprobe ib_ipoib");
    set_file("/sys/module/ib_ipoib/parameters/send_queue_size", "128\n");
    check_known(OUTCOME_PASS, "none of 5", "", "");
    clear_host();
    host.memberless = 900;
    check_known(OUTCOME_NOTED, "leaks MLIDs", "900 groups have no member", "restart it");
    check_known(OUTCOME_NOTED, "JoinState 0x9", "opensm/pull/43", "update OpenSM");
}

static void known_faults_of_virtual_functions(void **state)
{
    (void)state;
    clear_host();
    host.port_state = PORT_DOWN;
    check_known(OUTCOME_PASS, "none of 5", "", ""); /* a physical function */
    set_file(DEVICE "/device/physfn/vendor", "0x15b3\n");
    set_file(DEVICE "/node_guid", "0002:c903:0000:1895\n");
    check_known(OUTCOME_NOTED, "without virtualisation", "opensm/issues/22", "virt_enabled 2");
    host.port_state = PORT_INIT;
    check_known(OUTCOME_NOTED, "without virtualisation", "its port is in Initialize", "");
    host.no_guid = true;
    set_file(DEVICE "/node_guid", "0000:0000:0000:0000\n");
    check_known(OUTCOME_NOTED, "without a GUID", "network-device-plugin/issues/20", "node_guid");
    host.no_guid = false;
    host.port_state = PORT_ACTIVE;
    check_known(OUTCOME_PASS, "none of 5", "", "");
}

static void an_sm_that_does_not_know_ndr(void **state)
{
    (void)state;
    clear_host();
    host.ext_speed = 4; /* HDR */
    set_file(DEVICE "/ports/1/rate", "200 Gb/sec (4X HDR)\n");
    check_known(OUTCOME_PASS, "none of 5", "", "");
    set_file(DEVICE "/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    check_known(OUTCOME_NOTED, "the extended speed 4 (NDR: 8)", "opensm/issues/38", "knows NDR");
    host.ext_speed = 8;
    check_known(OUTCOME_PASS, "none of 5", "", "");
}

/* ---- the interface */

static void carrier_decides_about_the_interface(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    set_file("/sys/class/net/ib0/flags", "0x1003\n");
    set_file("/sys/class/net/ib0/carrier", "1\n");
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_PASS, "ib0 is up and has carrier");
    set_file("/sys/class/net/ib0/carrier", "0\n");
    set_file("/sys/class/net/ib0/operstate", "lowerlayerdown\n");
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_FAIL, "ib0 is up, but has no carrier (LOWERLAYERDOWN)");
    advises(&l, "ip link set ib0 down; ip link set ib0 up;");
}

/* The command names the interface, and a child's parent that is down. */
static void interfaces_that_are_down_fail(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    host.interfaces = 0;
    host.other = "ib3.8001";
    set_file("/sys/class/net/ib3.8001/flags", "0x1002\n");
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_FAIL, "ib3.8001 is down");
    assert_string_equal(l.advice, "ip link set ib3.8001 up");
    host.parent = "ib3";
    set_file("/sys/class/net/ib3/flags", "0x1003\n");
    l = look("fabric.interface", NO_FAULT, false);
    assert_string_equal(l.advice, "ip link set ib3.8001 up");
    set_file("/sys/class/net/ib3/flags", "0x1002\n");
    l = look("fabric.interface", NO_FAULT, false);
    assert_string_equal(l.advice, "ip link set ib3 up; ip link set ib3.8001 up");
}

/* Who names a port with -d may do without an interface. */
static void absent_interface_fails_for_the_default_port(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    host.interfaces = 0;
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_FAIL, "no IPoIB interface on fake0 port 1 for partition 0xffff");
    advises(&l, "modprobe ib_ipoib; dmesg");
    set_file("/sys/module/ib_ipoib/parameters/send_queue_size", "128\n");
    l = look("fabric.interface", NO_FAULT, false);
    advises(&l, "dmesg | grep -i ipoib; or it is in another network namespace");
    host.parent = "ib3";
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_FAIL, "no IPoIB interface on fake0 port 1");
    advises(&l, "ip link add link ib3 name ib3.ffff type ipoib pkey 0xffff");
    host.named = "fake0";
    l = look("fabric.interface", NO_FAULT, false);
    check(&l, OUTCOME_NOTED, "no IPoIB interface on fake0 port 1");
}

static struct looked look_at_mode(const char *mode, const char *mtu, enum fault fault)
{
    clear_host();
    set_file("/sys/class/net/ib0/mode", mode);
    set_file("/sys/class/net/ib0/mtu", mtu);
    return look("fabric.mode", fault, false);
}

/*
 * RFC 4391 §7: the MTU of the link. A smaller one works. A larger one does not: the datagrams are
 * too large for the group. RFC 4755 §5: a connection may have a larger one.
 */
static void mtu_is_compared_with_the_link(void **state)
{
    struct looked l;
    (void)state;
    l = look_at_mode("datagram\n", "2044\n", NO_FAULT);
    check(&l, OUTCOME_PASS, "datagram mode, MTU 2044 bytes, the link's");
    l = look_at_mode("datagram\n", "2045\n", NO_FAULT);
    check(&l, OUTCOME_FAIL, "datagram mode, MTU 2045 bytes; the link's is 2044");
    advises(&l, "ip link set ib0 mtu 2044;");
    l = look_at_mode("datagram\n", "1500\n", NO_FAULT);
    check(&l, OUTCOME_NOTED, "datagram mode, MTU 1500 bytes; the link's is 2044");
    l = look_at_mode("connected\n", "65520\n", NO_FAULT);
    check(&l, OUTCOME_NOTED, "connected mode, MTU 65520 bytes; over UD and to groups 2044: larger");
    l = look_at_mode("datagram\n", "2044\n", UNKNOWN_MTU);
    check(&l, OUTCOME_INCONCLUSIVE, "the link's is not known");
    host.interfaces = 0;
    l = look("fabric.mode", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "no interface");
}

/* The kernel uses the larger value of "all" and of the interface (ip-sysctl). */
static void several_interfaces_need_both_arp_settings(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    l = look("fabric.own-flux", NO_FAULT, false);
    check(&l, OUTCOME_PASS, "one interface on the link");
    host.interfaces = 2;
    l = look("fabric.own-flux", NO_FAULT, false);
    check(&l, OUTCOME_NOTED, "2 interfaces may be on this link");
    assert_string_equal(
        l.advice, "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2");
    set_file("/proc/sys/net/ipv4/conf/all/arp_ignore", "1\n");
    l = look("fabric.own-flux", NO_FAULT, false);
    check(&l, OUTCOME_NOTED, "2 interfaces may be on this link");
    set_file("/proc/sys/net/ipv4/conf/ib0/arp_announce", "2\n");
    l = look("fabric.own-flux", NO_FAULT, false);
    check(&l, OUTCOME_PASS, "each answers for its own address");
    host.interfaces = 0;
    l = look("fabric.own-flux", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "no interface");
}

/* ---- the host's addresses: ib0 has 10.0.0.5 */

static void own_addresses_are_asked_for(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    l = look("fabric.own-addresses", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "no interface of this host that is up there has an address");
    host_has_own = true;
    l = look("fabric.own-addresses", NO_FAULT, false);
    check(&l, OUTCOME_PASS, "no other port announces an address of this host: 1 asked for");
    host.taken = true;
    l = look("fabric.own-addresses", NO_FAULT, false);
    check(&l, OUTCOME_FAIL, "10.0.0.5 (ib0) is announced by 00:00:00:48:");
    check(&l, OUTCOME_FAIL, "GID fe80::2:c903:0:1895, LID 7) too");
    host.answers = true; /* the reply is this host's own */
    l = look("fabric.own-addresses", NO_FAULT, false);
    check(&l, OUTCOME_PASS, "no other port announces");
    host.interfaces = 0;
    l = look("fabric.own-addresses", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "no interface of this host is up there");
    host_has_own = false;
}

/* ---- the neighbours */

/* Adds 10.0.0.last to the host's table, at that QPN and at the peer's GID with that last byte. */
static void add_neighbour(uint8_t last, uint8_t qpn, uint8_t gid)
{
    struct host_neighbour *n = &host.neighbours[host.n++];
    const uint8_t lladdr[LLADDR_SIZE] = {0,    0,    0,    qpn, 0xfe, 0x80, [12] = 0x00,
                                         0x02, 0xc9, 0x03, 0,   0,    0x18, gid};
    *n = (struct host_neighbour){.ip = {10, 0, 0, last}};
    memcpy(n->lladdr, lladdr, LLADDR_SIZE);
}

static struct looked look_at_neighbour(uint8_t last, uint8_t qpn, uint8_t gid, enum fault fault)
{
    clear_host();
    add_neighbour(last, qpn, gid);
    return look("fabric.neighbours", fault, false);
}

static void neighbours_that_have_not_moved_pass(void **state)
{
    struct looked l;
    (void)state;
    l = look_at_neighbour(2, 0x48, 0x95, NO_FAULT);
    check(&l, OUTCOME_PASS, "1 neighbours: 1 reply from the address in the table; 0 do not");
    l = look_at_neighbour(9, 0x48, 0x95, NO_FAULT); /* 10.0.0.9 is switched off */
    check(&l, OUTCOME_PASS, "1 neighbours: 0 reply from the address in the table; 1 do not");
}

static void neighbours_that_have_moved_fail(void **state)
{
    struct looked l;
    (void)state;
    l = look_at_neighbour(2, 0x4d, 0x95, NO_FAULT); /* its interface was restarted */
    check(&l, OUTCOME_FAIL, "1 of 1 neighbours");
    check(&l, OUTCOME_FAIL, "the neighbour table has 10.0.0.2 at");
    l = look_at_neighbour(2, 0x48, 0x33,
                          NO_FAULT); /* it moved; the SA has no path to the old port */
    check(&l, OUTCOME_FAIL,
          "1 of 1 neighbours are not where the neighbour table has them, reply twice or have no "
          "path: 10.0.0.2 moved "
          "from port fe80::2:c903:0:1833 to port fe80::2:c903:0:1895");
    assert_null(strstr(l.text, "the SA's path"));
    advises(&l, "ip neigh flush dev ib0");
    l = look_at_neighbour(9, 0x48, 0x33, NO_FAULT); /* the port is gone */
    check(&l, OUTCOME_FAIL,
          "the neighbour table has 10.0.0.9 at GID fe80::2:c903:0:1833, to which the SA");
    l = look_at_neighbour(2, 0x48, 0x95, WRONG_PATH);
    check(&l, OUTCOME_FAIL, "the SA's path to 10.0.0.2 leads to LID 11, and it replies from LID 7");
}

/* A neighbour with several faults counts once. */
static void each_neighbour_counts_once(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    add_neighbour(2, 0x4d, 0x95);
    l = look("fabric.neighbours", WRONG_PATH, false);
    check(&l, OUTCOME_FAIL, "1 of 1 neighbours");
    check(&l, OUTCOME_FAIL, "the neighbour table has 10.0.0.2 at");
    check(&l, OUTCOME_FAIL, ", and the SA's path to 10.0.0.2 leads to LID 11");
    l = look("fabric.neighbours", NO_FAULT, true);
    check(&l, OUTCOME_FAIL, "1 of 1 neighbours");
    check(&l, OUTCOME_FAIL, ", and two link-layer addresses claim 10.0.0.2");
}

/* An SA that does not return the path leaves the stage without a result. */
static void paths_that_are_not_known_are_no_pass(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    add_neighbour(2, 0x48, 0x95);
    host.silent = true;
    l = look("fabric.neighbours", NO_FAULT, false);
    check(&l, OUTCOME_INCONCLUSIVE,
          "1 neighbours; of 1 the SA does not say whether there is a path: the SA did not answer");
}

static void two_stations_with_one_address_fail(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    add_neighbour(2, 0x48, 0x95);
    l = look("fabric.neighbours", NO_FAULT, true);
    check(&l, OUTCOME_FAIL, "two link-layer addresses claim 10.0.0.2");
    advises(&l, "arp_ignore"); /* no table is wrong */
}

/* At most 32 neighbours are probed, and at most 5 wrong entries are described. */
static void long_tables_are_limited(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    for (uint8_t i = 0; i < NEIGHBOURS; i++)
        add_neighbour((uint8_t)(100 + i), 0x48, 0x33);
    gint64 begin = g_get_monotonic_time();
    host.timeout_ms = 100;
    l = look("fabric.neighbours", NO_FAULT, false);
    /* three waits, and not three for each neighbour */
    assert_in_range(g_get_monotonic_time() - begin, 300000, 499999);
    check(&l, OUTCOME_FAIL, "32 of 32 neighbours");
    check(&l, OUTCOME_FAIL, "the neighbour table has 10.0.0.104");
    check(&l, OUTCOME_FAIL, "; and more");
    assert_null(strstr(l.text, "10.0.0.105"));
}

static void a_table_that_is_not_listed_is_no_empty_one(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    l = look("fabric.neighbours", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "has no neighbour there");
    host.no_table = true;
    l = look("fabric.neighbours", NO_FAULT, false);
    check(&l, OUTCOME_INCONCLUSIVE, "the kernel does not list its neighbours");
    host.interfaces = 0;
    l = look("fabric.neighbours", NO_FAULT, false);
    check(&l, VERDICT_SKIPPED, "no interface of this host is up there");
}

/* ---- why a peer does not reply */

/* The cause for 10.0.0.2, with a peer with that fault. */
static struct looked why_with(enum fault fault, uint32_t pkeys, uint32_t qkeys)
{
    struct options options = {.rate = 1000, .timeout_ms = 1};
    struct checked checked = {.name = (char *)"10.0.0.2", .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct fake fake;
    struct looked l;
    fake_begin(&fake, target, fault, true);
    memcpy(target->ip, peer_ip, 4);
    g_strlcpy(target->name, "10.0.0.2", sizeof target->name);
    fake.network.loses_half = host.loses_half;
    fake.pkey_violations = fake.qkey_violations = 7; /* of an earlier time */
    why_begin(target);
    fake.pkey_violations += pkeys;
    fake.qkey_violations += qkeys;
    g_free(why_no_reply(target, NULL));
    fake_end(target);
    assert_int_equal(checked.stages->len, 1);
    const struct stage *s = checked.stages->pdata[0];
    l.outcome = s->outcome;
    g_strlcpy(l.text, s->text, sizeof l.text);
    g_strlcpy(l.advice, s->advice, sizeof l.advice);
    probe_fixture_forget(&checked);
    return l;
}

static struct looked why_of(enum fault fault)
{
    return why_with(fault, 0, 0);
}

/* Three requests: less than three such packets may be of anybody. */
static void replies_with_a_wrong_key(void **state)
{
    struct looked l;
    (void)state;
    clear_host();
    l = why_with(IS_ABSENT, 3, 0);
    check(
        &l, OUTCOME_INCONCLUSIVE,
        "replies arrive with a wrong key: fake0 port 1 dropped 3 packets with a P_Key that it does");
    l = why_with(IS_ABSENT, 0, 4);
    check(&l, OUTCOME_INCONCLUSIVE, "dropped 4 packets with a wrong Q_Key");
    advises(&l, "down and up");
    l = why_with(IS_ABSENT, 2, 2);
    check(&l, OUTCOME_INCONCLUSIVE, "no such host, or it is off: ");
}

static void one_cause_and_a_command(void **state)
{
    static const struct {
        uint8_t qpn, gid; /* of the neighbour entry; 0: there is none */
        enum fault fault;
        const char *text, *advice;
    } all[] = {
        {PEER_QPN, 0x95, DEAF_TO_GROUP,
         "packets to the group do not reach the peer: fe80::2:c903:0:1895 (LID 7)",
         "MLID 0xc000 must lead to LID 7"},
        {PEER_QPN, 0x95, IS_ABSENT,
         "no packet comes back from the peer's port: ", "ibtracert -C fake0 -P 1 3 7"},
        {PEER_QPN, 0x77, IS_ABSENT,
         "the peer's port is gone: the SA has no port with the GID fe80::2:c903:0:1877",
         "ip neigh del 10.0.0.2 dev ib0"},
        {0, 0, IS_ABSENT, "no such host, or it is off: ", "check the address"},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        clear_host();
        if (all[i].qpn)
            add_neighbour(2, all[i].qpn, all[i].gid);
        struct looked l = why_of(all[i].fault);
        check(&l, OUTCOME_INCONCLUSIVE, all[i].text);
        advises(&l, all[i].advice);
    }
}

/* A peer that answers half of what is sent to its queue pair loses packets, not its group. */
static void losses_are_no_lost_group(void **state)
{
    (void)state;
    clear_host();
    host.loses_half = true;
    add_neighbour(2, PEER_QPN, 0x95);
    struct looked l = why_of(DEAF_TO_GROUP);
    check(&l, OUTCOME_INCONCLUSIVE, "packets are lost: it answers some of 12 requests");
    advises(&l, "perfquery -C fake0 -P 1 7");
}

/* 1.3 s for all questions together (design: a cause within 3 s, after three requests of 500 ms). */
static void all_questions_share_one_wait(void **state)
{
    (void)state;
    clear_host();
    add_neighbour(2, PEER_QPN, 0x95);
    add_neighbour(3, 0x48, 0x33);
    add_neighbour(4, 0x48, 0x34);
    gint64 begin = g_get_monotonic_time();
    struct looked l = why_of(IS_ABSENT);
    assert_in_range(g_get_monotonic_time() - begin, 1300000, 1400000);
    check(&l, OUTCOME_INCONCLUSIVE,
          "this host reaches nobody on the link: 2 other neighbours were asked, and none replies");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_questions_share_one_wait),
        cmocka_unit_test(carrier_decides_about_the_interface),
        cmocka_unit_test(interfaces_that_are_down_fail),
        cmocka_unit_test(absent_interface_fails_for_the_default_port),
        cmocka_unit_test(mtu_is_compared_with_the_link),
        cmocka_unit_test(several_interfaces_need_both_arp_settings),
        cmocka_unit_test(own_addresses_are_asked_for),
        cmocka_unit_test(neighbours_that_have_not_moved_pass),
        cmocka_unit_test(neighbours_that_have_moved_fail),
        cmocka_unit_test(each_neighbour_counts_once),
        cmocka_unit_test(paths_that_are_not_known_are_no_pass),
        cmocka_unit_test(two_stations_with_one_address_fail),
        cmocka_unit_test(known_faults_are_recognised),
        cmocka_unit_test(known_faults_of_virtual_functions),
        cmocka_unit_test(an_sm_that_does_not_know_ndr),
        cmocka_unit_test(long_tables_are_limited),
        cmocka_unit_test(one_cause_and_a_command),
        cmocka_unit_test(replies_with_a_wrong_key),
        cmocka_unit_test(losses_are_no_lost_group),
        cmocka_unit_test(a_table_that_is_not_listed_is_no_empty_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
