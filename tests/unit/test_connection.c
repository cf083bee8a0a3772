/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe's checks of connections, against a simulated peer with connected mode. The peer
 * conforms to RFC 4755, or has one fault; then exactly the rules of that fault fail. It accepts the
 * RFC's Service-ID and replies over the connection on which the request arrived. Linux does
 * neither.
 */
#include "unit.h"

#include <string.h>

#include "probe/checks/checks.h"
#include "probe/link/cm_message.h"
#include "probe/exchange/connection.h"
#include "probe_fixture.h"
#include "probe/link/message.h"
#include "sa_answer.h"
#include "wire/put.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "probe/exchange/request.h"
#include "probe/link/groups.h"
#include "probe/link/hostif.h"
#include "probe/link/hostroute.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum {
    PEER_QPN = 0x48,
    PEER_LID = 7,
    OWN_QPN = 0x99,
    OWN_LID = 3,
    QUEUE = 64,
    PEER_MTU = 65524,
    CONNECTIONS = 4
};
enum { IP = ENCAP_SIZE, ICMP_AT = ENCAP_SIZE + 20 };
#define QKEY 0x80000b1bu

static const uint8_t peer_ip[4] = {10, 0, 0, 2}, own_ip[4] = {10, 0, 0, 77};
static const uint8_t peer_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x95};
static const uint8_t own_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96};

enum fault {
    NO_FAULT,
    AS_LINUX, /* its Service-ID, REJ without private data, all replies over UD */
    NO_SERVICE,
    NO_RC, /* announces RC and rejects it as unknown */
    WRONG_QPN,
    WRONG_QPN_IN_REJ,
    NO_QPN,
    NO_RECEIVE_MTU,
    NO_PRIVATE,
    RESERVED_SET,
    REFUSES_SECOND,
    RESOLUTION_OVER_CONNECTION,
    MULTICAST_OVER_CONNECTION,
    DROPS_IP,
    MINDS_RESERVED,
    TYPE_WRONG,
    IGNORES_SMALL_MTU,
    DIES_OF_LARGE,
    REQUESTS_ABOVE_420_LOST, /* on the path: such a message is not acknowledged */
    REPLIES_ABOVE_420_LOST,
    CUTS_SMALL,
    NO_UD_WITH_CONNECTION, /* no UD while a connection exists */
    NO_UD_AFTER_CONNECTION,
    CM_UNANSWERED,
    NO_PATH, /* on the probe's side: the REQ is not sent */
    DREQ_UNANSWERED,
    NO_PRIVILEGE, /* on the probe's side */
};

struct fake {
    struct transport base;
    enum fault fault;
    uint8_t flags;
    struct {
        struct ud_from from;
        uint8_t *bytes;
    } queue[QUEUE];
    unsigned first, n, up, asked, disconnected;
    bool was_up;
    uint32_t waiting; /* length of an echo reply that waits for address resolution; 0: none */
    uint8_t *reply;
    struct cm_connection *waiting_connection;
    bool knows_us;
    uint8_t grh[GRH_SIZE];
};

/* ---- what the peer sends */

static void push(struct fake *f, struct cm_connection *c, const uint8_t *bytes, uint32_t n,
                 bool multicast)
{
    assert_true(f->n < QUEUE);
    unsigned slot = (f->first + f->n++) % QUEUE;
    g_free(f->queue[slot].bytes);
    f->queue[slot].bytes = g_memdup2(bytes, n);
    f->queue[slot].from = (struct ud_from){.bytes = view_make(f->queue[slot].bytes, n, n),
                                           .grh = multicast && !c ? f->grh : NULL,
                                           .connection = c,
                                           .qpn = c ? c->peer_qpn : PEER_QPN,
                                           .lid = PEER_LID};
}

static void put_lladdr(const struct fake *f, uint8_t *p)
{
    p[0] = f->flags;
    put24(p + LLADDR_QPN, PEER_QPN);
    memcpy(p + LLADDR_GID, peer_gid, 16);
}

static void send_reply(struct fake *f)
{
    struct cm_connection *c = f->waiting_connection;
    /*
     * RFC 4755 §5.1: the connection MTU is the smaller Receive MTU less 4. A larger reply is sent
     * over UD in fragments; the first one is enough here.
     */
    uint32_t n = f->waiting;
    if (f->fault == AS_LINUX)
        c = NULL;
    if (c && n > connection_ip_mtu(c) + ENCAP_SIZE && f->fault != IGNORES_SMALL_MTU)
        c = NULL;
    if (!c && n > 2044 + ENCAP_SIZE) {
        put16(f->reply + IP + 6, 0x2000); /* more fragments */
        n = 2044 + ENCAP_SIZE;
    }
    if (c && f->fault == TYPE_WRONG)
        put16(f->reply + ENCAP_TYPE, TYPE_IPV6);
    if (f->fault != REPLIES_ABOVE_420_LOST || n <= 420 + ENCAP_SIZE)
        push(f, c, f->reply, n, false);
    f->waiting = 0;
}

