/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many bytes of memory the model takes for each thing that it stores, including tables and the
 * allocator's overhead: the growth of the heap over 10^5 of them, added as a capture adds them.
 * doc/performance.md states the limits.
 */
#include "tests/unit/unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/fabric_state.h"
#include "tests/support/craft.h"

enum { ENTRIES = 100000, LIMIT = 1 << 20 };

#if defined(__SANITIZE_ADDRESS__)
static const bool own_allocator = false;
#else
static const bool own_allocator = true;
#endif

/*
 * Allocated bytes, with the overhead of each allocation. Large allocations are mapped pages of
 * their own.
 */
static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/*
 * Bytes per thing since `before`: now, and the maximum from half of ENTRIES on. The maximum is
 * higher because tables grow by doubling.
 */
struct meter {
    size_t before, now, most;
};

static struct meter meter_start(void)
{
    return (struct meter){.before = in_use()};
}

static void meter_note(struct meter *m, unsigned n)
{
    if (n < ENTRIES / 2 || n % 1000 != 0)
        return;
    m->now = (in_use() - m->before + n - 1) / n;
    m->most = m->now > m->most ? m->now : m->most;
}

static void assert_bytes(const char *what, const struct meter *m, unsigned limit)
{
    if (!own_allocator) {
        printf("# %s: not measured, the sanitizer's allocator is another\n", what);
        return;
    }
    printf("# %s: %zu bytes, at most %zu while the tables grow; limit %u\n", what, m->now, m->most,
           limit);
    assert_true(m->now >= 1 && m->now <= limit);
    assert_true(m->most >= 1 && m->most <= limit);
}

static struct port port_at(uint16_t lid)
{
    return port_lid(0, lid);
}

/* ---- one test per thing */

static void a_neighbour(void **state)
{
    (void)state;
    struct meter m = meter_start();
    struct neighbours *n = neighbours_new(LIMIT, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint8_t lladdr[LLADDR_SIZE], gid[GID_SIZE], bytes[4];
        craft_gid(gid, i);
        craft_lladdr(lladdr, 0, 0x48, gid);
        put32(bytes, 0x0a000000 + i);
        struct ip ip = ip_read(bytes, sizeof bytes);
        neighbours_seen(n, 1, &ip, lladdr, i + 1, 1, 0);
        meter_note(&m, i + 1);
    }
    assert_int_equal(neighbours_count(n), ENTRIES);
    assert_bytes("a neighbour", &m, 160);
    neighbours_free(n);
}

struct administration {
    struct endports *ports;
    struct groups *groups;
    struct subnet *subnet;
};

static struct administration administration_new(void)
{
    struct administration a = {endports_new(LIMIT, NULL), groups_new(LIMIT, NULL), NULL};
    a.subnet = subnet_new(a.groups, a.ports, LIMIT, NULL);
    return a;
}

static void administration_free(struct administration *a)
{
    subnet_free(a->subnet);
    groups_free(a->groups);
    endports_free(a->ports);
}

static void deliver_mad(struct administration *a, uint32_t frame, const uint8_t *mad, uint16_t from,
                        uint16_t to)
{
    struct port src = port_at(from), dst = port_at(to);
    struct mad_payload m;
    mad_payload_decode(view_make(mad, MAD_SIZE, MAD_SIZE), &m);
    subnet_mad(a->subnet, frame, &m, &src, &dst, NULL, NULL);
}

