/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe against a peer in memory, which keeps everything, or has one fault: then exactly the rules of that fault fail.
 * The peer is written by the RFCs, not by what the probe sends.
 */
#include "unit.h"

#include <string.h>
#include <sys/resource.h>

#include "probe/checks.h"
#include "probe/message.h"
#include "probe/octets.h"
#include "probe/sweep.h"
#include "wire/arp.h"
#include "wire/encap.h"
#include "wire/smp.h"

enum {
    PEER_QPN = 0x48,
    PEER_LID = 7,
    OWN_QPN = 0x99,
    ASIDE_QPN = 0x9a,
    OWN_LID = 3,
    MLID = 0xc000,
    QUEUE = 16
};
#define QKEY 0x0b1bu

static const uint8_t peer_ip[4] = {10, 0, 0, 2}, own_ip[4] = {10, 0, 0, 77};
static const uint8_t peer_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x95};
static const uint8_t own_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96};

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
    SENDS_IP_TO_SENDER,
    TAKES_ANY_QKEY,
    WRONG_PATH,
    WRONG_GUID,
    SMALL_MTU,
    SENDS_RESERVED,
    SENDS_FLAGS,
    HARDWARE_TYPE_1,
    DIES,
    IS_ABSENT,
    DROPS_HALF,
};

struct fake {
    struct transport base;
    enum fault fault;
    struct ud_from queue[QUEUE];
    uint8_t octets[QUEUE][UD_SIZE], grh[GRH_SIZE];
    unsigned first, n, sent, heard;
    uint32_t sender; /* the QPN that the packet in hand came from */
    bool member, knows_us;
    uint8_t waiting[UD_SIZE]; /* an echo reply that waits for address resolution */
    uint32_t waiting_n, waiting_sender;
    bool many;        /* it has every even address of 10.0.0.0/8, not peer_ip alone */
    uint8_t asked[4]; /* the address that was asked for last */
    unsigned joins, leaves, announced; /* announced: packets in which the probe told an address of its own */
};

/* ---- the peer */

static void push(struct fake *f, const uint8_t *octets, uint32_t n, uint32_t to_qpn)
{
    bool multicast = to_qpn == QPN_MULTICAST;
    if (f->n == QUEUE)
        return;
    unsigned slot = (f->first + f->n++) % QUEUE;
    memcpy(f->octets[slot], octets, n);
    if (f->fault == SENDS_RESERVED)
        f->octets[slot][ENCAP_RESERVED] = 0x12;
    f->queue[slot] = (struct ud_from){.octets = view_make(f->octets[slot], n, n),
                                      .grh = multicast ? f->grh : NULL,
                                      .qpn = f->fault == OTHER_SENDER_QPN ? PEER_QPN + 1 : PEER_QPN,
                                      .to_qpn = multicast ? OWN_QPN : to_qpn,
                                      .lid = PEER_LID};
}

static void put_lladdr(const struct fake *f, uint8_t *p)
{
    p[0] = f->fault == SENDS_FLAGS ? 0x01 : 0;
    put24(p + LLADDR_QPN, PEER_QPN);
    memcpy(p + LLADDR_GID, peer_gid, 16);
}