/* ---- what the peer receives */

static struct cm_connection *open_connections[CONNECTIONS];

static struct cm_connection *any_connection(void)
{
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (open_connections[i])
            return open_connections[i];
    return NULL;
}

static void respond_arp(struct fake *f, struct cm_connection *c, const uint8_t *arp)
{
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    const uint8_t *sha = arp + ARP_SIZE_FIXED, *spa = sha + LLADDR_SIZE,
                  *tpa = spa + 4 + LLADDR_SIZE;
    put_lladdr(f, lladdr);
    if (be16(arp + ARP_OP) == ARP_REPLY) {
        f->knows_us = memcmp(spa, own_ip, 4) == 0 && be24(sha + LLADDR_QPN) == OWN_QPN;
        if (f->knows_us && f->waiting)
            send_reply(f);
        return;
    }
    if (memcmp(tpa, peer_ip, 4) != 0)
        return;
    struct arp_message m = {.op = ARP_REPLY, .sha = lladdr, .spa = peer_ip, .tha = sha, .tpa = spa};
    push(f, f->fault == RESOLUTION_OVER_CONNECTION ? c : NULL, out, message_arp(out, &m), false);
}

static void ask_who_we_are(struct fake *f, struct cm_connection *c)
{
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    put_lladdr(f, lladdr);
    struct arp_message m = {.op = ARP_REQUEST, .sha = lladdr, .spa = peer_ip, .tpa = own_ip};
    if (f->fault == MULTICAST_OVER_CONNECTION && c) {
        static const uint8_t group[4] = {224, 0, 0, 251};
        struct echo_message e = {0, 1, 1, peer_ip, group, 84};
        push(f, c, out, message_echo4(out, &e), false);
    }
    push(f, NULL, out, message_arp(out, &m), true);
}

/* RFC 1624, equation 3: the type changes from 8 (request) to 0 (reply). */
static void make_reply(uint8_t *icmp)
{
    uint32_t sum = (~be16(icmp + 2) & 0xffffu) + (~0x0800u & 0xffffu);
    icmp[0] = 0;
    sum = (sum & 0xffff) + (sum >> 16);
    put16(icmp + 2, ~sum & 0xffff);
}

static void respond_echo(struct fake *f, struct cm_connection *c, const uint8_t *bytes, uint32_t n)
{
    bool is = bytes[IP + 9] == 1 && bytes[ICMP_AT] == 8 &&
              n == be16(bytes + IP + 2) + (uint32_t)ENCAP_SIZE;
    if (!is || (c && f->fault == DROPS_IP) ||
        (c && f->fault == CUTS_SMALL && n < 80 + ENCAP_SIZE) ||
        (c && f->fault == MINDS_RESERVED && be16(bytes + ENCAP_RESERVED)))
        return;
    g_free(f->reply);
    f->reply = g_memdup2(bytes, n);
    memcpy(f->reply + IP + 12, bytes + IP + 16, 4);
    memcpy(f->reply + IP + 16, bytes + IP + 12, 4);
    put16(f->reply + ENCAP_RESERVED, 0);
    make_reply(f->reply + ICMP_AT);
    f->waiting = n;
    /* The reply to a request over UD may also come over a connection if one exists (RFC 4755 §7).
     */
    f->waiting_connection = c ? c : any_connection();
    if (f->knows_us)
        send_reply(f);
    else
        ask_who_we_are(f, c);
}

static void take(struct fake *f, struct cm_connection *c, const uint8_t *bytes, uint32_t n)
{
    if (be16(bytes) == TYPE_ARP)
        respond_arp(f, c, bytes + ENCAP_SIZE);
    else if (be16(bytes) == TYPE_IPV4)
        respond_echo(f, c, bytes, n);
}

static enum transport_result fake_send(struct transport *t, const struct ud_to *to,
                                       const uint8_t *bytes, uint32_t n)
{
    struct fake *f = (struct fake *)t;
    bool for_peer = to->qpn == QPN_MULTICAST || (to->lid == PEER_LID && to->qpn == PEER_QPN);
    if (!for_peer || to->qkey != QKEY || (f->fault == NO_UD_WITH_CONNECTION && f->up) ||
        (f->fault == NO_UD_AFTER_CONNECTION && f->was_up && !f->up))
        return TRANSPORT_OK;
    take(f, NULL, bytes, n);
    return TRANSPORT_OK;
}

