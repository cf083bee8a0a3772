/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe's own IPv6 address (--source): the probe defends it (RFC 4861 §7.2.4), and gives it up
 * if another node has it (RFC 4862 §5.4). Besides the peer of probe_peer.h there is another node,
 * whose packets the tests write byte by byte.
 */
#include "probe_peer.h"

#include <string.h>

#include "probe/checks/checks.h"
#include "wire/encap.h"
#include "wire/lladdr.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/receive.h"
#include "probe/exchange/source.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

enum {
    OTHER_QPN = 0x51,
    OTHER_LID = 12,
    DATAGRAMS = 16,
    NS = 135,
    NA = 136,
    SOURCE_OPTION = 1,
    TARGET_OPTION = 2,
    SOLICITED = 0x40,
    OVERRIDE = 0x20,
    AT_IPV6 = 4, /* after the encapsulation header */
    AT_ICMPV6 = AT_IPV6 + 40,
    AT_OPTION = AT_ICMPV6 + 24,
    WITH_OPTION = AT_OPTION + 24
};

static const uint8_t own_ip6[16] = {0xfd, [15] = 9}, peer_ip6[16] = {0xfd, [15] = 2};
static const uint8_t unspecified[16], all_nodes[16] = {0xff, 0x02, [15] = 1};
/* RFC 4291 §2.7.1: the address's last 24 bits */
static const uint8_t own_group[16] = {0xff, 0x02, [11] = 1, 0xff, 0, 0, 9};
static const uint8_t other_gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x77, 0x77};
#define OTHER_LLADDR "00:00:00:51:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:77:77"

struct ipv6_message {
    uint8_t bytes[UD_SIZE];
    uint32_t n;
    struct ud_to to;     /* of a packet that the probe sends */
    struct ud_from from; /* of a packet that it receives */
};

/* The network between the probe and its peer. */
static struct {
    struct transport_ops ops;
    const struct transport_ops *of_peer;
    struct ipv6_message sent[DATAGRAMS], coming[DATAGRAMS];
    unsigned n_sent, n_coming, taken;
    unsigned solicitations; /* NSs of the probe for its own address */
} net;

static struct fake fake;
static struct probe_fixture fixture;
static struct target *const target = &fixture.target;
static struct options options;
static struct checked checked;
static struct results results;
static uint8_t grh[40] = {0x60};

/* ---- the other node's packets */

/* The ICMPv6 checksum (RFC 1071), with the pseudo header of RFC 8200 §8.1. */
static void put_checksum(uint8_t *bytes, uint32_t n)
{
    uint32_t sum = n - AT_ICMPV6 + 58;
    bytes[AT_ICMPV6 + 2] = bytes[AT_ICMPV6 + 3] = 0;
    for (uint32_t i = AT_IPV6 + 8; i < n; i++)
        sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    bytes[AT_ICMPV6 + 2] = (uint8_t)(~sum >> 8);
    bytes[AT_ICMPV6 + 3] = (uint8_t)~sum;
}

/* Queues an NS or NA for the probe's address; option: its type, 0: none. */
static struct ipv6_message *comes(uint8_t type, uint8_t flags, const uint8_t *from,
                                  const uint8_t *to, uint8_t option)
{
    struct ipv6_message *k = &net.coming[net.n_coming++];
    uint8_t *p = k->bytes;
    assert_true(net.n_coming < DATAGRAMS);
    memset(k, 0, sizeof *k);
    k->n = option ? WITH_OPTION : AT_OPTION;
    p[0] = 0x86, p[1] = 0xdd;
    p[AT_IPV6] = 0x60, p[AT_IPV6 + 5] = (uint8_t)(k->n - AT_ICMPV6);
    p[AT_IPV6 + 6] = 58, p[AT_IPV6 + 7] = 255;
    memcpy(p + AT_IPV6 + 8, from, 16);
    memcpy(p + AT_IPV6 + 24, to, 16);
    p[AT_ICMPV6] = type, p[AT_ICMPV6 + 4] = flags;
    memcpy(p + AT_ICMPV6 + 8, own_ip6, 16);
    if (option) { /* RFC 4391 §9.3 */
        p[AT_OPTION] = option, p[AT_OPTION + 1] = 3;
        p[AT_OPTION + 4 + 3] = OTHER_QPN;
        memcpy(p + AT_OPTION + 4 + 4, other_gid, 16);
    }
    put_checksum(p, k->n);
    memcpy(grh + 8, other_gid, 16);
    k->from = (struct ud_from){.bytes = view_make(p, k->n, k->n),
                               .grh = grh,
                               .qpn = OTHER_QPN,
                               .to_qpn = OWN_QPN,
                               .lid = OTHER_LID};
    return k;
}

