/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks by address resolution: what the peer answers, and what it takes. See checks.h and the
 * table in checks.c.
 */
#include "probe/checks.h"

#include <stdio.h>
#include <string.h>

#include "wire/arp.h"
#include "wire/encap.h"

enum {
    RESERVED_TRIED = 0xbeef,
    FLAGS_UNKNOWN = LLADDR_FLAG_RESERVED,
    FLAGS_CONNECTED = LLADDR_FLAG_RC | LLADDR_FLAG_UC
};

/* By unicast, in the form that the peer takes. */
static struct question plain(const struct target *t)
{
    return (struct question){.grh = t->peer->needs_grh};
}

/* What it has answered already, when it was found, need not be asked again. */
static enum came ask_or_recall(struct target *t, const struct question *q, struct answer *a)
{
    char text[VERDICT_TEXT];
    const struct answer *before = t->peer->by_unicast;
    if (!before || q->multicast || q->grh != t->peer->needs_grh || q->reserved || q->flags ||
        q->qkey || q->ip || q->aside || q->stranger || q->named || q->padding)
        return ask_peer(t, q, TRIES, a);
    question_text(t, q, text, sizeof text);
    results_sent(t->results, "%s", text);
    answer_text(before, text, sizeof text);
    results_came(t->results, "%s", text);
    *a = *before;
    return CAME_ANSWER;
}

static enum kept silence(struct target *t, const struct question *variant, struct answer *a)
{
    /* That the peer is there is asked in another way than the one that is tested. */
    struct question control = plain(t);
    if (!variant->multicast &&
        (variant->grh != control.grh || (!variant->reserved && !variant->flags)))
        control = (struct question){.multicast = true};
    /* Nothing is held against a peer that has gone, or a fabric that loses packets. */
    enum came plainly = ask_peer(t, &control, TRIES, a);
    if (plainly != CAME_ANSWER)
        return plainly == NOT_ASKED ? KEPT_UNASKED : KEPT_UNKNOWN;
    enum came again = ask_peer(t, variant, TRIES, a);
    if (again != CAME_NOTHING)
        return again == CAME_ANSWER ? KEPT_YES : KEPT_UNASKED;
    char sent[VERDICT_TEXT];
    g_strlcpy(sent, t->results->sent, sizeof sent);
    bool there = ask_peer(t, &control, TRIES, a) == CAME_ANSWER;
    results_sent(t->results, "%s", sent);
    results_came(t->results, "%s",
                 there ? "no answer to 6 of them; to plain ones between and after, answers"
                       : "no answer to plain ones any more");
    return there ? KEPT_NO : KEPT_UNKNOWN;
}

enum kept try_variant(struct target *t, const struct question *variant, struct answer *a)
{
    struct question alone = *variant;
    alone.alone = true;
    enum came first = ask_or_recall(t, &alone, a);
    enum kept k = first == CAME_ANSWER ? KEPT_YES
                  : first == NOT_ASKED ? KEPT_UNASKED
                                       : silence(t, &alone, a);
    return target_ended(t) ? KEPT_UNKNOWN : k;
}

static void add_kept(struct target *t, enum rule_number rule, enum kept k, const char *passed,
                     const char *failed)
{
    tell_kept(
        t, rule, k,
        &(struct kept_words){"an answer", passed, failed, "the peer no longer answers at all"});
}

/*
 * A packet is taken with the Q_Key of the queue pair alone: what came had the link's (RFC 4391
 * §9.1).
 */
static void add_qkey(struct target *t)
{
    char actual[16];
    snprintf(actual, sizeof actual, "0x%08x", t->link->group.qkey);
    results_add_sure(t->results, R_RFC4391_13_QKEY_CONTROLLED,
                     t->link->group.qkey >> 31 ? OUTCOME_PASS : OUTCOME_FAIL,
                     "a controlled Q_Key (high-order bit 1)", actual);
}

/*
 * What the way of the answer shows. Through an interface in connected mode it may have been a
 * connection.
 */
static void add_way(struct target *t)
{
    static const struct {
        enum rule_number rule;
        const char *text;
    } shown[] = {{R_RFC4391_2_UD_SUPPORTED, "it answers over UD"},
                 {R_RFC4755_7_RESOLUTION_OVER_UD, "the answer came over UD"}};
    for (size_t i = 0; i < G_N_ELEMENTS(shown); i++) {
        const struct interface_link *through = t->link->transport->interface;
        if (through && through->connected)
            results_skip(
                t->results, shown[i].rule,
                "an interface in connected mode does not show whether an answer came over UD");
        else
            results_add(t->results, shown[i].rule, OUTCOME_PASS, "", shown[i].text);
    }
}