/* The port with this number (and LID) joins the IPv4 group: request and response. */
static void join(struct administration *a, uint32_t frame, uint16_t port, uint32_t group)
{
    enum { SA_LID = 0xbfff };
    uint8_t mgid[MGID_SIZE], gid[GID_SIZE];
    craft_mgid(mgid, 0x12, 0xffff, group);
    craft_gid(gid, port);
    struct mc_member r = {.mgid = mgid,
                          .port_gid = gid,
                          .qkey = 0xb1b,
                          .mlid = 0xc001,
                          .pkey = 0xffff,
                          .mtu = 4,
                          .rate = 3,
                          .scope = 2,
                          .join_state = JOIN_FULL};
    uint8_t *mad = craft_mad(port, SA_LID, MAD_CLASS_SA, SA_SET, SA_MC_MEMBER_RECORD, frame);
    put32(mad + SA_COMPONENT_MASK + 4, MCM_HAS_MGID | MCM_HAS_PORT_GID | MCM_HAS_JOIN_STATE);
    craft_member_record(mad + SA_DATA, &r);
    deliver_mad(a, frame, mad, port, SA_LID);
    mad = craft_mad(SA_LID, port, MAD_CLASS_SA, SA_GET_RESP, SA_MC_MEMBER_RECORD, frame);
    craft_member_record(mad + SA_DATA, &r);
    deliver_mad(a, frame, mad, SA_LID, port);
}

static void a_group_with_a_member(void **state)
{
    (void)state;
    struct meter m = meter_start();
    struct administration a = administration_new();
    for (uint32_t i = 0; i < ENTRIES; i++) {
        join(&a, i + 1, 1, i);
        meter_note(&m, i + 1);
    }
    assert_int_equal(groups_count(a.groups), ENTRIES);
    assert_int_equal(groups_at(a.groups, ENTRIES - 1)->members, 1);
    assert_bytes("a group with one member", &m, 216);
    administration_free(&a);
}

static void a_membership(void **state)
{
    enum { GROUPS = 50, PORTS = ENTRIES / GROUPS };
    (void)state;
    struct administration a = administration_new();
    for (uint16_t port = 1; port <= PORTS; port++)
        join(&a, port, port, 0);
    struct meter m = meter_start();
    for (uint32_t group = 1; group <= GROUPS; group++)
        for (uint16_t port = 1; port <= PORTS; port++) {
            join(&a, group, port, group);
            meter_note(&m, (group - 1) * PORTS + port);
        }
    assert_int_equal(groups_at(a.groups, GROUPS)->members, PORTS);
    assert_bytes("a membership", &m, 92);
    administration_free(&a);
}

static struct connection *deliver_cm(struct connections *c, uint32_t frame, const struct cm *cm,
                                     struct view v, const struct port *src, const struct port *dst)
{
    struct mad_payload m = {.bytes = v, .kind = MAD_KIND_CM, .result = WIRE_OK, .cm = *cm};
    m.private_result = cm_private_decode(v, cm, &m.private);
    return connections_message(c, frame, frame > ORDER_FRAMES ? frame - ORDER_FRAMES : 0, &m, src,
                               dst);
}

static void a_connection_with_its_flows(void **state)
{
    enum { ENDPORTS = 100 };
    (void)state;
    struct endports *ports = endports_new(LIMIT, NULL);
    uint8_t gids[ENDPORTS][GID_SIZE], mad[MAD_SIZE] = {0};
    for (uint32_t i = 0; i < ENDPORTS; i++) {
        craft_gid(gids[i], i);
        endports_learn(ports, 0, (uint16_t)(i + 1), gids[i]);
    }
    struct meter m = meter_start();
    struct connections *c = connections_new(LIMIT, ports, NULL, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint32_t requester = i % ENDPORTS, asked = (i + 1) % ENDPORTS;
        struct port a = port_at((uint16_t)(requester + 1)), b = port_at((uint16_t)(asked + 1));
        struct view v = view_make(mad, sizeof mad, sizeof mad);
        struct cm req = {.message = CM_REQ,
                         .local_comm_id = i,
                         .qpn = 0x100000 + i,
                         .service_id = 0x0100000000000048,
                         .service = SERVICE_IPOIB_RFC,
                         .private_off = REQ_PRIVATE,
                         .local_gid = gids[requester],
                         .remote_gid = gids[asked],
                         .local_lid = (uint16_t)(requester + 1)};
        struct cm rep = {.message = CM_REP,
                         .local_comm_id = ~i,
                         .remote_comm_id = i,
                         .qpn = 0x200000 + i,
                         .private_off = REP_PRIVATE};
        struct cm rtu = {.message = CM_RTU, .local_comm_id = i, .remote_comm_id = ~i};
        assert_non_null(deliver_cm(c, i + 1, &req, v, &a, &b));
        deliver_cm(c, i + 1, &rep, v, &b, &a);
        deliver_cm(c, i + 1, &rtu, v, &a, &b);
        assert_non_null(connections_flow(c, &a, req.qpn, false));
        assert_non_null(connections_flow(c, &b, rep.qpn, false));
        meter_note(&m, i + 1);
    }
    assert_int_equal(connections_count(c), ENTRIES);
    assert_bytes("a connection with its two flows", &m, 340);
    connections_free(c);
    endports_free(ports);
}