static enum transport_result fake_send_connected(struct transport *t, struct cm_connection *c,
                                                 const uint8_t *bytes, uint32_t n)
{
    struct fake *f = (struct fake *)t;
    assert_int_equal(c->result, CONNECT_ACCEPTED);
    assert_true(n <= PEER_MTU); /* RFC 4755 §5.1 applies to the probe, too */
    assert_true(n <= be32(c->req.private_data + CM_PRIVATE_RECV_MTU));
    if ((f->fault == DIES_OF_LARGE && n > 32768) ||
        (f->fault == REQUESTS_ABOVE_420_LOST && n > 420 + ENCAP_SIZE)) {
        c->dead = true;
        g_strlcpy(c->why, "gone", sizeof c->why);
        return TRANSPORT_NOTHING;
    }
    take(f, c, bytes, n);
    return TRANSPORT_OK;
}

static enum transport_result fake_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct fake *f = (struct fake *)t;
    (void)ms;
    while (f->n > 0) {
        *from = f->queue[f->first].from;
        f->first = (f->first + 1) % QUEUE;
        f->n--;
        bool gone = from->connection;
        for (unsigned i = 0; i < CONNECTIONS && gone; i++)
            gone = open_connections[i] != from->connection;
        if (!gone)
            return TRANSPORT_OK;
    }
    return TRANSPORT_NOTHING;
}

/* ---- the peer's communication manager */

static uint16_t refusal(const struct fake *f, const struct connect_request *q)
{
    uint64_t prefix = f->fault == AS_LINUX ? 0x10 : 0x01;
    if (f->fault == NO_SERVICE || q->service_id != (prefix << 56 | PEER_QPN))
        return 8;
    if (f->fault == NO_RC || !(f->flags & (q->uc ? LLADDR_FLAG_UC : LLADDR_FLAG_RC)))
        return 9;
    if (f->up && (f->fault == REFUSES_SECOND || f->fault == WRONG_QPN_IN_REJ))
        return CM_REJ_CONSUMER;
    return 0;
}

static void put_private(const struct fake *f, struct cm_connection *c)
{
    bool rep = c->result == CONNECT_ACCEPTED;
    uint32_t qpn = (rep && f->fault == WRONG_QPN) || (!rep && f->fault == WRONG_QPN_IN_REJ)
                       ? PEER_QPN + 1
                       : PEER_QPN;
    c->private_size = rep ? 196 : 148; /* IBA 12.6.7 and 12.6.8 */
    if (f->fault == NO_PRIVATE || (!rep && f->fault == AS_LINUX))
        return;
    c->private_data[CM_PRIVATE_RESERVED] = f->fault == RESERVED_SET ? 0x80 : 0;
    put24(c->private_data + CM_PRIVATE_UD_QPN, f->fault == NO_QPN ? 0 : qpn);
    put32(c->private_data + CM_PRIVATE_RECV_MTU, f->fault == NO_RECEIVE_MTU ? 0 : PEER_MTU);
}

static enum transport_result fake_connect(struct transport *t, const struct connect_request *q,
                                          int ms, struct cm_connection **out)
{
    struct fake *f = (struct fake *)t;
    struct cm_connection *c = *out = g_new0(struct cm_connection, 1);
    (void)ms;
    f->asked++;
    assert_memory_equal(q->gid, peer_gid, 16);
    assert_int_equal(q->private_size, 8);
    assert_int_equal(be32(q->private_data), OWN_QPN); /* Reserved 0, UD QPN */
    *c = (struct cm_connection){.req = *q,
                                .peer_lid = PEER_LID,
                                .path_mtu = 4,
                                .qpn = 0x200 + f->asked,
                                .peer_qpn = 0x300 + f->asked};
    c->reason = refusal(f, q);
    c->result = f->fault == CM_UNANSWERED ? CONNECT_NO_RESPONSE
                : f->fault == NO_PATH     ? CONNECT_NOT_SENT
                : c->reason               ? CONNECT_REJECTED
                                          : CONNECT_ACCEPTED;
    if (c->result == CONNECT_NOT_SENT)
        g_strlcpy(c->why, "no path", sizeof c->why);
    put_private(f, c);
    for (unsigned i = 0; i < CONNECTIONS && c->result == CONNECT_ACCEPTED; i++)
        if (!open_connections[i]) {
            open_connections[i] = c;
            break;
        }
    f->up += c->result == CONNECT_ACCEPTED;
    f->was_up |= f->up > 0;
    return TRANSPORT_OK;
}

static void fake_disconnect(struct transport *t, struct cm_connection *c, int ms, bool *answered)
{
    struct fake *f = (struct fake *)t;
    (void)ms;
    *answered = c->result == CONNECT_ACCEPTED && f->fault != DREQ_UNANSWERED;
    f->up -= c->result == CONNECT_ACCEPTED;
    f->disconnected++;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        if (open_connections[i] == c)
            open_connections[i] = NULL;
    if (f->waiting_connection == c)
        f->waiting_connection = NULL;
    g_free(c);
}