static void answer_arp(struct fake *f, const uint8_t *arp)
{
    static const uint8_t wrong[4] = {10, 9, 9, 9};
    uint8_t out[UD_SIZE], lladdr[LLADDR_SIZE];
    const uint8_t *sha = arp + ARP_SIZE_FIXED, *spa = sha + LLADDR_SIZE,
                  *tpa = arp + ARP_SIZE_FIXED + 2 * LLADDR_SIZE + 4;
    put_lladdr(f, lladdr);
    f->announced += be32(spa) != 0;
    if (be16(arp + ARP_OP) == ARP_REPLY) {
        f->knows_us = memcmp(spa, own_ip, 4) == 0 && be24(sha + LLADDR_QPN) == OWN_QPN;
        if (f->knows_us && f->waiting_n)
            push(f, f->waiting, f->waiting_n,
                 f->fault == SENDS_IP_TO_SENDER ? f->waiting_sender : be24(sha + LLADDR_QPN));
        f->waiting_n = 0;
        return;
    }
    bool has = f->many ? tpa[0] == 10 && tpa[3] % 2 == 0 : memcmp(tpa, peer_ip, 4) == 0;
    if (!has || (f->fault == MINDS_FLAGS && sha[0]))
        return;
    memcpy(f->asked, tpa, 4);
    struct arp_message m = {.op = ARP_REPLY,
                            .sha = lladdr,
                            .spa = f->asked,
                            .tha = sha,
                            .tpa = f->fault == WRONG_TARGET ? wrong : spa};
    uint32_t n = make_arp(out, &m);
    if (f->fault == HARDWARE_TYPE_1)
        put16(out + ENCAP_SIZE + ARP_HRD, 1);
    if (f->fault == WRONG_TARGET_LLADDR)
        memset(out + ENCAP_SIZE + ARP_SIZE_FIXED + LLADDR_SIZE + 4, 0, LLADDR_SIZE);
    push(f, out, n, f->fault == ANSWERS_SENDER ? f->sender : be24(sha + LLADDR_QPN));
}

/* The reply has the request's octets, with the addresses changed over and the type 0; ICMP's checksum is nobody's matter here. */
static void answer_echo(struct fake *f, const uint8_t *octets, uint32_t n)
{
    uint8_t question[UD_SIZE], lladdr[LLADDR_SIZE];
    if (octets[ENCAP_SIZE + 9] != 1 || octets[ENCAP_SIZE + 20] != 8 ||
        (f->fault == SMALL_MTU && n > 1500 + ENCAP_SIZE))
        return;
    memcpy(f->waiting, octets, n);
    memcpy(f->waiting + ENCAP_SIZE + 12, octets + ENCAP_SIZE + 16, 4);
    memcpy(f->waiting + ENCAP_SIZE + 16, octets + ENCAP_SIZE + 12, 4);
    put16(f->waiting + ENCAP_RESERVED, 0);
    f->waiting[ENCAP_SIZE + 20] = 0;
    f->waiting_n = n;
    f->waiting_sender = f->sender;
    if (f->knows_us) {
        push(f, f->waiting, n, f->fault == SENDS_IP_TO_SENDER ? f->sender : OWN_QPN);
        f->waiting_n = 0;
        return;
    }
    put_lladdr(f, lladdr);
    struct arp_message m = {.op = ARP_REQUEST, .sha = lladdr, .spa = peer_ip, .tpa = own_ip};
    push(f, question, make_arp(question, &m), QPN_MULTICAST);
}

static bool accepts(struct fake *f, const struct ud_to *to, const uint8_t *octets)
{
    bool multicast = to->qpn == QPN_MULTICAST;
    f->sent++;
    if (f->fault == DEAF_TO_MULTICAST && multicast &&
        memcmp(octets + ENCAP_SIZE + ARP_SIZE_FIXED + 44, peer_ip, 4) == 0 && f->heard++)
        return false; /* it is found, and then no more */
    if (f->fault == IS_ABSENT || (f->fault == DIES && f->sent > 6) || (f->fault == DROPS_HALF && f->sent % 2))
        return false;
    if (to->qkey != QKEY && f->fault != TAKES_ANY_QKEY)
        return false;
    if (!multicast && (to->lid != PEER_LID || to->qpn != PEER_QPN))
        return false;
    if ((f->fault == NEEDS_GRH && !to->grh) || (f->fault == REFUSES_GRH && to->grh && !multicast))
        return false;
    return f->fault != MINDS_RESERVED || be16(octets + ENCAP_RESERVED) == 0;
}

static enum transport_result fake_send(struct transport *t, const struct ud_to *to, const uint8_t *octets,
                                       uint32_t n)
{
    struct fake *f = (struct fake *)t;
    if (!accepts(f, to, octets))
        return TRANSPORT_OK;
    f->sender = to->aside ? ASIDE_QPN : OWN_QPN;
    if (be16(octets) == TYPE_ARP)
        answer_arp(f, octets + ENCAP_SIZE);
    else if (be16(octets) == TYPE_IPV4)
        answer_echo(f, octets, n);
    return TRANSPORT_OK;
}

