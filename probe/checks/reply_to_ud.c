/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that the peer replies over UD even if the probe announces connected modes (RFC 4755 §3.1).
 */
#include "probe/checks/checks.h"
#include "probe/checks/variant.h"
#include "probe/exchange/exchange.h"
#include "probe/exchange/peer.h"
#include "probe/exchange/request.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* If the probe's address announces connected modes, the peer must still respond to its UD QPN. */
static void check_reply_to_ud(struct target *t)
{
    struct exchange x;
    struct request q = {.grh = t->peer->needs_grh, .flags = LLADDR_FLAG_RC | LLADDR_FLAG_UC};
    variant_report(t, R_RFC4755_3_1_REPLY_TO_UD_QPN, variant_try(t, &q, &x),
                   &(struct decision_words){
                       "a reply at the UD QPN",
                       "the reply was sent to the UD QPN of an address with the flags RC and UC",
                       "no reply at the UD QPN of an address with the flags RC and UC",
                       "the peer no longer replies", x.received});
}

static const struct check checks[] = {
    {.name = "reply-to-ud",
     .needs = NEEDS_IPV4 | NEEDS_CONNECTIONS,
     .run = check_reply_to_ud,
     .sends =
         "ARP request, sender 0.0.0.0, by unicast over UD, with the flags RC and UC (0xc0) in the probe's link-layer address",
     .expects = "a reply at the probe's UD QPN",
     RULES(R_RFC4755_3_1_REPLY_TO_UD_QPN)},
};
const struct check_table reply_to_ud_checks = {checks, G_N_ELEMENTS(checks)};
