/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every table has a limit, here a small one. A table that is full says so to model/undone.h, keeps
 * what it has, and does not hide packets. tests/judge/test_undone.py fills tables at their real
 * limits.
 */
#include "model/fabric_state.h" /* before cmocka, which has macros of the same names as rules/report.h */
#include "model/observe.h"
#include "rules/checker.h"
#include "rules/claims/claim.h"
#include "tests/support/craft.h"
#include "wire/icrc.h"

#include "tests/unit/unit.h"

enum { LIMIT = 4, FIRST = 100, ENTRIES = 10 };

static struct undone undone;

/* Enters 10 different entries from frame 100 on, by enter(); the table has room for `room`. */
static void assert_refuses(enum undone_table table, unsigned room, void (*enter)(uint32_t i))
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        undone.frame = FIRST + i;
        enter(i);
    }
    for (unsigned t = 0; t < UNDONE_TABLES; t++)
        assert_int_equal(undone.tables[t].refused, t == table ? ENTRIES - room : 0);
    assert_int_equal(undone.tables[table].frame, FIRST + room);
    assert_non_null(strstr(undone_why(&undone, UINT32_MAX), undone_texts[table].words));
    memset(&undone, 0, sizeof undone);
}

/* ---- ports, groups, members, routes */

static struct endports *ports;
static struct groups *groups;

static void enter_port(uint32_t i)
{
    uint8_t gid[GID_SIZE];
    craft_gid(gid, i);
    bool stored = endports_learn(ports, 0, (uint16_t)(i + 1), gid) != NULL;
    assert_int_equal(stored, i < LIMIT);
    endports_get_by_gid(ports, 0, gid, true); /* in the same frame: the same entry */
    endports_get_by_lid(ports, 0, 1, true);   /* known */
}

static void ports_are_refused(void **state)
{
    (void)state;
    ports = endports_new(LIMIT, &undone);
    assert_refuses(UNDONE_ENDPORTS, LIMIT, enter_port);
    endports_free(ports);
}

static struct group *group_number(uint32_t i)
{
    uint8_t mgid[MGID_SIZE];
    craft_mgid(mgid, 0x12, 0xffff, i);
    return groups_get(groups, 0, mgid, true);
}

static void enter_group(uint32_t i)
{
    assert_int_equal(group_number(i) != NULL, i < LIMIT);
    assert_non_null(group_number(0));
}

static void groups_are_refused(void **state)
{
    (void)state;
    groups = groups_new(LIMIT, &undone);
    assert_refuses(UNDONE_GROUPS, LIMIT, enter_group);
    groups_free(groups);
}

static void enter_member(uint32_t i)
{
    uint8_t gid[GID_SIZE];
    craft_gid(gid, i);
    struct endport *p = endports_get_by_gid(ports, 0, gid, true);
    assert_int_equal(groups_get_member(groups, group_number(0), p, true) != NULL, i < 4);
}

static void members_are_refused(void **state)
{
    (void)state;
    ports = endports_new(ENTRIES, &undone);
    groups = groups_new(1, &undone); /* four times as many members */
    assert_refuses(UNDONE_MEMBERS, 4, enter_member);
    groups_free(groups);
    endports_free(ports);
}

static struct subnet *subnet;

static void enter_route(uint32_t i)
{
    struct port anybody = port_lid(0, LID_PERMISSIVE);
    uint8_t *mad = craft_mad(LID_PERMISSIVE, LID_PERMISSIVE, MAD_CLASS_SMP_DIRECTED, SMP_GET_RESP,
                             SMP_NODE_INFO, i);
    struct mad_payload payload;
    craft_port_data(mad, SMP_NODE_INFO, i, 0);
    craft_route(mad, i);
    mad_payload_decode(view_make(mad, MAD_SIZE, MAD_SIZE), &payload);
    subnet_mad(subnet, undone.frame, &payload, &anybody, &anybody, NULL, NULL);
}

static void routes_are_refused(void **state)
{
    (void)state;
    ports = endports_new(ENTRIES, &undone);
    groups = groups_new(ENTRIES, &undone);
    subnet = subnet_new(groups, ports, LIMIT, &undone);
    assert_refuses(UNDONE_ROUTES, LIMIT, enter_route);
    subnet_free(subnet);
    groups_free(groups);
    endports_free(ports);
}