void check_answers_multicast(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    enum kept k = try_variant(t, &(struct question){.multicast = true}, a);
    add_kept(t, R_RFC4391_2_MULTICAST_SUPPORTED, k, "a question to the group is answered",
             "a question to the group is not answered");
    if (!transport_can(t->link->transport, HAS_OWN_QP))
        results_skip(t->results, R_RFC4391_13_QKEY_CONTROLLED,
                     "a network interface does not show its Q_Key");
    else
        add_qkey(t);
    results_add(t->results, R_RFC4391_9_1_1_FORMAT, OUTCOME_PASS, "",
                "a link-layer address of 20 octets");
    add_way(t);
    g_free(a);
}

bool has_connected_mode(const struct target *t)
{
    return t->peer->lladdr[LLADDR_FLAGS] & FLAGS_CONNECTED;
}

/* Of the rule of RFC 4391, and of the same in RFC 4755, which binds who has connected mode. */
static void add_both(struct target *t, enum rule_number rule, enum rule_number connected,
                     enum kept k, const char *passed, const char *failed)
{
    add_kept(t, rule, k, passed, failed);
    if (has_connected_mode(t))
        add_kept(t, connected, k, passed, failed);
    else
        results_skip(t->results, connected, "the peer announces no connected mode");
}

/*
 * A reply that goes to where the question came from, and not to the QPN that it names, is seen at
 * the second queue pair.
 */
void check_reply_qpn(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    struct question q = plain(t);
    q.aside = true;
    q.alone = true;
    enum kept k = KEPT_UNKNOWN;
    if (t->link->transport->aside_qpn && ask_peer(t, &q, TRIES, a) == CAME_ANSWER)
        k = a->to_qpn == t->link->transport->qpn ? KEPT_YES : KEPT_NO;
    add_both(t, R_RFC4391_9_1_1_ARP_REPLY_QPN, R_RFC4755_3_1_REPLY_TO_UD_QPN, k,
             "the reply came to the QPN of the probe's address",
             "the reply came to the QPN that the request was sent from");
    g_free(a);
}

/* RFC 826: the reply's sender is what was asked for, its target who asked. */
static bool fields_are_right(struct target *t, const struct answer *a, char *wrong, size_t size)
{
    static const uint8_t nobody[4];
    struct view v = view_from(view_make(a->octets, a->n, a->n), ENCAP_SIZE);
    struct arp m;
    bool fixed;
    arp_decode(v, &m, &fixed);
    if (m.pro != TYPE_IPV4)
        snprintf(wrong, size, "protocol type 0x%04x", m.pro);
    else if (memcmp(v.p + m.tpa, nobody, 4) != 0)
        snprintf(wrong, size, "target address %u.%u.%u.%u", v.p[m.tpa], v.p[m.tpa + 1],
                 v.p[m.tpa + 2], v.p[m.tpa + 3]);
    else if (!lladdr_same(v.p + m.tha, t->link->lladdr))
        snprintf(wrong, size, "another target link-layer address than the asker's");
    else
        return true;
    return false;
}

/* The judge of packets tells of the hardware type and length, the Type and the Reserved field. */
void check_arp_fields(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    char wrong[80] = "";
    struct question q = plain(t);
    if (ask_or_recall(t, &q, a) != CAME_ANSWER)
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_INCONCLUSIVE, "an answer",
                    "the peer no longer answers");
    else if (fields_are_right(t, a, wrong, sizeof wrong))
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_PASS, "",
                    "the reply's addresses are as they have to be");
    else
        results_add(t->results, R_RFC4391_9_2_ARP_AS_RFC826, OUTCOME_FAIL,
                    "target 0.0.0.0 at the probe's link-layer address", wrong);
    g_free(a);
}