static bool fake_can_connect(struct transport *t)
{
    struct fake *f = (struct fake *)t;
    g_strlcpy(t->no_connections, f->fault == NO_PRIVILEGE ? "not permitted" : "",
              sizeof t->no_connections);
    return f->fault != NO_PRIVILEGE;
}

/* ---- a run */

/* The SA has the broadcast group, and this port is in it. */
static enum transport_result fake_query(struct transport *t, const struct sa_query *q, int ms,
                                        struct sa_response *a)
{
    (void)t;
    (void)ms;
    a->stride = 0;
    sa_answer_head(q, 0, a);
    g_byte_array_append(a->records, q->record, sizeof q->record);
    if (q->attribute == SA_MC_MEMBER_RECORD)
        sa_answer_group(a->records->data);
    a->records->data[MCM_SCOPE_JOIN] = 0x21;
    return TRANSPORT_OK;
}

/* ---- rdma_cm by IP address */

static struct cm_trial trial_result;
static const char *host_side; /* this host's interface on the link; NULL: none */
static const char *route_interface;

static enum transport_result fake_try(struct transport *t, struct cm_trial *trial, int ms)
{
    (void)t;
    assert_true(ms >= 1000);
    assert_memory_equal(trial->ip, peer_ip, 4);
    *trial = trial_result;
    return TRANSPORT_OK;
}

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
char *__wrap_host_interface(const struct probe_link *l);
char *__wrap_host_interface(const struct probe_link *l)
{
    (void)l;
    return g_strdup(host_side);
}

GPtrArray *__wrap_host_interfaces(const struct probe_link *l);
GPtrArray *__wrap_host_interfaces(const struct probe_link *l)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    (void)l;
    if (host_side)
        g_ptr_array_add(all, g_strdup(host_side));
    return all;
}

struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface);
struct host_route __wrap_host_route_get(bool ipv6, const uint8_t *ip, const char *interface)
{
    struct host_route r = {.kind = ROUTE_LINK};
    (void)ipv6;
    (void)ip;
    (void)interface;
    g_strlcpy(r.interface, route_interface ? route_interface : "", sizeof r.interface);
    return r;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static const struct transport_ops fake_ops = {.capabilities = CAN_ALL,
                                              .query = fake_query,
                                              .send = fake_send,
                                              .receive = fake_receive,
                                              .can_connect = fake_can_connect,
                                              .connect = fake_connect,
                                              .try_rdma_cm = fake_try,
                                              .send_connected = fake_send_connected,
                                              .disconnect = fake_disconnect};
static const struct transport_ops without_connections = {.capabilities = CAN_ALL & ~HAS_CONNECTIONS,
                                                         .send = fake_send,
                                                         .receive = fake_receive,
                                                         .query = fake_query};

struct outcome_of_run {
    struct fake fake;
    struct checked checked;
};

/* Runs the checks of RFC 4755 and of the encapsulation header. */
static void run_checks(struct target *target)
{
    const struct check *c;
    for (unsigned i = 0; (c = check_at(i)); i++) {
        bool about = g_str_has_prefix(c->name, "connection") || g_str_equal(c->name, "reply-to-ud");
        for (unsigned k = 0; k < c->n_rules; k++)
            ((struct options *)target->run->options)->selection.rule[c->rules[k]] |= about;
    }
    checks_run_peer(target, NULL);
}

static void make_probe(struct target *target, struct fake *f)
{
    struct mc_group *g = &target->link->group;
    message_broadcast_mgid(g->mgid, 2, 0xffff);
    g->mlid = 0xc000;
    g->qkey = QKEY;
    g->mtu = 4;
    g->pkey = target->link->pkey = 0xffff;
    memcpy(f->grh + GRH_DGID, g->mgid, 16);
    memcpy(f->grh + GRH_SGID, peer_gid, 16);
    f->grh[0] = 0x60;
    g_array_append_val(target->link->attached, *g);
    put24(target->link->lladdr + LLADDR_QPN, OWN_QPN);
    memcpy(target->link->lladdr + LLADDR_GID, own_gid, 16);
    target->link->source = (struct own_address){.given = true, .usable = true};
    memcpy(target->link->source.ip, own_ip, 4);
    memcpy(target->ip, peer_ip, 4);
    g_strlcpy(target->name, "10.0.0.2", sizeof target->name);
}

static void run_with(struct outcome_of_run *o, enum fault fault, uint8_t flags,
                     const struct transport_ops *ops, const char *known)
{
    static volatile int stop;
    struct options options = {
        .rate = 100000, .timeout_ms = 1, .disruptive = true, .has_source = true};
    memset(o, 0, sizeof *o);
    memset(open_connections, 0, sizeof open_connections);
    o->checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct deviations *d = deviations_open(known, NULL);
    struct results results = {.checked = &o->checked, .known = d};
    o->fake = (struct fake){.base = {.ops = ops, .qpn = OWN_QPN}, .fault = fault, .flags = flags};
    o->fake.base.facts = (struct port_facts){
        .device = "fake0", .port = 1, .lid = OWN_LID, .sm_lid = 1, .mtu = 4};
    memcpy(o->fake.base.facts.gid, own_gid, 16);
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    target->link->transport = &o->fake.base;
    target->run->stop = &stop;
    target->log = wirelog_new(NULL, NULL);
    groups_open(target->link);
    make_probe(target, &o->fake);
    run_checks(target);
    groups_close(target->link);
    wirelog_free(target->log, NULL);
    deviations_free(d);
    assert_int_equal(o->fake.up, 0); /* all connections are closed */
    assert_int_equal(o->fake.asked, o->fake.disconnected);
}

static void clear(struct outcome_of_run *o)
{
    for (unsigned i = 0; i < QUEUE; i++)
        g_free(o->fake.queue[i].bytes);
    g_free(o->fake.reply);
    probe_fixture_forget(&o->checked);
}

/* Asserts the identifiers of the rules with that outcome, each followed by a space. */
static void check_those(const struct outcome_of_run *o, enum outcome outcome, const char *expected)
{
    GString *found = g_string_new(NULL);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_count(o->checked.verdict, (enum rule_number)i, outcome))
            g_string_append_printf(found, "%s ", rules[i].id);
    if (!g_str_equal(found->str, expected))
        fail_msg("fault %d: \"%s\", not \"%s\"", o->fake.fault, found->str, expected);
    g_string_free(found, TRUE);
}

