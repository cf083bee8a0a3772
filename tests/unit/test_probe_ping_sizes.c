/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage peer.ping-sizes: this host's kernel pings a peer, which has replied to a small ping,
 * with larger datagrams.
 */
#include "why_run.h"

#include <string.h>

#include "probe/checks/ping.h"

static void begin(const char *mtu)
{
    why_run_begin(NULL);
    why_run_know_peer();
    host.ping = (struct host_ping){.permitted = true, .sent = true, .answered = true, .ms = 0.25};
    host_add_file("/sys/class/net/ib0/mtu", mtu);
}

static void check(int outcome, const char *text, const char *advice)
{
    ping_report(run.t);
    fake_end(run.t);
    assert_int_equal(run.checked.stages->len, 2); /* after peer.ping */
    const struct stage *s = run.checked.stages->pdata[1];
    assert_string_equal(s->id, "peer.ping-sizes");
    if (s->outcome != outcome || !strstr(s->text, text) || !strstr(s->advice, advice))
        fail_msg("%d \"%s\", \"%s\"; expected %d \"%s\", \"%s\"", s->outcome, s->text, s->advice,
                 outcome, text, advice);
    probe_fixture_forget(&run.checked);
}

/* The link's MTU is 2044. */
static void sizes_of_datagrams(void **state)
{
    static const struct {
        const char *mtu;
        uint32_t largest, udp, fragment;
        bool captured;
        int outcome;
        const char *text, *advice;
    } all[] = {
        {"2044\n", 0, 0, 0, false, OUTCOME_PASS,
         "this host's ping of 2044 bytes, the MTU of ib0, is answered", ""},
        {"1500\n", 0, 0, 0, false, OUTCOME_NOTED, "is answered; the link's is 2044",
         "ip link set ib0 mtu 2044"},
        {"2044\n", 0, 0, 1492, false, OUTCOME_FAIL,
         "comes in fragments of 1492: the peer's MTU is smaller than that of the link, 2044",
         "on the peer: ip link"},
        {"2044\n", 0, 0, 2040, false, OUTCOME_PASS, "is answered", ""}, /* a multiple of 8 */
        {"2044\n", 1500, 0, 0, false, OUTCOME_INCONCLUSIVE,
         "this host's ping of 2044 bytes, the MTU of ib0, is not answered; up to 1500 bytes it is: "
         "larger packets to the peer, or from it, are lost",
         "on the peer: ip link; tc -s qdisc; nft list ruleset; the links: "},
        {"2044\n", 1500, 1500, 0, false, OUTCOME_FAIL,
         "larger packets to the peer are lost: its MTU is smaller", ""},
        {"2044\n", 1500, 2044, 0, false, OUTCOME_FAIL,
         "larger packets from the peer are lost, those to it arrive", ""},
        {"2044\n", 1500, 0, 0, true, OUTCOME_FAIL,
         "this host's ping of 2044 bytes does not leave ib0; up to 1500 bytes it does",
         "tc -s filter show dev ib0 egress"},
        {"65520\n", 2044, 0, 0, false, OUTCOME_INCONCLUSIVE,
         "up to 2044 bytes it is, the most without a connection (RC)", "cat /sys/class/net/*/mode"},
        {"65520\n", 4096, 0, 0, false, OUTCOME_INCONCLUSIVE,
         "up to 4096 bytes it is, over a connection (RC): larger", "the links: "},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        begin(all[i].mtu);
        host.largest = all[i].largest;
        host.udp = all[i].udp;
        host.captured = all[i].captured;
        host.seen.fragment = all[i].fragment;
        check(all[i].outcome, all[i].text, all[i].advice);
    }
}

/* OpenSM that does not know the speed: about 400 bytes pass. */
static void an_ndr_link_that_the_sm_does_not_know(void **state)
{
    (void)state;
    begin("2044\n");
    host_add_file("/sys/class/infiniband/fake0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
    host.largest = 420;
    check(OUTCOME_INCONCLUSIVE, "this link is NDR, and OpenSM does not know NDR links",
          "use an SM that knows NDR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_datagrams),
        cmocka_unit_test(an_ndr_link_that_the_sm_does_not_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