/* messages: each flow has one message with a gap. */
static void measure_flows(const char *what, unsigned most, bool messages)
{
    struct endports *ports = endports_new(LIMIT, NULL);
    struct meter m = meter_start();
    struct connections *c = connections_new(LIMIT, ports, NULL, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct port p = port_at((uint16_t)(i % 1000 + 1));
        struct flow *f = connections_flow(c, &p, i, true);
        assert_non_null(f);
        if (messages) {
            stream_packet(&f->stream, connections_streams(c), IB_FIRST, 0, 256, true);
            stream_packet(&f->stream, connections_streams(c), IB_MIDDLE, 1000, 256, false);
        }
        meter_note(&m, i + 1);
    }
    assert_int_equal(connections_streams(c)->runs, messages ? ENTRIES : 0);
    assert_bytes(what, &m, most);
    connections_free(c);
    endports_free(ports);
}

static void a_flow_without_handshake(void **state)
{
    (void)state;
    measure_flows("a flow without handshake", 96, false);
}

static void a_flow_with_open_messages(void **state)
{
    (void)state;
    measure_flows("a flow with open messages", 416, true);
}

/* Packets after a gap, in eight messages per stream. */
static void packets_after_a_gap(void **state)
{
    enum { FLOWS = ENTRIES / STREAM_MESSAGES };
    (void)state;
    struct stream *s = calloc(FLOWS, sizeof *s);
    struct stream_store store = {0};
    for (uint32_t i = 0; i < FLOWS; i++)
        for (uint32_t k = 0; k < STREAM_MESSAGES; k++)
            stream_packet(&s[i], &store, IB_FIRST, 1000 * k, 256, true);
    struct meter m = meter_start();
    for (uint32_t i = 0; i < ENTRIES; i++) {
        stream_packet(&s[i % FLOWS], &store, IB_MIDDLE, 1000 * (i / FLOWS) + 500, 256, false);
        meter_note(&m, i + 1);
    }
    assert_int_equal(store.runs, ENTRIES);
    assert_bytes("packets after a gap", &m, 40);
    for (uint32_t i = 0; i < FLOWS; i++)
        stream_clear(&s[i]);
    assert_int_equal(store.streams + store.runs, 0);
    free(s);
}

static void an_endport(void **state)
{
    enum { INTERFACES = 4 };
    (void)state;
    struct meter m = meter_start();
    struct endports *ports = endports_new(LIMIT, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint8_t gid[GID_SIZE];
        craft_gid(gid, i);
        assert_non_null(
            endports_learn(ports, (uint16_t)(i % INTERFACES), (uint16_t)(1 + i / INTERFACES), gid));
        meter_note(&m, i + 1);
    }
    assert_bytes("an endport", &m, 224);
    endports_free(ports);
}

/*
 * What the subnet manager discovers: NodeInfo, PortInfo and the P_Key table, over a directed route.
 */