static void check_fault(enum fault fault, const char *expected)
{
    struct outcome_of_run o;
    run_with(&o, fault, LLADDR_FLAG_RC, &fake_ops, "none");
    check_those(&o, OUTCOME_FAIL, expected);
    clear(&o);
}

static void check_worst(const struct outcome_of_run *o, enum rule_number rule, int outcome)
{
    if (verdict_worst(o->checked.verdict, rule) != outcome)
        fail_msg("%s: %d, not %d", rules[rule].id, verdict_worst(o->checked.verdict, rule),
                 outcome);
}

static void check_unjudged(const struct outcome_of_run *o, const char *reason)
{
    assert_int_equal(probe_fixture_verdict(&o->checked), VERDICT_UNJUDGED);
    if (!strstr(probe_fixture_reason(&o->checked), reason))
        fail_msg("\"%s\", not \"%s\"", probe_fixture_reason(&o->checked), reason);
}

/* ---- the tests */

static void good_peer(void **state)
{
    static const enum rule_number passed[] = {R_RFC4755_2_RFC4391_SUPPORTED,
                                              R_RFC4755_2_1_MULTICAST_OVER_UD,
                                              R_RFC4755_3_1_FLAGS,
                                              R_RFC4755_3_1_REPLY_TO_UD_QPN,
                                              R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA,
                                              R_RFC4755_3_5_SERVICE_ID,
                                              R_RFC4755_4_TYPE,
                                              R_RFC4755_4_ENCAPSULATION_HEADER,
                                              R_RFC4755_5_MINIMUM_MTU,
                                              R_RFC4755_5_1_CONNECTION_MTU,
                                              R_RFC4755_6_PRIVATE_DATA,
                                              R_RFC4755_6_RESERVED_ZERO,
                                              R_RFC4755_7_ANY_MODE_ACCEPTED,
                                              R_RFC4755_7_RESOLUTION_OVER_UD,
                                              R_RFC4391_6_RESERVED_IGNORED};
    static const uint8_t flags[] = {LLADDR_FLAG_RC, LLADDR_FLAG_UC,
                                    LLADDR_FLAG_RC | LLADDR_FLAG_UC};
    struct outcome_of_run o;
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(flags); k++) {
        run_with(&o, NO_FAULT, flags[k], &fake_ops, "none");
        check_those(&o, OUTCOME_FAIL, "");
        for (size_t i = 0; i < G_N_ELEMENTS(passed); i++)
            check_worst(&o, passed[i], OUTCOME_PASS);
        clear(&o);
    }
}

/* --list promises that these checks test their rules. The checks must not always skip one. */
static void each_rule_is_tested(void **state)
{
    struct outcome_of_run o;
    const struct check *c;
    (void)state;
    run_with(&o, NO_FAULT, LLADDR_FLAG_RC, &fake_ops, "none");
    for (unsigned i = 0; (c = check_at(i)); i++)
        for (unsigned k = 0; k < c->n_rules && g_str_has_prefix(c->name, "connection"); k++)
            if (rules[c->rules[k]].level != RULE_MAY) /* a permission has no result */
                check_worst(&o, c->rules[k], OUTCOME_PASS);
    clear(&o);
}