static enum transport_result fake_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct fake *f = (struct fake *)t;
    (void)ms;
    if (f->n == 0)
        return TRANSPORT_NOTHING;
    *from = f->queue[f->first];
    f->first = (f->first + 1) % QUEUE;
    f->n--;
    return TRANSPORT_OK;
}

/* ---- the subnet administrator */

static void put_broadcast(uint8_t *r)
{
    broadcast_mgid(r + MCM_MGID, 2, 0xffff);
    put32(r + MCM_QKEY, QKEY);
    put16(r + MCM_MLID, MLID);
    r[MCM_MTU] = 0x84; /* exactly 2048 */
    put16(r + MCM_PKEY, 0xffff);
    r[MCM_RATE] = 0x83;
    r[MCM_SCOPE_JOIN] = 0x21;
}

static uint16_t ask_group(struct fake *f, const struct sa_question *q, uint8_t *record)
{
    uint8_t broadcast[MCM_SIZE] = {0};
    put_broadcast(broadcast);
    if (memcmp(q->record + MCM_MGID, broadcast, 16) != 0)
        return 0x0300;
    if (q->method == SA_GET && (q->mask & MCM_HAS_PORT_GID) &&
        memcmp(q->record + MCM_PORT_GID, peer_gid, 16) == 0) {
        memcpy(record, broadcast, MCM_SIZE);
        record[MCM_SCOPE_JOIN] = f->fault == NOT_FULL_MEMBER ? 0x22 : 0x21;
        return 0;
    }
    if (q->method == SA_GET && (q->mask & MCM_HAS_PORT_GID) && !f->member)
        return 0x0300;
    f->joins += q->method == SA_SET;
    f->leaves += q->method == SA_DELETE;
    f->member = q->method == SA_SET || (f->member && q->method != SA_DELETE);
    memcpy(record, broadcast, MCM_SIZE);
    return 0;
}

static uint16_t ask_record(struct fake *f, const struct sa_question *q, uint8_t *record)
{
    if (q->attribute == SA_MC_MEMBER_RECORD)
        return ask_group(f, q, record);
    if (q->attribute == SA_PATH_RECORD) {
        put16(record + PATH_DLID, f->fault == WRONG_PATH ? PEER_LID + 4 : PEER_LID);
        put16(record + PATH_PKEY, 0xffff);
        record[PATH_MTU] = 0x84;
        return 0;
    }
    if (q->attribute != 0x0011)
        return 0x0300;
    memcpy(record + 24, peer_gid + 8, 8); /* IBA 15.2.5.2 and 14.2.5.3: PortGUID */
    record[31] ^= f->fault == WRONG_GUID;
    return 0;
}

static enum transport_result fake_ask(struct transport *t, const struct sa_question *q, int ms,
                                      struct sa_answer *a)
{
    uint8_t record[SA_DATA_SIZE] = {0};
    (void)ms;
    a->status = ask_record((struct fake *)t, q, record);
    memset(a->mad, 0, MAD_SIZE);
    a->mad[MAD_BASE_VERSION] = 1;
    a->mad[MAD_CLASS] = MAD_CLASS_SA;
    a->mad[MAD_CLASS_VERSION] = 2;
    a->mad[MAD_METHOD] = q->method == SA_DELETE ? SA_DELETE_RESP : SA_GET_RESP;
    put16(a->mad + MAD_STATUS, a->status);
    put16(a->mad + MAD_ATTRIBUTE, q->attribute);
    memcpy(a->mad + SA_DATA, record, sizeof record);
    a->stride = 0;
    if (a->status == 0)
        g_byte_array_append(a->records, record, sizeof record);
    return TRANSPORT_OK;
}

static enum transport_result fake_open(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    assert_int_equal(pkey_index, 0);
    assert_int_equal(qkey, QKEY);
    t->qpn = OWN_QPN;
    t->aside_qpn = ASIDE_QPN;
    return TRANSPORT_OK;
}

static enum transport_result fake_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)t;
    (void)mgid;
    assert_int_equal(mlid, MLID);
    return TRANSPORT_OK;
}