void check_one_qp(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    char expected[40], actual[40];
    struct question q = plain(t);
    if (ask_or_recall(t, &q, a) == CAME_ANSWER) {
        uint32_t told = lladdr_read(a->lladdr).qpn;
        snprintf(expected, sizeof expected, "QPN 0x%06x, as announced", told);
        snprintf(actual, sizeof actual, "sent by QPN 0x%06x", a->qpn);
        results_add(t->results, R_RFC4755_2_2_ONE_UD_QP,
                    a->qpn == told ? OUTCOME_PASS : OUTCOME_FAIL, expected, actual);
    } else
        results_add(t->results, R_RFC4755_2_2_ONE_UD_QP, OUTCOME_INCONCLUSIVE, "an answer",
                    "the peer no longer answers");
    g_free(a);
}

static bool is_decided(enum kept k)
{
    return k == KEPT_YES || k == KEPT_NO;
}

void check_grh(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    enum kept with = try_variant(t, &(struct question){.grh = true}, a);
    enum kept without = try_variant(t, &(struct question){0}, a);
    g_free(a);
    if (with == KEPT_NO && without == KEPT_NO) { /* then it is not the GRH that matters */
        results_add(t->results, R_RFC4391_6_GRH_OPTIONAL, OUTCOME_INCONCLUSIVE, "an answer",
                    "unicast is not answered at all");
        return;
    }
    /* One of them alone is half of what the rule asks: it passes nothing. */
    if (with != KEPT_YES || is_decided(without))
        add_kept(t, R_RFC4391_6_GRH_OPTIONAL, with, "answered with a GRH",
                 "not answered with a GRH");
    if (without != KEPT_YES || is_decided(with))
        add_kept(t, R_RFC4391_6_GRH_OPTIONAL, without, "answered without a GRH",
                 "not answered without a GRH");
}

/* A peer that minds unicast ARP alone is reached all the same. */
static bool takes_ip(struct target *t)
{
    return t->link->source.usable && t->link->source.ipv6 == t->ipv6 && echo_over_ud(t, ECHO_SMALL);
}

void tell_unreachable(struct target *t)
{
    static const char advice[] =
        "IP traffic goes to that QPN too: set the peer's interface down and up; look at what its queue pair drops";
    struct answer *a = g_new(struct answer, 1);
    uint32_t announced = lladdr_read(t->peer->lladdr).qpn;
    char from[40] = "";
    enum kept k = try_variant(t, &(struct question){0}, a);
    k = k == KEPT_NO ? try_variant(t, &(struct question){.grh = true}, a) : k;
    g_free(a);
    if (k == KEPT_YES || target_ended(t))
        return;
    if (t->peer->qpn && t->peer->qpn != announced)
        snprintf(from, sizeof from, "; it sends from 0x%06x", t->peer->qpn);
    if (k != KEPT_NO)
        results_stage(t->results, "peer.reachable", OUTCOME_INCONCLUSIVE, "",
                      "it answered a question to the group, and nothing any more");
    else if (takes_ip(t))
        results_stage(t->results, "peer.reachable", OUTCOME_NOTED, "",
                      "it answers IP at its QPN, and no question for its address");
    else
        results_stage(
            t->results, "peer.reachable", OUTCOME_FAIL, advice,
            "it answers questions to the group, and none to QPN 0x%06x, which it announces%s",
            announced, from);
}

void check_reserved(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    add_kept(t, R_RFC4391_6_RESERVED_IGNORED,
             try_variant(
                 t, &(struct question){.grh = t->peer->needs_grh, .reserved = RESERVED_TRIED}, a),
             "answered with Reserved 0xbeef", "not answered with Reserved 0xbeef");
    g_free(a);
}

void check_flags(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    enum kept k = try_variant(
        t, &(struct question){.grh = t->peer->needs_grh, .flags = FLAGS_UNKNOWN}, a);
    add_both(t, R_RFC4391_9_1_1_FLAGS_IGNORED, R_RFC4755_3_1_FLAGS_IGNORED, k,
             "answered with flags 0x3f", "not answered with flags 0x3f");
    g_free(a);
}

/*
 * What it announces to who announces connected mode: the flags that it was found by were its answer
 * to flags of 0.
 */
static void judge_ud_only(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    char sent[40] = "not answered with flags 0xc0";
    enum kept k = try_variant(
        t, &(struct question){.grh = t->peer->needs_grh, .flags = FLAGS_CONNECTED}, a);
    if (k == KEPT_YES && a->lladdr[LLADDR_FLAGS]) {
        k = KEPT_NO;
        snprintf(sent, sizeof sent, "its address has flags 0x%02x", a->lladdr[LLADDR_FLAGS]);
    }
    tell_kept(t, R_RFC4755_3_1_UD_ONLY_FLAGS, k,
              &(struct kept_words){"an answer, with flags 0",
                                   "flags 0, and those received do not matter", sent,
                                   "the peer no longer answers at all"});
    g_free(a);
}