static void an_endport_with_route_and_pkeys(void **state)
{
    (void)state;
    enum { INTERFACES = 4 };
    struct meter m = meter_start();
    struct administration a = administration_new();
    static const uint16_t attributes[] = {SMP_NODE_INFO, SMP_PORT_INFO, SMP_PKEY_TABLE};
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct port anybody = port_lid((uint16_t)(i % INTERFACES), LID_PERMISSIVE);
        for (unsigned k = 0; k < 3; k++) {
            uint8_t *mad = craft_mad(LID_PERMISSIVE, LID_PERMISSIVE, MAD_CLASS_SMP_DIRECTED,
                                     SMP_GET_RESP, attributes[k], i);
            craft_port_data(mad, attributes[k], i, (uint16_t)(1 + i / INTERFACES));
            craft_route(mad, i);
            struct mad_payload payload;
            mad_payload_decode(view_make(mad, MAD_SIZE, MAD_SIZE), &payload);
            subnet_mad(a.subnet, i + 1, &payload, &anybody, &anybody, NULL, NULL);
        }
        meter_note(&m, i + 1);
    }
    struct endport *last = endports_get_by_lid(a.ports, 0, ENTRIES / INTERFACES, false);
    assert_non_null(last);
    assert_int_equal(endport_has_pkey(last, 0xffff), PKEY_IS_THERE);
    assert_bytes("an endport with its route and P_Key table", &m, 430);
    administration_free(&a);
}

static void a_known_qp(void **state)
{
    (void)state;
    struct meter m = meter_start();
    struct qpns *q = qpns_new(LIMIT, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct port p = port_at((uint16_t)(i % 1000 + 1));
        assert_non_null(qpns_learn(q, &p, i));
        meter_note(&m, i + 1);
    }
    assert_bytes("a known QP", &m, 100);
    qpns_free(q);
}

static void a_use_of_a_previous_address(void **state)
{
    (void)state;
    struct meter m = meter_start();
    struct stale_uses *s = stale_new(LIMIT, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        stale_used(s, &(struct stale_use){.link = 1, .qpn = i, .taken_frame = 7});
        meter_note(&m, i + 1);
    }
    assert_bytes("a use of a previous address", &m, 100);
    stale_free(s);
}

/* One source per LID and interface. The packets' ICRCs are wrong, so that all sources are tried. */
static void a_source_of_icrcs(void **state)
{
    enum { INTERFACES = 4, LENGTH = LRH_SIZE + BTH_SIZE + ICRC_SIZE };
    (void)state;
    uint8_t bytes[LENGTH] = {0};
    memset(bytes + LENGTH - ICRC_SIZE, 0x55, ICRC_SIZE);
    struct view v = view_make(bytes, LENGTH, LENGTH);
    struct ib_packet ib = {.has_lrh = true, .has_bth = true, .bth_off = LRH_SIZE, .length = LENGTH};
    struct meter m = meter_start();
    struct sources *s = sources_new(LIMIT, NULL);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        ib.slid = (uint16_t)(1 + i / INTERFACES);
        assert_false(sources_see(s, (uint16_t)(i % INTERFACES), v, &ib).icrc);
        meter_note(&m, i + 1);
    }
    assert_bytes("a source of ICRCs", &m, 48);
    sources_free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_neighbour),
        cmocka_unit_test(a_group_with_a_member),
        cmocka_unit_test(a_membership),
        cmocka_unit_test(a_connection_with_its_flows),
        cmocka_unit_test(a_flow_without_handshake),
        cmocka_unit_test(a_flow_with_open_messages),
        cmocka_unit_test(packets_after_a_gap),
        cmocka_unit_test(an_endport),
        cmocka_unit_test(an_endport_with_route_and_pkeys),
        cmocka_unit_test(a_known_qp),
        cmocka_unit_test(a_use_of_a_previous_address),
        cmocka_unit_test(a_source_of_icrcs),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