/* ---- a run */

static const struct transport_ops fake_ops = {
    .open_qp = fake_open, .send = fake_send, .receive = fake_receive, .ask = fake_ask, .attach = fake_attach};

struct outcome_of_run {
    struct fake fake;
    struct judged judged;
    struct verdict_summary summary;
};

static const struct port_facts port_of_test = {.device = "fake0",
                                               .port = 1,
                                               .lid = OWN_LID,
                                               .sm_lid = 1,
                                               .state = PORT_ACTIVE,
                                               .mtu = 4,
                                               .infiniband = true,
                                               .pkeys = {0xffff},
                                               .n_pkeys = 1};
static volatile int stop;

static void prepare(struct fake *f, struct probe *p, enum fault fault, bool member)
{
    char why[256];
    *f = (struct fake){.base = {.ops = &fake_ops, .facts = port_of_test}, .fault = fault, .member = member};
    memcpy(f->base.facts.gid, own_gid, 16);
    broadcast_mgid(f->grh + GRH_DGID, 2, 0xffff);
    f->grh[0] = 0x60;
    p->t = &f->base;
    p->stop = &stop;
    p->log = wirelog_new(NULL);
    groups_open(p);
    assert_true(link_open(p, why, sizeof why));
}

static void end(struct probe *p)
{
    link_close(p);
    groups_close(p);
    wirelog_free(p->log);
}

static void run(struct outcome_of_run *o, enum fault fault, bool source, bool member)
{
    char why[256];
    struct options options = {.rate = 100000, .timeout_ms = 1, .disruptive = true, .has_source = source};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    memset(o, 0, sizeof *o);
    o->judged = (struct judged){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    struct results results = {.judged = &o->judged};
    struct probe p = {.options = &options, .results = &results};
    prepare(&o->fake, &p, fault, member);
    if (source) {
        p.source = (struct source){.given = true};
        memcpy(p.source.ip, own_ip, 4);
        assert_true(station_open(&p, why, sizeof why));
    }
    memcpy(p.peer.ip, peer_ip, 4);
    g_strlcpy(p.peer.name, "10.0.0.2", sizeof p.peer.name);
    run_peer(&p, NULL);
    end(&p);
    o->summary = verdict_summarize(o->judged.verdict, true);
}

static void clear(struct outcome_of_run *o)
{
    g_free(o->judged.trouble);
    verdict_free(o->judged.verdict);
    if (o->judged.stages)
        g_ptr_array_unref(o->judged.stages);
}

/* The identifiers of what failed, with a space behind each. */
static void check_failed(const struct outcome_of_run *o, const char *expected)
{
    GString *failed = g_string_new(NULL);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (verdict_count(o->judged.verdict, (enum rule_number)i, OUTCOME_FAIL))
            g_string_append_printf(failed, "%s ", rules[i].id);
    assert_string_equal(failed->str, expected);
    g_string_free(failed, TRUE);
}

static void check_fault(enum fault fault, const char *expected)
{
    struct outcome_of_run o;
    run(&o, fault, true, true);
    check_failed(&o, expected);
    clear(&o);
}

/* ---- the tests */

static void good_peer(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, true, true);
    /* The Q_Key is not a controlled one: SHOULD, and no list of deviations was given. */
    check_failed(&o, "rfc4391.13.qkey-controlled ");
    assert_int_equal(o.summary.must, 0);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_6_RESERVED_IGNORED), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_6_GRH_OPTIONAL), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_7_MTU_2044), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4391_9_1_QKEY_MATCH), OUTCOME_PASS);
    assert_int_equal(verdict_worst(o.judged.verdict, R_RFC4755_3_1_UD_ONLY_FLAGS), OUTCOME_PASS);
    /* what is asked by ARP of this peer was not left out, though NS would ask it too */
    assert_int_equal(verdict_count(o.judged.verdict, R_RFC4391_9_1_1_FLAGS_IGNORED, (enum outcome)VERDICT_SKIPPED), 0);
    clear(&o);
}