/* ---- addresses and queue pairs */

static struct neighbours *neighbours;

static void enter_neighbour(uint32_t i)
{
    uint8_t lladdr[LLADDR_SIZE], gid[GID_SIZE], bytes[4];
    craft_gid(gid, i);
    craft_lladdr(lladdr, 0, 0x48, gid);
    put32(bytes, 0x0a000000 + i);
    struct ip ip = ip_read(bytes, sizeof bytes);
    neighbours_seen(neighbours, 1, &ip, lladdr, undone.frame, 1, 0);
}

static void addresses_are_refused(void **state)
{
    (void)state;
    neighbours = neighbours_new(LIMIT, &undone);
    assert_refuses(UNDONE_NEIGHBOURS, LIMIT, enter_neighbour);
    assert_int_equal(neighbours_count(neighbours), LIMIT);
    neighbours_free(neighbours);
}

static struct qpns *qpns;

static void enter_qp(uint32_t i)
{
    struct port p = port_lid(0, 1);
    assert_int_equal(qpns_learn(qpns, &p, i) != NULL, i < LIMIT);
    assert_non_null(qpns_learn(qpns, &p, 0));
}

static void enter_link_key(uint32_t i)
{
    struct ib_packet ib = {.pkey = 0xffff, .qkey = i}, limited = {.pkey = 0x7fff, .qkey = i};
    qpns_learn_link_key(qpns, 0, &ib);
    assert_int_equal(qpns_has_link_key(qpns, 0, &limited), i < LIMIT);
    assert_false(qpns_has_link_key(qpns, 1, &ib));
}

static void queue_pairs_and_keys_are_refused(void **state)
{
    (void)state;
    qpns = qpns_new(LIMIT, &undone);
    assert_refuses(UNDONE_QPS, LIMIT, enter_qp);
    assert_refuses(UNDONE_LINK_KEYS, LIMIT, enter_link_key);
    qpns_merge(qpns, 0, 1);
    assert_true(qpns_has_link_key(qpns, 1, &(struct ib_packet){.pkey = 0xffff, .qkey = 1}));
    qpns_free(qpns);
}

static struct stale_uses *stale;

static void enter_stale_use(uint32_t i)
{
    const struct stale_use u = {.link = 1, .lid = (uint16_t)i, .taken_frame = 7};
    stale_used(stale, &u);
    assert_int_equal(stale_use_of(stale, &u) != NULL, i < LIMIT);
}

static void uses_of_previous_addresses_are_refused(void **state)
{
    (void)state;
    const struct stale_use moved = {.link = 3u << 16 | 1, .lid = 1, .taken_frame = 7};
    stale = stale_new(LIMIT, &undone);
    assert_refuses(UNDONE_STALE_USES, LIMIT, enter_stale_use);
    stale_merge(stale, 0, 3);
    assert_non_null(stale_use_of(stale, &moved));
    stale_free(stale);
}

/* ---- connections */

static struct connections *connections;

static void enter_connection(uint32_t i)
{
    struct port a = port_lid(0, 1), b = port_lid(0, 2);
    struct mad_payload m = {.kind = MAD_KIND_CM,
                            .result = WIRE_OK,
                            .private_result = WIRE_MALFORMED,
                            .cm = {.message = CM_REQ, .local_comm_id = i, .qpn = 0x100 + i}};
    struct connection *c = connections_message(connections, undone.frame, 0, &m, &a, &b);
    assert_int_equal(c != NULL, i < LIMIT);
}

static void enter_flow(uint32_t i)
{
    struct port p = port_lid(0, 3);
    assert_int_equal(connections_flow(connections, &p, i, true) != NULL, i < 4);
}

static void connections_and_flows_are_refused(void **state)
{
    (void)state;
    ports = endports_new(ENTRIES, &undone);
    connections = connections_new(LIMIT, ports, NULL, &undone);
    assert_refuses(UNDONE_CONNECTIONS, LIMIT, enter_connection);
    connections_free(connections);
    connections = connections_new(1, ports, NULL, &undone); /* four times as many flows */
    assert_refuses(UNDONE_FLOWS, 4, enter_flow);
    connections_free(connections);
    endports_free(ports);
}

static struct stream streams[ENTRIES];
static struct stream_store store;