static struct ipv6_message *detects_duplicates(void)
{
    return comes(NS, 0, unspecified, own_group, 0);
}

static struct ipv6_message *advertises(void)
{
    return comes(NA, OVERRIDE, own_ip6, all_nodes, TARGET_OPTION);
}

/* ---- the network */

static bool requests_source(const uint8_t *bytes)
{
    return bytes[0] == 0x86 && bytes[AT_ICMPV6] == NS &&
           memcmp(bytes + AT_ICMPV6 + 8, own_ip6, 16) == 0;
}

/* The peer has every IPv6 address except this one. */
static enum transport_result net_send(struct transport *t, const struct ud_to *to,
                                      const uint8_t *bytes, uint32_t n)
{
    struct ipv6_message *k = &net.sent[net.n_sent % DATAGRAMS];
    if (requests_source(bytes)) {
        net.solicitations++;
        return TRANSPORT_OK;
    }
    if (bytes[0] == 0x86 && bytes[AT_ICMPV6] == NA) {
        memcpy(k->bytes, bytes, n);
        k->n = n;
        k->to = *to;
        net.n_sent++;
    }
    return net.of_peer->send(t, to, bytes, n);
}

static enum transport_result net_receive(struct transport *t, int ms, struct ud_from *from)
{
    if (net.taken == net.n_coming)
        return net.of_peer->receive(t, ms, from);
    *from = net.coming[net.taken++].from;
    return TRANSPORT_OK;
}

/* Starts a probe with an own address; member: its host is in the broadcast group. */
static void begin(bool member)
{
    memset(&net, 0, sizeof net);
    options = (struct options){.rate = 100000, .timeout_ms = 1, .has_source = true};
    memset(options.selection.rule, true, sizeof options.selection.rule);
    checked = (struct checked){.name = (char *)"peer", .verdict = verdict_new(NULL)};
    results = (struct results){.checked = &checked};
    probe_fixture_make(&fixture, &options, &results);
    fake_begin(&fake, target, NO_FAULT, member);
    fake.ipv6 = true;
    net.of_peer = fake.base.ops;
    net.ops = *fake.base.ops;
    net.ops.send = net_send;
    net.ops.receive = net_receive;
    fake.base.ops = &net.ops;
    target->link->source = (struct own_address){.given = true, .ipv6 = true};
    memcpy(target->link->source.ip, own_ip6, 16);
    target->ipv6 = true;
    memcpy(target->ip, peer_ip6, 16);
    g_strlcpy(target->name, "fd00::2", sizeof target->name);
}

static void end(void)
{
    fake_end(target);
    probe_fixture_forget(&checked);
}

static bool matches_nothing(struct target *t, const struct ud_from *from, void *user)
{
    (void)t;
    (void)from;
    (void)user;
    return false;
}

static void listen(void)
{
    receive_await(target, 1, matches_nothing, NULL);
    assert_int_equal(net.taken, net.n_coming);
}

static void take_address(void)
{
    begin(true);
    assert_true(source_address_open(target, NULL));
    assert_true(net.solicitations > 0);
    assert_int_equal(net.n_sent, 0);
}

static void says(const char *text, const char *words)
{
    if (!text || !strstr(text, words))
        fail_msg("\"%s\" does not say \"%s\"", text ? text : "", words);
}

/* ---- defending it */