static void each_violation_is_found(void **state)
{
    (void)state;
    check_fault(NO_SERVICE, "rfc4755.3.5.service-id ");
    check_fault(NO_RC, "rfc4755.7.any-mode-accepted ");
    check_fault(WRONG_QPN, "rfc4755.3.2.ud-qpn-in-private-data ");
    check_fault(WRONG_QPN_IN_REJ, "rfc4755.3.2.ud-qpn-in-private-data ");
    check_fault(NO_QPN, "rfc4755.3.2.ud-qpn-in-private-data ");
    check_fault(NO_RECEIVE_MTU, "rfc4755.6.private-data ");
    /*
     * No private data in REP and REJ: for the REP it violates the format, for the REJ the rule
     * about the QPN (RFC 4755 §3.2, 6).
     */
    check_fault(NO_PRIVATE, "rfc4755.3.2.ud-qpn-in-private-data rfc4755.6.private-data ");
    check_fault(RESERVED_SET, "rfc4755.6.reserved-zero ");
    check_fault(RESOLUTION_OVER_CONNECTION, "rfc4755.7.resolution-over-ud ");
    check_fault(MULTICAST_OVER_CONNECTION, "rfc4755.2.1.multicast-over-ud ");
    check_fault(DROPS_IP, "rfc4755.7.any-mode-accepted ");
    check_fault(MINDS_RESERVED, "rfc4391.6.reserved-ignored ");
    check_fault(TYPE_WRONG, "rfc4755.4.type ");
    check_fault(IGNORES_SMALL_MTU, "rfc4755.5.1.connection-mtu ");
    check_fault(DIES_OF_LARGE, "rfc4755.5.1.connection-mtu ");
    check_fault(CUTS_SMALL, "rfc4755.5.minimum-mtu ");
    check_fault(NO_UD_WITH_CONNECTION, "rfc4755.2.rfc4391-supported ");
}

static const struct stage *find_stage(const struct outcome_of_run *o, const char *id)
{
    const struct stage *found = NULL;
    for (guint i = 0; i < o->checked.stages->len; i++) {
        const struct stage *s = o->checked.stages->pdata[i];
        found = strcmp(s->id, id) == 0 ? s : found;
    }
    assert_non_null(found);
    return found;
}

static void check_trial(const struct cm_trial *result, uint8_t flags, int outcome, const char *text)
{
    struct outcome_of_run o;
    trial_result = *result;
    run_with(&o, NO_FAULT, flags, &fake_ops, "none");
    const struct stage *found = find_stage(&o, "peer.rdma-cm");
    assert_string_equal(found->text, text);
    assert_int_equal(found->outcome, outcome);
    assert_int_equal(*found->advice != '\0',
                     outcome == OUTCOME_FAIL || result->step == TRIAL_CONNECT ||
                         (outcome == OUTCOME_INCONCLUSIVE && result->reason));
    clear(&o);
}

/* As an application: the step that fails, and its cause. */
static void rdma_cm_by_address(void **state)
{
    struct cm_trial answer = {.step = TRIAL_ANSWERED, .reason = 8, .device = "fake0", .port = 1};
    const uint8_t rc = LLADDR_FLAG_RC;
    (void)state;
    host_side = route_interface = "ib0";
    check_trial(
        &answer, rc, OUTCOME_PASS,
        "address and route are resolved through fake0 port 1, and the peer answers the REQ: "
        "REJ, reason 8 (invalid Service-ID): nobody listens there, as meant");
    answer.port = 2;
    check_trial(
        &answer, 0, OUTCOME_NOTED,
        "address and route are resolved through fake0 port 2, which is not the tested port, "
        "and the peer answers the REQ: REJ, reason 8 (invalid Service-ID): nobody listens "
        "there, as meant");
    check_trial(&(struct cm_trial){.step = TRIAL_ADDRESS, .error = ETIMEDOUT}, 0, OUTCOME_FAIL,
                "the address is not resolved: this host's kernel got no answer to its own request "
                "for the peer's address (no neighbour)");
    check_trial(&(struct cm_trial){.step = TRIAL_ADDRESS, .error = ENETUNREACH}, 0, OUTCOME_FAIL,
                "the address is not resolved: this host has no route to it");
    check_trial(&(struct cm_trial){.step = TRIAL_ADDRESS, .error = ENODEV}, 0, OUTCOME_FAIL,
                "the address is not resolved: the interface of the route has no RDMA device that "
                "this network namespace may use");
    check_trial(&(struct cm_trial){.step = TRIAL_ROUTE, .error = EINVAL}, 0, OUTCOME_FAIL,
                "the route is not resolved: the SA refuses the kernel's PathRecord query");
    check_trial(&(struct cm_trial){.step = TRIAL_CONNECT, .error = ETIMEDOUT}, 0, OUTCOME_NOTED,
                "no connection: the peer's communication manager did not answer the REQ");
    check_trial(&(struct cm_trial){.step = TRIAL_CONNECT, .error = ETIMEDOUT}, rc, OUTCOME_FAIL,
                "no connection: the peer's communication manager did not answer the REQ");
    route_interface = "eth0";
    check_trial(&answer, 0, (int)VERDICT_SKIPPED,
                "this host's route to it does not lead there, but through eth0");
    host_side = NULL;
    check_trial(&answer, 0, (int)VERDICT_SKIPPED, "this host has no interface that is up there");
}