/* The First of a refused message is still IPoIB; what follows it is not recognised. */
static void enter_stream(uint32_t i)
{
    struct stream_result r = stream_packet(&streams[i], &store, IB_FIRST, 0, 256, true);
    assert_int_equal(r.state, STREAM_FRAGMENT);
    assert_true(r.ipoib);
    assert_int_equal(r.number != 0, i < 1);
    r = stream_packet(&streams[i], &store, IB_MIDDLE, 1, 256, false);
    assert_int_equal(r.state, i < 1 ? STREAM_FRAGMENT : STREAM_ORPHAN);
}

static void enter_run(uint32_t i)
{
    stream_packet(&streams[0], &store, IB_MIDDLE, 100 + 2 * i, 256, false);
}

/* Messages of other protocols are not counted: nothing is judged in them. */
static void messages_and_their_gaps_are_refused(void **state)
{
    (void)state;
    store = (struct stream_store){.less = 18, .undone = &undone}; /* 1 stream, 4 runs */
    assert_refuses(UNDONE_STREAMS, 1, enter_stream);
    assert_refuses(UNDONE_STREAM_RUNS, 4, enter_run);
    stream_clear(&streams[0]);
    stream_packet(&streams[0], &store, IB_FIRST, 0, 256, false);
    stream_packet(&streams[1], &store, IB_FIRST, 0, 256, false);
    for (uint32_t i = 0; i < ENTRIES; i++)
        enter_run(i);
    assert_false(undone_any(&undone));
    stream_clear(&streams[0]);
}

/* ---- CRCs */

static struct sources *sources;
static uint8_t crc_packet[LRH_SIZE + BTH_SIZE + ICRC_SIZE];

static struct crcs_count see_source(uint32_t i, bool right)
{
    struct view v = view_make(crc_packet, sizeof crc_packet, sizeof crc_packet);
    struct ib_packet ib = {.has_lrh = true,
                           .has_bth = true,
                           .bth_off = LRH_SIZE,
                           .slid = (uint16_t)(i + 1),
                           .length = sizeof crc_packet};
    memset(crc_packet + LRH_SIZE + BTH_SIZE, 0x55, ICRC_SIZE);
    uint32_t icrc = icrc_of(v, &ib);
    for (unsigned b = 0; b < ICRC_SIZE; b++)
        crc_packet[LRH_SIZE + BTH_SIZE + b] = (uint8_t)(icrc >> 8 * b) ^ (right ? 0 : 0x55);
    return sources_see(sources, 0, v, &ib);
}

static void enter_source(uint32_t i)
{
    see_source(i, i == 0);
}

/* Once a port has sent a right ICRC, a wrong one of a port without an entry counts too. */
static void sources_of_crcs_are_refused(void **state)
{
    (void)state;
    sources = sources_new(LIMIT + 1, &undone); /* one entry is the interface's */
    assert_refuses(UNDONE_SOURCES, LIMIT, enter_source);
    assert_true(see_source(ENTRIES, false).icrc);
    sources_free(sources);
    memset(&undone, 0, sizeof undone);
}

/* ---- capture interfaces */

static struct interfaces *interfaces;

static uint16_t interface_number(uint32_t i)
{
    uint16_t n = 0;
    interfaces_enter(interfaces, (struct capture_interface){i, 0, 0}, &n);
    return n;
}

static void enter_pair(uint32_t i)
{
    interfaces_part(interfaces, interface_number(2 * i), interface_number(2 * i + 1));
}

static void pairs_of_interfaces_are_refused(void **state)
{
    enum { PAIRS = 64 };
    uint16_t from, to;
    (void)state;
    interfaces = interfaces_new(INTERFACES_AUTO, INTERFACES_MAX, &undone);
    for (uint32_t i = ENTRIES; i < ENTRIES + PAIRS - LIMIT; i++)
        enter_pair(i);
    assert_refuses(UNDONE_APART, LIMIT, enter_pair);
    undone.frame = FIRST;
    assert_false(
        interfaces_join(interfaces, interface_number(1000), interface_number(1001), &from, &to));
    assert_int_equal(undone.tables[UNDONE_APART].refused, 1);
    memset(&undone, 0, sizeof undone);
    interfaces_free(interfaces);
}

/* ---- transactions */

static struct reversals reversals;
static struct order order;