/*
 * RFC 4861 §7.2.4: sent to the all-nodes address with Solicited 0. Override is 1, because the NA
 * has the Target Link-Layer Address option and the address is not anycast.
 */
static void duplicate_address_detection_is_answered(void **state)
{
    static const uint8_t group[16] = {0xff, 0x12, 0x60, 0x1b, 0xff, 0xff, [15] = 1};
    (void)state;
    take_address();
    detects_duplicates();
    listen();
    assert_int_equal(net.n_sent, 1);
    const struct ipv6_message *k = &net.sent[0];
    uint8_t right[UD_SIZE];
    assert_int_equal(k->n, WITH_OPTION);
    memcpy(right, k->bytes, k->n);
    put_checksum(right, k->n);
    assert_memory_equal(k->bytes, right, k->n);
    assert_int_equal(k->bytes[AT_IPV6 + 7], 255);
    assert_memory_equal(k->bytes + AT_IPV6 + 8, own_ip6, 16);
    assert_memory_equal(k->bytes + AT_IPV6 + 24, all_nodes, 16);
    assert_int_equal(k->bytes[AT_ICMPV6], NA);
    assert_int_equal(k->bytes[AT_ICMPV6 + 1], 0);
    assert_int_equal(k->bytes[AT_ICMPV6 + 4], OVERRIDE);
    assert_memory_equal(k->bytes + AT_ICMPV6 + 8, own_ip6, 16);
    assert_int_equal(k->bytes[AT_OPTION], TARGET_OPTION);
    assert_int_equal(k->bytes[AT_OPTION + 1], 3);
    assert_memory_equal(k->bytes + AT_OPTION + 4, target->link->lladdr, LLADDR_SIZE);
    /* RFC 4391 §4: the MGID contains the link's scope and P_Key. */
    assert_memory_equal(k->to.gid, group, 16);
    assert_int_equal(k->to.qpn, 0xffffff);
    assert_int_equal(k->to.lid, MLID);
    assert_true(k->to.grh);
    assert_true(target->link->source.usable);
    assert_false(target->run->broken);
    end();
}

/* RFC 4861 §7.1.1: invalid NSs are silently discarded. */
static void invalid_detection_is_not_answered(void **state)
{
    (void)state;
    take_address();
    comes(NS, 0, unspecified, own_ip6, 0);               /* not to the solicited-node address */
    comes(NS, 0, unspecified, own_group, SOURCE_OPTION); /* option with unspecified source */
    struct ipv6_message *k = detects_duplicates();
    k->bytes[AT_IPV6 + 7] = 64; /* hop limit not 255: it passed a router */
    k = detects_duplicates();
    k->bytes[AT_ICMPV6 + 2] ^= 1; /* checksum */
    k = detects_duplicates();
    k->bytes[AT_ICMPV6 + 23] ^= 1; /* another target */
    put_checksum(k->bytes, k->n);
    listen();
    assert_int_equal(net.n_sent, 0);
    assert_true(target->link->source.usable);
    end();
}

/* The response to address resolution has Solicited 1, by unicast to the requester. */
static void resolution_is_answered(void **state)
{
    (void)state;
    take_address();
    comes(NS, 0, peer_ip6, own_group, SOURCE_OPTION);
    listen();
    assert_int_equal(net.n_sent, 1);
    assert_int_equal(net.sent[0].bytes[AT_ICMPV6 + 4], SOLICITED | OVERRIDE);
    assert_memory_equal(net.sent[0].bytes + AT_IPV6 + 24, peer_ip6, 16);
    assert_int_equal(net.sent[0].to.lid, OTHER_LID);
    end();
}

/* ---- giving it up */