/* 420 is no MTU, and smaller than a packet of the path: the peer violates nothing. */
static void check_path(enum fault fault, const char *expected)
{
    struct outcome_of_run o;
    run_with(&o, fault, LLADDR_FLAG_RC, &fake_ops, "none");
    const struct stage *found = NULL;
    for (guint i = 0; i < o.checked.stages->len; i++) {
        const struct stage *s = o.checked.stages->pdata[i];
        found = strcmp(s->id, "peer.connection-mtu") == 0 ? s : found;
    }
    assert_non_null(found);
    assert_int_equal(found->outcome, OUTCOME_FAIL);
    assert_non_null(strstr(found->text, "; echo requests of up to 420 are answered; larger ones "));
    assert_non_null(strstr(found->text, expected));
    check_those(&o, OUTCOME_FAIL, "");
    assert_non_null(
        verdict_result(o.checked.verdict, R_RFC4755_5_1_CONNECTION_MTU, OUTCOME_INCONCLUSIVE));
    clear(&o);
}

static void packets_lost_on_the_path_are_no_violation(void **state)
{
    (void)state;
    check_path(REQUESTS_ABOVE_420_LOST, "do not arrive: packets are lost on the path");
    check_path(REPLIES_ABOVE_420_LOST, "arrive, and their replies do not: packets are lost");
}

/* Behaviour that the documents permit, and silence that proves nothing. */
static void freedoms(void **state)
{
    struct outcome_of_run o;
    (void)state;
    check_fault(REFUSES_SECOND, "");
    check_fault(DREQ_UNANSWERED, "");
    /* it may have crashed; this cannot be distinguished */
    run_with(&o, NO_UD_AFTER_CONNECTION, LLADDR_FLAG_RC, &fake_ops, "none");
    check_those(&o, OUTCOME_FAIL, "");
    check_unjudged(&o, "it no longer replies to the request of the beginning: no reply");
    clear(&o);
    run_with(&o, CM_UNANSWERED, LLADDR_FLAG_RC, &fake_ops, "none");
    check_those(&o, OUTCOME_FAIL, "");
    check_unjudged(&o, "it announces connected mode, and none of 3 REQs got a REP or REJ: no "
                       "response to the REQ");
    check_worst(&o, R_RFC4755_3_5_SERVICE_ID, OUTCOME_INCONCLUSIVE);
    /* once per mode: later checks do not wait again */
    assert_true(o.fake.asked <= 2 * TRIES);
    clear(&o);
}

/* If this host cannot send the REQ, no rule fails, and the report gives the cause. */
static void host_that_cannot_send_the_req(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run_with(&o, NO_PATH, LLADDR_FLAG_RC, &fake_ops, "none");
    check_those(&o, OUTCOME_FAIL, "");
    static const enum rule_number asked[] = {R_RFC4755_3_5_SERVICE_ID,
                                             R_RFC4755_5_1_CONNECTION_MTU};
    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
        const struct verdict_result *r = verdict_result(o.checked.verdict, asked[i],
                                                        (enum outcome)OUTCOME_INCONCLUSIVE);
        assert_non_null(r);
        assert_string_equal(r->cases[0].actual, "no path");
    }
    check_unjudged(&o, "REQs got a REP or REJ: no path");
    assert_int_equal(o.fake.asked, o.fake.disconnected);
    clear(&o);
}

/* The REJ of the RFC's Service-ID is a known deviation once the peer has accepted Linux's. */
static void check_rej_of_linux(const struct outcome_of_run *o)
{
    const struct verdict_result *r = verdict_result(
        o->checked.verdict, R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, OUTCOME_DEVIATION);
    unsigned found = 0;
    for (unsigned i = 0; i < r->n_cases; i++) {
        const struct verdict_case *c = &r->cases[i];
        bool rfc = strstr(c->sent, "Service-ID 0x0100000000") &&
                   strstr(c->received, "REJ, reason 8");
        assert_string_equal(c->actual, "no private data in the REJ");
        found += rfc;
    }
    assert_int_equal(found, 1);
}

