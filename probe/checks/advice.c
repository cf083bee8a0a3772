/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to do if the peer violates a rule, as far as the probe sees more than the rule's page says:
 * the page is about all causes, the probe has tried one.
 */
#include "probe/checks/checks.h"

struct rule_advice {
    enum rule_number rule;
    const char *text;
};

static const struct rule_advice all[] = {
    {R_RFC4391_7_MTU_2044,
     "at the peer: ip link show; if the MTU of its interface is below 2044: ip link set INTERFACE "
     "mtu 2044; else nft list ruleset: a filter that drops large packets?"},
    {R_RFC4755_5_MINIMUM_MTU, "at the peer: ip link show; raise the MTU of its interface"},
    {R_RFC4391_5_FULL_MEMBER_JOIN,
     "at the peer, set its interface down and up: it joins again; if it does not, see its dmesg"},
    {R_RFC4391_9_1_1_GID_OF_PORT,
     "at the peer, compare 'ip link show' with 'ibv_devinfo -v': its port has another GID than it "
     "announces"},
    {R_RFC4755_5_1_CONNECTION_MTU,
     "at the peer: ip link show; its receive buffers are smaller than the MTU that it announces"},
};

const char *check_advice(enum rule_number rule)
{
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        if (all[i].rule == rule)
            return all[i].text;
    return NULL;
}