/* RFC 4862 §5.4.4 */
static void an_address_that_is_defended_is_given_up(void **state)
{
    (void)state;
    take_address();
    advertises();
    detects_duplicates(); /* after it: the address is no longer the probe's */
    comes(NS, 0, peer_ip6, own_group, SOURCE_OPTION);
    checks_run_peer(target, NULL);
    assert_false(target->link->source.usable);
    assert_int_equal(net.n_sent, 0);
    says(checked.trouble, "--source fd00::9");
    says(checked.trouble, OTHER_LLADDR " (QPN 0x000051, LID 12) has the address too");
    says(checked.trouble, "no longer uses it");
    struct report r = {.tool = "ipoib-probe", .probed = true, .captures = &checked, .n = 1};
    assert_int_equal(report_exit_status(&r), EXIT_UNJUDGED);
    end();
}

static void groups_are_left_after_the_link_fails(void **state)
{
    (void)state;
    begin(false);
    assert_int_equal(fake.joins, 1);
    assert_true(source_address_open(target, NULL));
    advertises();
    checks_run_peer(target, NULL);
    assert_true(target->run->broken);
    link_close(target);
    assert_int_equal(fake.leaves, 1);
    end();
}

/* The peer's interface may send the probe's packets back, and the port may receive what it sent. */
static void own_packets_do_not_defend_an_address(void **state)
{
    (void)state;
    take_address();
    struct ipv6_message *k = advertises();
    memcpy(k->bytes + AT_OPTION + 4, target->link->lladdr, LLADDR_SIZE);
    put_checksum(k->bytes, k->n);
    k = advertises();
    k->from.lid = OWN_LID;
    k->from.qpn = OWN_SECOND_QPN;
    k = advertises();
    k->bytes[AT_ICMPV6 + 2] ^= 1; /* a host drops it */
    listen();
    assert_true(target->link->source.usable);
    assert_false(target->run->broken);
    end();
}

/* ---- while it is tentative */

/* WORDS: of the error; NULL: the address can be used. */
static void opens(const char *words)
{
    GError *why = NULL;
    assert_int_equal(source_address_open(target, &why), !words);
    assert_int_equal(target->link->source.usable, !words);
    assert_int_equal(net.n_sent, 0); /* no responses for a tentative address */
    if (words)
        says(why ? why->message : NULL, words);
    g_clear_error(&why);
}

/* RFC 4862 §5.4.3: if two nodes detect duplicates at the same time, neither uses the address. */
static void two_detect_at_once(void **state)
{
    (void)state;
    begin(true);
    detects_duplicates();
    opens("in use, by GID fe80::2:c903:0:7777 (QPN 0x000051, LID 12)");
    end();
}

/*
 * RFC 4862 §5.4.3: a node that resolves a tentative address is not a duplicate, and neither is the
 * probe's own NS.
 */
static void solicitation_is_not_a_claim_of_the_address(void **state)
{
    (void)state;
    begin(true);
    comes(NS, 0, peer_ip6, own_group, SOURCE_OPTION);
    struct ipv6_message *k = detects_duplicates();
    k->from.lid = OWN_LID;
    k->from.qpn = OWN_QPN;
    opens(NULL);
    end();
}

/* RFC 4862 §5.4.4: any NA for the address shows a duplicate, whatever its flags and options are. */
static void advertisement_without_an_option(void **state)
{
    (void)state;
    begin(true);
    comes(NA, OVERRIDE, own_ip6, all_nodes, 0);
    opens("in use, by GID fe80::2:c903:0:7777");
    end();
}

static void advertisement(void **state)
{
    (void)state;
    begin(true);
    advertises();
    opens("in use, by " OTHER_LLADDR);
    assert_false(target->run->broken); /* checks that need no address still run */
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(duplicate_address_detection_is_answered),
        cmocka_unit_test(invalid_detection_is_not_answered),
        cmocka_unit_test(resolution_is_answered),
        cmocka_unit_test(an_address_that_is_defended_is_given_up),
        cmocka_unit_test(groups_are_left_after_the_link_fails),
        cmocka_unit_test(own_packets_do_not_defend_an_address),
        cmocka_unit_test(two_detect_at_once),
        cmocka_unit_test(solicitation_is_not_a_claim_of_the_address),
        cmocka_unit_test(advertisement_without_an_option),
        cmocka_unit_test(advertisement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
