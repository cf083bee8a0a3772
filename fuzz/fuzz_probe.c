/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes how ipoib-probe handles what it receives: all checks of a peer in memory, and stages of
 * the fabric diagnosis. The input changes packets and the SA's responses, or replaces them. Time is
 * simulated (tests/unit/probe_peer.h). The probe must leave every group that it joined.
 *
 * The high nibble of the first byte selects checks, because few checks are faster than all. 0: all.
 * k: every fifteenth check, from the k-th on, and those that share a rule with it; or one stage.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/checks/checks.h"
#include "probe/exchange/responder.h"
#include "probe/fabric/stages.h"
#include "tests/unit/probe_peer.h"
#include "probe/exchange/source.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/run/options.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bits of the first byte; the high nibble: the part of the checks that runs. */
enum { WITH_SOURCE = 1, OVER_IPV6 = 2, NO_MEMBER = 4, OF_FABRIC = 8, PARTS = 15 };
/*
 * Bits of the byte before each received packet or response: change it, or replace it by bytes of
 * the input. The low bits give the number of changes.
 */
enum { CHANGED = 0x80, OWN = 0x40, CHANGES = 7 };

static const uint8_t *input;
static size_t left;
static const struct transport_ops *real;
/* on the heap with their exact sizes, so that AddressSanitizer detects an overread by one byte */
static uint8_t *packet, *grh;
/* large, so it is not allocated for each input; fake_begin() resets it */
static struct fake fake;

static uint8_t take_byte(void)
{
    if (left == 0)
        return 0;
    left--;
    return *input++;
}

static uint32_t take16(void)
{
    uint32_t high = take_byte();
    return high << 8 | take_byte();
}

/* Changes times + 1 bytes. */
static void change(uint8_t *bytes, uint32_t n, unsigned times)
{
    for (unsigned i = 0; i <= times; i++) {
        uint32_t at = take16();
        uint8_t to = take_byte();
        if (n)
            bytes[at % n] = to;
    }
}

static void deliver_packet(struct ud_from *from, const uint8_t *bytes, uint32_t n, uint32_t length)
{
    g_free(packet);
    packet = g_memdup2(bytes, n);
    from->bytes = view_make(packet, n, length);
    if (from->grh) {
        g_free(grh);
        grh = g_memdup2(from->grh, GRH_SIZE);
        from->grh = grh;
    }
}

static void deliver_own(struct ud_from *from)
{
    uint32_t n = take_byte(), cut = take_byte() % 2;
    n = MIN(n, (uint32_t)left);
    *from = (struct ud_from){.qpn = PEER_QPN, .to_qpn = OWN_QPN, .lid = PEER_LID};
    deliver_packet(from, input, n, n + cut);
    input += n;
    left -= n;
}

static enum transport_result receive(struct transport *t, int ms, struct ud_from *from)
{
    enum transport_result result = real->receive(t, ms, from);
    uint8_t how = take_byte();
    if (result != TRANSPORT_OK && result != TRANSPORT_NOTHING)
        return result;
    if (how & OWN) {
        deliver_own(from);
        return TRANSPORT_OK;
    }
    if (result != TRANSPORT_OK)
        return result;
    deliver_packet(from, from->bytes.p, from->bytes.cap, from->bytes.len);
    if (how & CHANGED)
        change(packet, from->bytes.cap, how & CHANGES);
    return TRANSPORT_OK;
}

static enum transport_result query(struct transport *t, const struct sa_query *q, int ms,
                                   struct sa_response *a)
{
    enum transport_result result = real->query(t, q, ms, a);
    uint8_t how = take_byte();
    if (result != TRANSPORT_OK)
        return result;
    if (how & OWN) {
        a->status = (uint16_t)take16();
        a->stride = take_byte();
        g_byte_array_set_size(a->records, MIN(take16() % 2048, a->records->len + 512));
    }
    if (how & CHANGED) {
        change(a->mad, MAD_SIZE, how & CHANGES);
        change(a->records->data, a->records->len, how & CHANGES);
    }
    return result;
}

/* Also succeeds for groups that exist only in a changed response of the SA. */
static enum transport_result attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)t;
    (void)mgid;
    (void)mlid;
    return TRANSPORT_OK;
}

/* part 0: all; else 1 to PARTS. */
static bool is_in_part(unsigned i, unsigned of, unsigned part)
{
    return part == 0 || i % of == (part - 1) % of;
}

static void select_checks(struct rule_selection *s, unsigned part)
{
    const struct check *c;
    memset(s->rule, part == 0, sizeof s->rule);
    for (unsigned i = 0; (c = check_at(i)); i++)
        for (unsigned k = 0; k < c->n_rules && is_in_part(i, PARTS, part); k++)
            s->rule[c->rules[k]] = true;
}

static void run_stages(struct target *target, unsigned part)
{
    static const char *const by_sa[] = {"fabric.sm", "fabric.broadcast-group", "fabric.census",
                                        "fabric.send-only-join", "fabric.own-group"};
    target->about_fabric = true;
    for (size_t k = 0; k < G_N_ELEMENTS(by_sa); k++)
        for (unsigned i = 0; fabric_stage_at(i) && !target->run->broken; i++)
            if (is_in_part(k, G_N_ELEMENTS(by_sa), part) &&
                strcmp(fabric_stage_at(i)->id, by_sa[k]) == 0) {
                results_begin(target->results, by_sa[k]);
                fabric_stage_at(i)->run(target, by_sa[k]);
            }
}

static void run_probe(struct target *target, uint8_t how)
{
    target->ipv6 = how & OVER_IPV6;
    target->link->source.ipv6 = target->ipv6;
    if (how & WITH_SOURCE) {
        target->link->source.given = true;
        memcpy(target->link->source.ip, own_ip, 4);
        source_address_open(target, NULL);
    }
    memcpy(target->ip, peer_ip, 4);
    if (how & OF_FABRIC)
        run_stages(target, how >> 4);
    else
        checks_run_peer(target, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options options = {.rate = 100000, .timeout_ms = 1, .disruptive = true};
    struct checked checked = {.name = g_strdup("peer"), .verdict = verdict_new(NULL)};
    struct results results = {.checked = &checked};
    struct probe_fixture fixture;
    struct target *target = probe_fixture_make(&fixture, &options, &results);
    struct transport_ops ops;
    input = data;
    left = size;
    uint8_t how = take_byte();
    select_checks(&options.selection, how >> 4);
    options.has_source = how & WITH_SOURCE;
    host_has_own = true;
    fake_begin(&fake, target, NO_FAULT, !(how & NO_MEMBER));
    real = target->link->transport->ops;
    ops = *real;
    ops.receive = receive;
    ops.query = query;
    ops.attach = attach;
    target->link->transport->ops = &ops;
    run_probe(target, how);
    fake_end(target);
    checked_clear(&checked);
    g_free(packet);
    g_free(grh);
    packet = grh = NULL;
    return 0;
}