static void send_mad(uint32_t tid, bool response, int64_t ns)
{
    struct mad_payload m = {
        .has_header = true,
        .kind = MAD_KIND_SA,
        .mad = {.tid = tid, .class = MAD_CLASS_SA, .method = response ? SA_GET_RESP : SA_GET}};
    struct port a = port_lid(0, 1), b = port_lid(0, 2);
    order_note(&order, ++undone.frame, 0, 0, ns);
    reversals_see(&reversals, &m, tid, response ? b : a, response ? a : b, &order);
}

/* Responses whose requests may follow: more than the list keeps, within a second or in a day. */
static void send_responses(unsigned seconds_apart)
{
    memset(&undone, 0, sizeof undone);
    memset(&order, 0, sizeof order);
    reversals = (struct reversals){.undone = &undone};
    for (uint32_t i = 0; i < REVERSALS_WAITING + 4 * REVERSALS; i++)
        send_mad(i, true, INT64_C(1000000000) * seconds_apart * i);
}

static void responses_that_wait_for_their_requests_are_refused(void **state)
{
    (void)state;
    send_responses(0);
    assert_true(undone.tables[UNDONE_TRANSACTIONS].refused >= 2 * REVERSALS);
    assert_true(undone.tables[UNDONE_TRANSACTIONS].frame > REVERSALS_WAITING);
    assert_false(order_is_reversed(&order));
    send_mad(REVERSALS_WAITING, false, 0); /* the request of a response that still waits */
    assert_true(order_is_reversed(&order));
    reversals_clear(&reversals);
    send_responses(1); /* nobody waits for so long */
    assert_int_equal(undone.tables[UNDONE_TRANSACTIONS].refused, 0);
    reversals_clear(&reversals);
    memset(&undone, 0, sizeof undone);
}

/* ---- findings */

static struct check_context context;

static void ignore(void *user, const struct finding *f)
{
    (void)user;
    (void)f;
}

static void enter_finding(uint32_t i)
{
    static const struct endport port = {.lid = 1};
    const struct certainty when = {.when = FACT_AT_REQUEST, .port = &port};
    const struct result result = {
        .rule = R_RFC4391_7_LINK_MTU, .about = entity_link(0xffff), .value = i};
    claims_add(&context, &result, &when, "this", "that");
}

static void waiting_findings_are_refused(void **state)
{
    enum { WAITING = 256 };
    struct packet packet = {.at = {.frame = FIRST}};
    struct events events = {0};
    const struct reporter reporter = {.report = ignore};
    struct fabric *fabric = fabric_new();
    (void)state;
    context = (struct check_context){.r = &reporter,
                                     .f = fabric_facts(fabric),
                                     .p = &packet,
                                     .e = &events,
                                     .claims = claims_new(&undone)};
    for (uint32_t i = ENTRIES; i < ENTRIES + WAITING - LIMIT; i++)
        enter_finding(i);
    assert_refuses(UNDONE_WAITING, LIMIT, enter_finding);
    claims_free(context.claims);
    fabric_free(fabric);
}

/* The cache grows before it refuses: half a million entities. */
static void findings_that_are_reported_once_are_refused(void **state)
{
    enum { ROOM = 8 << 16 };
    (void)state;
    struct reported *cache = reported_new(&undone);
    const struct reporter r = {.report = ignore, .reported = cache};
    for (uint32_t i = 0; i < 50000; i++) {
        struct entity about = entity_connection(i);
        assert_true(is_new(&r, R_RFC4391_7_LINK_MTU, &about, 1));
    }
    for (uint32_t i = 0; i < 50000; i++) {
        struct entity about = entity_connection(i);
        assert_false(is_new(&r, R_RFC4391_7_LINK_MTU, &about, 1));
    }
    assert_false(undone_any(&undone));
    for (uint32_t i = 0; i <= ROOM; i++) {
        struct entity about = entity_connection(i);
        undone.frame = i + 1;
        is_new(&r, R_RFC4391_7_LINK_MTU, &about, 1);
    }
    assert_true(undone.tables[UNDONE_REPORTED].refused > 0);
    assert_null(undone_verdict(&undone)); /* nothing is missing */
    reported_free(cache);
    memset(&undone, 0, sizeof undone);
}

/* ---- packets are classified without any table */

static struct events *events;