void check_connected_flags(struct target *t)
{
    if (has_connected_mode(t))
        results_skip(t->results, R_RFC4755_3_1_UD_ONLY_FLAGS,
                     "the peer has connected mode: its flags say so");
    else
        judge_ud_only(t);
}

void check_ud_with_connected(struct target *t)
{
    struct answer *a = g_new(struct answer, 1);
    if (!has_connected_mode(t))
        results_skip(t->results, R_RFC4755_2_RFC4391_SUPPORTED,
                     "the peer announces no connected mode");
    else
        add_kept(t, R_RFC4755_2_RFC4391_SUPPORTED,
                 try_variant(t, &(struct question){.grh = t->peer->needs_grh}, a),
                 "it answers over UD", "no answer over UD");
    g_free(a);
}

/*
 * What must not be answered: that the peer is there is asked behind it. what: the wrong key that it
 * has.
 */
static void judge_wrong_key(struct target *t, enum rule_number rule, const struct question *wrong,
                            const char *what)
{
    struct answer *a = g_new(struct answer, 1);
    char actual[80], sent[VERDICT_TEXT];
    enum came came = ask_peer(t, wrong, TRIES, a);
    struct question q = plain(t), sure = *wrong;
    sure.alone = true;
    if (came == CAME_ANSWER) /* or the network doubled the answer to another question */
        came = ask_peer(t, &sure, TRIES, a);
    g_strlcpy(sent, t->results->sent, sizeof sent);
    bool there = came == CAME_NOTHING && ask_peer(t, &q, TRIES, a) == CAME_ANSWER;
    results_sent(t->results, "%s", sent);
    if (came == CAME_ANSWER) {
        snprintf(actual, sizeof actual, "answered with %s", what);
        results_add(t->results, rule, rules[rule].level == RULE_INFO ? OUTCOME_NOTED : OUTCOME_FAIL,
                    "no answer", actual);
    } else if (there) {
        snprintf(actual, sizeof actual, "%s is not answered", what);
        results_came(t->results, "no answer to %d of them; to a plain one behind, an answer",
                     TRIES);
        results_add(t->results, rule, OUTCOME_PASS, "", actual);
    } else
        results_add(t->results, rule, OUTCOME_INCONCLUSIVE, "no answer",
                    came == NOT_ASKED ? t->results->came : "the peer no longer answers at all");
    g_free(a);
}

void check_wrong_qkey(struct target *t)
{
    judge_wrong_key(t, R_RFC4391_9_1_QKEY_MATCH,
                    &(struct question){.grh = t->peer->needs_grh, .qkey = t->link->group.qkey ^ 1},
                    "a wrong Q_Key");
}

/* The place of another partition's P_Key in this port's table; its size if there is none. */
static unsigned find_other_partition(const struct target *t)
{
    const struct port_facts *f = &t->link->transport->facts;
    unsigned i = 0;
    while (i < f->n_pkeys && (!(f->pkeys[i] & 0x7fff) || !((f->pkeys[i] ^ t->link->pkey) & 0x7fff)))
        i++;
    return i;
}

/*
 * An adapter sends with the P_Keys of its own table alone. Another one of them is as wrong at the
 * peer's queue pair as any, also where the peer's port is in that partition too: a queue pair is in
 * one (IBA 10.9).
 */
void check_wrong_pkey(struct target *t)
{
    unsigned other = find_other_partition(t);
    if (other == t->link->transport->facts.n_pkeys)
        results_skip(
            t->results, R_PARTITION_INVALID_DROPPED,
            "this port is in one partition alone, and an adapter sends with the P_Keys of its own table");
    else if (t->link->transport->ops->open_stranger(t->link->transport, other) != TRANSPORT_OK)
        results_skip(t->results, R_PARTITION_INVALID_DROPPED, t->link->transport->error);
    else
        judge_wrong_key(t, R_PARTITION_INVALID_DROPPED,
                        &(struct question){.grh = t->peer->needs_grh, .stranger = true},
                        "the P_Key of another partition");
}
