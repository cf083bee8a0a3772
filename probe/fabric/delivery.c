/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do packets to the broadcast group reach this port? Nobody can be asked to send one, so only those
 * count that arrive by chance. The group's members are no proof: a switch may not deliver.
 */
#include "probe/exchange/receive.h"
#include "probe/fabric/stages.h"

static bool never(struct target *t, const struct ud_from *from, void *user)
{
    (void)t;
    (void)from;
    (void)user;
    return false;
}

static bool stage_delivery(struct target *t, const char *id)
{
    if (!t->link->opened) {
        results_stage(t->results, id, VERDICT_SKIPPED, "", "the link was not opened");
        return true;
    }
    receive_await(t, 0, never, NULL); /* what has arrived meanwhile */
    if (t->link->from_groups)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%u packets to the broadcast group arrived from other ports",
                      t->link->from_groups);
    else
        results_stage(t->results, id, OUTCOME_NOTED,
                      t->results->checked->brief /* it would say the same of each port */
                          ? ""
                          : "ipoib-probe --source FREE_ADDRESS PEER  # has the peer send to the "
                            "group",
                      "not tested: whether packets to the broadcast group reach this port; none "
                      "arrived meanwhile, as on a quiet link");
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.delivery",
     .looks_at = "packets to the broadcast group reach this port",
     .sends = "nothing",
     .run = stage_delivery,
     .transport = CAN_SEND | HAS_OWN_QP | SHOWS_SENDER},
};
const struct stage_table delivery_stages = {stages, G_N_ELEMENTS(stages)};
