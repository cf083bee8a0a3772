/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The diagnosis of a fabric, from the bottom up. See stages.h. */
#include "probe/checks.h"
#include "probe/stages.h"

#include "cli/plain.h"

#define NO_RULES {R_RFC4391_2_UD_SUPPORTED}, 0

const struct stage_of_fabric stages[] = {
    {"fabric.device", "is there an InfiniBand device, and may it be opened?", "nothing", NULL, true,
     NO_RULES},
    {"fabric.port-state", "has a subnet manager set the port up?", "nothing", stage_port_state,
     true, NO_RULES},
    {"fabric.sm", "does the subnet administrator answer, and is there one master SM?",
     "SA Get ClassPortInfo, GetTable SMInfoRecord", stage_sm, false,
     RULES(R_SM_ONE_MASTER, R_SM_LMC_PATHS)},
    {"fabric.pkey", "is the partition in the port's P_Key table, as full or limited member?",
     "nothing", stage_pkey, true,
     RULES(R_PARTITION_DEFAULT_PKEY, R_PARTITION_VALUE_FORMAT, R_PARTITION_OVERLAP)},
    {"fabric.pkey-twins", "P_Keys that differ in the membership bit alone", "nothing",
     stage_pkey_twins, true, RULES(R_PARTITION_MEMBERSHIP_TWINS)},
    {"fabric.broadcast-group", "does the partition's broadcast group exist? scope 2, then upwards",
     "SA Get MCMemberRecord", stage_broadcast_group, false,
     RULES(R_RFC4391_5_BROADCAST_GROUP_EXISTS, R_RFC4391_4_1_SCOPE_SEARCH)},
    {"fabric.mtu", "can the port take the group's MTU?", "nothing", stage_group_mtu, false,
     NO_RULES},
    {"fabric.rate", "can the port take the group's rate?", "nothing", stage_group_rate, false,
     NO_RULES},
    {"fabric.join", "may this port join the broadcast group?",
     "SA Set MCMemberRecord, only if it is not in it; Delete of that at the end, unless an interface of this host is up there then",
     stage_join, false, NO_RULES},
    {"fabric.send-only-join", "may it join as Linux joins to send (SendOnlyFullMember)?",
     "SA Set MCMemberRecord, only if it is known not to be; Delete of that at the end",
     stage_send_only_join, false, NO_RULES},
    {"fabric.interface", "has the host an interface there, up and with carrier?", "nothing",
     stage_interface, true, NO_RULES},
    {"fabric.mode", "is the interface's MTU the link's, and in which mode is it?", "nothing",
     stage_mode, false, NO_RULES},
    {"fabric.own-flux", "do several interfaces of this host answer for each other's addresses?",
     "nothing", stage_own_flux, true, NO_RULES},
    {"fabric.own-groups", "is this port in the groups that the host's interface wants?",
     "SA Get MCMemberRecord of each", stage_own_groups, false, NO_RULES},
    {"fabric.census",
     "the groups, their attributes against the broadcast group's, and the MLIDs left",
     "SA GetTable MCMemberRecord and SwitchInfoRecord", stage_census, false,
     RULES(R_RFC4391_10_GROUP_ATTRIBUTES, R_RFC4391_10_GROUP_OTHER_ATTRIBUTES,
           R_DRAFT_7_ALL_ROUTER_GROUP)},
    {"fabric.own-group", "does the SM make, join, tell of and delete a multicast group?",
     "SA Set and Delete MCMemberRecord of a group that nobody has, Set InformInfo of traps 66 and 67",
     stage_own_group, false,
     RULES(R_RFC4391_10_LEAVE, R_RFC4391_10_SENDONLY_SEMANTICS,
           R_RFC4391_11_ROUTER_NONMEMBER_JOIN)},
    {"fabric.group-attributes",
     "does the SM refuse groups with other attributes than the broadcast group's?",
     "with --disruptive: SA Set and Delete MCMemberRecord of such groups, one at a time",
     stage_group_attributes, false, NO_RULES},
    {"fabric.neighbours", "are the neighbours still where the host's table has them?",
     "ARP requests and neighbour solicitations, SA Get PathRecord, of up to 32 of the host's neighbours",
     stage_neighbours, true, NO_RULES},
};
const unsigned n_stages = G_N_ELEMENTS(stages);

/* The remaining stages stand on the one before them. */
static void skip_from(struct target *t, unsigned first)
{
    const GPtrArray *told = t->results->judged->stages;
    const struct stage *last = told->pdata[told->len - 1];
    for (unsigned i = first; i < n_stages; i++)
        results_stage(t->results, stages[i].id, VERDICT_SKIPPED, "",
                      last->outcome == OUTCOME_FAIL ? "%s failed" : "%s came to no result",
                      stages[first - 1].id);
}

static bool device_is_there(struct target *t, enum opening opening, const char *why)
{
    if (opening == OPENED) {
        results_stage(t->results, stages[0].id, OUTCOME_PASS, "", "%s port %u, LID %u",
                      t->link->transport->facts.device, t->link->transport->facts.port,
                      t->link->transport->facts.lid);
        return true;
    }
    results_stage(
        t->results, stages[0].id, OUTCOME_FAIL,
        opening == OPEN_NO_PRIVILEGE
            ? "run as root, or have the device files opened to this user"
            : "lspci and dmesg tell of the adapter; load its driver, ib_uverbs and ib_umad",
        "%s", why);
    t->results->judged->trouble = plain_dup(why);
    return false;
}

void run_fabric(struct target *t, enum opening opening, const char *why)
{
    if (!device_is_there(t, opening, why)) {
        skip_from(t, 1);
        return;
    }
    t->about_fabric = true;
    wirelog_judge(t->log, t->results->known, results_judged, t->results);
    for (unsigned i = 1; i < n_stages && !t->run->stopped; i++) {
        if (!stages[i].of_host && !transport_can(t->link->transport, CAN_ASK_SA)) {
            results_stage(t->results, stages[i].id, VERDICT_SKIPPED, "", "%s",
                          t->link->transport->ops->lacks);
            continue;
        }
        results_begin(t->results, stages[i].id);
        wirelog_begin(t->log, stages[i].id);
        bool stands = stages[i].run(t, stages[i].id);
        wirelog_end(t->log, stands ? "goes on" : "ends here");
        if (!stands) {
            skip_from(t, i + 1);
            break;
        }
    }
    if (t->run->broken)
        t->results->judged->trouble = plain_dup(t->link->transport->error);
    wirelog_judge(t->log, NULL, NULL, NULL);
    t->about_fabric = false;
}