/* With the list of known deviations, what Linux does is not a failure. */
static void linux_deviates(void **state)
{
    struct outcome_of_run o;
    (void)state;
    check_fault(AS_LINUX, "rfc4755.3.2.ud-qpn-in-private-data rfc4755.3.5.service-id ");
    run_with(&o, AS_LINUX, LLADDR_FLAG_RC, &fake_ops, "linux");
    check_those(&o, OUTCOME_FAIL, "");
    check_those(&o, OUTCOME_DEVIATION,
                "rfc4755.3.2.ud-qpn-in-private-data rfc4755.3.5.service-id ");
    check_rej_of_linux(&o);
    check_worst(&o, R_RFC4755_4_TYPE, VERDICT_SKIPPED); /* nothing received over it */
    check_worst(&o, R_RFC4755_5_1_CONNECTION_MTU, OUTCOME_PASS);
    clear(&o);
}

static void no_connections(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run_with(&o, NO_FAULT, 0, &fake_ops, "none");
    assert_int_equal(o.fake.asked, 0);
    check_worst(&o, R_RFC4755_3_5_SERVICE_ID, VERDICT_SKIPPED);
    clear(&o);
    run_with(&o, NO_PRIVILEGE, LLADDR_FLAG_RC, &fake_ops, "none");
    assert_int_equal(o.fake.asked, 0);
    check_worst(&o, R_RFC4755_3_5_SERVICE_ID, VERDICT_SKIPPED);
    const struct stage *s = find_stage(&o, "peer.rdma-cm");
    assert_int_equal(s->outcome, OUTCOME_NOTED);
    assert_string_equal(s->text,
                        "not tested: connections, which applications make too: not permitted");
    clear(&o);
    run_with(&o, NO_FAULT, LLADDR_FLAG_RC, &without_connections, "none");
    check_worst(&o, R_RFC4755_3_5_SERVICE_ID, VERDICT_SKIPPED);
    clear(&o);
}

/* Offsets from IBA 12.6.5 to 12.6.10, tables 99 to 104: the MAD header has 24 bytes. */
static void messages(void **state)
{
    static const uint8_t private_data[8] = {0, 0, 0, 5, 0, 0, 0xff, 0xf4};
    uint8_t mad[MAD_SIZE];
    struct cm_fields f = {.local_id = 0x11223344,
                          .remote_id = 0x55667788,
                          .service_id = 0x0100000000000048,
                          .qpn = 0x123456,
                          .psn = 0xabcdef,
                          .uc = true,
                          .pkey = 0x8001,
                          .local_lid = 3,
                          .remote_lid = 7,
                          .path_mtu = 4,
                          .ack_timeout = 18,
                          .retry_count = 7,
                          .local_gid = own_gid,
                          .remote_gid = peer_gid,
                          .reason = 28,
                          .remote_qpn = 0x654321,
                          .private_data = private_data,
                          .private_size = 8};
    (void)state;
    cm_message_make(mad, CM_REQ, &f);
    assert_int_equal(mad[1], 7);
    assert_int_equal(be16(mad + 16), 0x10);
    assert_int_equal(be32(mad + 24), 0x11223344);
    assert_int_equal(be32(mad + 28), 0);
    assert_int_equal(be64(mad + 24 + 8), 0x0100000000000048);
    assert_int_equal(be24(mad + 24 + 32), 0x123456);
    assert_int_equal(mad[24 + 43] >> 1 & 3, 1); /* UC */
    assert_int_equal(be24(mad + 24 + 44), 0xabcdef);
    assert_int_equal(mad[24 + 47] & 7, 7);
    assert_int_equal(be16(mad + 24 + 48), 0x8001);
    assert_int_equal(mad[24 + 50] >> 4, 4);
    assert_int_equal(be16(mad + 24 + 52), 3);
    assert_int_equal(be16(mad + 24 + 54), 7);
    assert_memory_equal(mad + 24 + 56, own_gid, 16);
    assert_memory_equal(mad + 24 + 72, peer_gid, 16);
    assert_int_equal(mad[24 + 95] >> 3, 18);
    assert_memory_equal(mad + 24 + 140, private_data, 8);
    cm_message_make(mad, CM_REP, &f);
    assert_int_equal(be32(mad + 28), 0x55667788);
    assert_int_equal(be24(mad + 24 + 12), 0x123456);
    assert_int_equal(be24(mad + 24 + 20), 0xabcdef);
    assert_memory_equal(mad + 24 + 36, private_data, 8);
    cm_message_make(mad, CM_REJ, &f);
    assert_int_equal(be16(mad + 24 + 10), 28);
    assert_memory_equal(mad + 24 + 84, private_data, 8);
    cm_message_make(mad, CM_DREQ, &f);
    assert_int_equal(be24(mad + 24 + 8), 0x654321);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_peer),
        cmocka_unit_test(each_rule_is_tested),
        cmocka_unit_test(each_violation_is_found),
        cmocka_unit_test(rdma_cm_by_address),
        cmocka_unit_test(packets_lost_on_the_path_are_no_violation),
        cmocka_unit_test(freedoms),
        cmocka_unit_test(host_that_cannot_send_the_req),
        cmocka_unit_test(linux_deviates),
        cmocka_unit_test(no_connections),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