static void each_fault_is_found(void **state)
{
    (void)state;
#define ALWAYS "rfc4391.13.qkey-controlled "
    check_fault(NEEDS_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(REFUSES_GRH, "rfc4391.6.grh-optional " ALWAYS);
    check_fault(MINDS_RESERVED, "rfc4391.6.reserved-ignored " ALWAYS);
    check_fault(MINDS_FLAGS, "rfc4391.9.1.1.flags-ignored " ALWAYS "rfc4755.3.1.ud-only-flags ");
    check_fault(OTHER_SENDER_QPN, ALWAYS "rfc4755.2.2.one-ud-qp ");
    check_fault(WRONG_TARGET, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(WRONG_TARGET_LLADDR, "rfc4391.9.2.arp-as-rfc826 " ALWAYS);
    check_fault(ANSWERS_SENDER, "rfc4391.9.1.1.arp-reply-qpn " ALWAYS);
    check_fault(SENDS_IP_TO_SENDER, "rfc4391.9.1.1.traffic-to-qpn " ALWAYS);
    check_fault(NOT_FULL_MEMBER, "rfc4391.5.full-member-join " ALWAYS);
    check_fault(DEAF_TO_MULTICAST, "rfc4391.2.multicast-supported " ALWAYS);
    check_fault(TAKES_ANY_QKEY, "rfc4391.9.1.qkey-match " ALWAYS);
    check_fault(WRONG_PATH, "rfc4391.9.1.1.gid-of-port " ALWAYS);
    check_fault(WRONG_GUID, "rfc4391.9.1.1.gid-from-port-guid " ALWAYS);
    check_fault(SMALL_MTU, "rfc4391.7.mtu-2044 " ALWAYS);
    check_fault(SENDS_RESERVED, "rfc4391.6.reserved-zero " ALWAYS);
    check_fault(SENDS_FLAGS, "rfc4391.9.1.1.reserved-flags " ALWAYS);
    check_fault(HARDWARE_TYPE_1, "rfc4391.9.2.arp-hardware-type " ALWAYS);
}

/* A peer that goes, and a fabric that loses every other packet, are at fault for nothing. */
static void silence_is_no_fault(void **state)
{
    struct outcome_of_run o;
    (void)state;
    check_fault(DIES, ALWAYS);
    check_fault(DROPS_HALF, ALWAYS);
    run(&o, IS_ABSENT, false, true);
    check_failed(&o, "");
    assert_int_equal(o.summary.status, VERDICT_UNJUDGED);
    assert_non_null(o.judged.trouble);
    clear(&o);
}

static void nothing_is_left_behind(void **state)
{
    struct outcome_of_run o;
    (void)state;
    run(&o, NO_FAULT, false, true);
    assert_int_equal(o.fake.joins, 0); /* the host is in the group: nothing to do, and nothing to undo */
    assert_int_equal(o.fake.leaves, 0);
    assert_int_equal(o.fake.announced, 0); /* nobody can remember the probe */
    clear(&o);
    run(&o, NO_FAULT, false, false);
    assert_int_equal(o.fake.joins, 1);
    assert_int_equal(o.fake.leaves, 1);
    assert_false(o.fake.member);
    clear(&o);
}

/* RFC 4391 §4 and §8, and the pairs of addresses of real hosts. */
static void addresses(void **state)
{
    static const uint8_t broadcast[16] = {0xff, 0x12, 0x40, 0x1b, 0xbe, 0xef, [12] = 0xff, 0xff, 0xff, 0xff};
    static const uint8_t node[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [11] = 0x01, 0xff, 0x66, 0xde, 0x52};
    static const uint8_t address[16] = {0xfe, 0x80, [8] = 0x9a, 0x03, 0x9b, 0x03, 0x00, 0x66, 0xde, 0x52};
    static const uint8_t guid[8] = {0x98, 0x03, 0x9b, 0x03, 0x00, 0x66, 0xde, 0x52};
    uint8_t group[16], out[16];
    (void)state;
    broadcast_mgid(out, 2, 0x3eef);
    assert_memory_equal(out, broadcast, 16);
    solicited_node(group, address);
    ipv6_mgid(out, 2, 0xffff, group);
    assert_memory_equal(out, node, 16);
    link_local_of(out, guid);
    assert_memory_equal(out, address, 16);
}

/* ---- sweeps */

struct swept {
    unsigned hosts, conformant, must; /* of the hosts: with their results; MUSTs violated */
    char *answers;                    /* what the prefix's own result says */
    bool trouble;
};

static void take_swept(void *user, struct judged *j)
{
    struct swept *s = user;
    struct verdict_summary summary = verdict_summarize(j->verdict, false);
    if (j->sweep) {
        s->answers = g_strdup(((struct stage *)j->stages->pdata[0])->text);
        s->trouble = j->trouble != NULL;
    } else {
        s->hosts++;
        s->conformant += !j->trouble && summary.status == VERDICT_CONFORMANT && summary.passed > 10;
        s->must += summary.must;
    }
    judged_clear(j);
}

/* Half of the addresses are there, if the peer has many. */
static void sweep(struct swept *s, uint32_t addresses, bool many, enum fault fault, unsigned timeout_ms)
{
    static struct fake fake;
    struct options options = {.rate = 100000, .timeout_ms = timeout_ms};
    memset(options.selection.rule, many, sizeof options.selection.rule);
    struct judged nobody = {.verdict = verdict_new(NULL)};
    struct results idle = {.judged = &nobody};
    struct probe p = {.options = &options, .results = &idle};
    struct target t = {.name = (char *)"10.0.0.0/8", .ip = {10, 0, 0, 1}, .prefix = true, .n = addresses};
    struct sweep_job job = {&t, 1, take_swept, s};
    *s = (struct swept){0};
    prepare(&fake, &p, fault, true);
    fake.many = many;
    run_sweep(&p, &job);
    assert_int_equal(fake.announced, 0);
    end(&p);
    verdict_free(nobody.verdict);
}

static void sweep_finds_who_is_there(void **state)
{
    struct swept s;
    (void)state;
    sweep(&s, 254, true, NO_FAULT, 30);
    assert_int_equal(s.hosts, 127);
    assert_int_equal(s.conformant, 127);
    assert_memory_equal(s.answers, "127 of 254 addresses answer; no answer: 10.0.0.1, 10.0.0.3, 10.0.0.5, ", 70);
    assert_non_null(strstr(s.answers, " and 27 more ranges"));
    g_free(s.answers);
    sweep(&s, 254, false, NO_FAULT, 30);
    assert_int_equal(s.hosts, 1);
    assert_string_equal(s.answers, "1 of 254 addresses answer; no answer: 10.0.0.1, 10.0.0.3-10.0.0.254");
    assert_false(s.trouble);
    g_free(s.answers);
    sweep(&s, 14, false, IS_ABSENT, 3);
    assert_int_equal(s.hosts, 0);
    assert_true(s.trouble); /* nobody: not judged */
    g_free(s.answers);
}

/* What is wrong with a host is its own fault, found as it is when it is asked alone. */
static void sweep_finds_faults(void **state)
{
    struct swept s;
    (void)state;
    sweep(&s, 20, true, MINDS_RESERVED, 5);
    assert_int_equal(s.hosts, 10);
    assert_int_equal(s.must, 10);
    g_free(s.answers);
    sweep(&s, 20, true, DROPS_HALF, 5);
    assert_int_equal(s.must, 0);
    g_free(s.answers);
}

static void sweep_takes_no_memory(void **state)
{
    struct rusage before, after;
    struct swept s;
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* it keeps what is given back for some time */
#endif
    sweep(&s, 254, false, NO_FAULT, 3);
    g_free(s.answers);
    getrusage(RUSAGE_SELF, &before);
    sweep(&s, 20000, false, NO_FAULT, 3);
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(s.hosts, 1);
    assert_true(after.ru_maxrss - before.ru_maxrss < 8 << 10); /* KB: not 400 octets for each address */
    g_free(s.answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_finds_who_is_there),
        cmocka_unit_test(sweep_finds_faults),
        cmocka_unit_test(sweep_takes_no_memory),
        cmocka_unit_test(good_peer),           cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(silence_is_no_fault), cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