static enum payload_class observe(struct fabric *fabric, const uint8_t *bytes, uint32_t n,
                                  uint16_t interface)
{
    static uint32_t frame;
    struct capture_position at = {.frame = ++frame, .interface = interface};
    struct port none = {0};
    struct packet p;
    packet_read(&p, &at, view_make(bytes, n, n), IB_START_LRH, &none, &none);
    fabric_observe(fabric, &p, events);
    return p.classification.class;
}

/* A packet of a connection with an IPv6 header. Its CRCs are 0: there are none. */
static enum payload_class observe_connected(struct fabric *fabric, uint8_t opcode, uint32_t qpn,
                                            uint16_t interface)
{
    enum { N = LRH_SIZE + BTH_SIZE + 4 + 44 + 6 };
    uint8_t bytes[N] = {0, 2}, *bth = bytes + LRH_SIZE, *message = bth + BTH_SIZE;
    put16(bytes + 2, 2);
    put16(bytes + 4, (N - 2) / 4);
    put16(bytes + 6, 1);
    bth[0] = opcode;
    put16(bth + 2, 0xffff);
    put24(bth + 5, qpn);
    put16(message, 0x86dd);
    message[4] = 0x60;
    put16(message + 4 + 4, opcode == CRAFT_RC_ONLY ? 4 : 2000);
    return observe(fabric, bytes, N, interface);
}

static struct fabric *fabric_of(struct fabric_limits limits)
{
    events = events_new();
    return fabric_new_limited(&limits);
}

static void end_fabric(struct fabric *fabric)
{
    events_free(events);
    fabric_free(fabric);
}

static void connected_packets_are_classified_without_a_table(void **state)
{
    (void)state;
    struct fabric_limits limits = FABRIC_LIMITS;
    limits.connections = 0;
    struct fabric *fabric = fabric_of(limits);
    assert_int_equal(observe_connected(fabric, CRAFT_RC_ONLY, 5, 0), PAYLOAD_IPOIB);
    assert_int_equal(observe_connected(fabric, CRAFT_RC_FIRST, 5, 0), PAYLOAD_FRAGMENT);
    assert_int_equal(observe_connected(fabric, CRAFT_RC_MIDDLE, 5, 0), PAYLOAD_OTHER);
    assert_int_equal(fabric_facts(fabric)->undone->tables[UNDONE_FLOWS].refused, 2);
    end_fabric(fabric);
}

static void packets_of_too_many_interfaces_are_classified(void **state)
{
    (void)state;
    struct fabric_limits limits = FABRIC_LIMITS;
    limits.interfaces = 1;
    struct fabric *fabric = fabric_of(limits);
    uint16_t known = fabric_enter_interface(fabric, (struct capture_interface){3, 0, 0}),
             other = fabric_enter_interface(fabric, (struct capture_interface){4, 0, 0});
    assert_int_equal(known, 0);
    assert_int_equal(other, INTERFACE_NONE);
    assert_int_equal(observe_connected(fabric, CRAFT_RC_ONLY, 5, known), PAYLOAD_IPOIB);
    assert_false(undone_any(fabric_facts(fabric)->undone));
    assert_int_equal(observe_connected(fabric, CRAFT_RC_ONLY, 5, other), PAYLOAD_IPOIB);
    assert_int_equal(fabric_facts(fabric)->undone->tables[UNDONE_INTERFACES].refused, 1);
    end_fabric(fabric);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_refused),
        cmocka_unit_test(groups_are_refused),
        cmocka_unit_test(members_are_refused),
        cmocka_unit_test(routes_are_refused),
        cmocka_unit_test(addresses_are_refused),
        cmocka_unit_test(queue_pairs_and_keys_are_refused),
        cmocka_unit_test(uses_of_previous_addresses_are_refused),
        cmocka_unit_test(connections_and_flows_are_refused),
        cmocka_unit_test(messages_and_their_gaps_are_refused),
        cmocka_unit_test(sources_of_crcs_are_refused),
        cmocka_unit_test(pairs_of_interfaces_are_refused),
        cmocka_unit_test(responses_that_wait_for_their_requests_are_refused),
        cmocka_unit_test(waiting_findings_are_refused),
        cmocka_unit_test(findings_that_are_reported_once_are_refused),
        cmocka_unit_test(connected_packets_are_classified_without_a_table),
        cmocka_unit_test(packets_of_too_many_interfaces_are_classified),
    };
    return cmocka_run_group_tests_name("undone", tests, NULL, NULL);
}
