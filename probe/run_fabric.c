/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The diagnosis of a fabric, from the bottom up. See stages.h. */
#include "probe/stages.h"

#include "verdict/plain.h"

const struct stage_of_fabric stages[] = {
    {"fabric.device", "is there an InfiniBand device, and may it be opened?", "nothing", NULL},
    {"fabric.port-state", "has a subnet manager set the port up?", "nothing", stage_port_state},
    {"fabric.sm", "does the subnet administrator answer, and is there one master SM?",
     "SA Get ClassPortInfo, GetTable SMInfoRecord", stage_sm},
    {"fabric.pkey", "is the partition in the port's P_Key table, as full or limited member?", "nothing",
     stage_pkey},
    {"fabric.pkey-twins", "P_Keys that differ in the membership bit alone", "nothing", stage_pkey_twins},
    {"fabric.broadcast-group", "does the partition's broadcast group exist? scope 2, then upwards",
     "SA Get MCMemberRecord", stage_broadcast_group},
    {"fabric.mtu", "can the port take the group's MTU?", "nothing", stage_group_mtu},
    {"fabric.rate", "can the port take the group's rate?", "nothing", stage_group_rate},
    {"fabric.join", "may this port join the broadcast group?",
     "SA Set MCMemberRecord, only if it is not in it; Delete of that at the end", stage_join},
    {"fabric.send-only-join", "may it join as Linux joins to send (SendOnlyFullMember)?",
     "SA Set MCMemberRecord, only if it is known not to be; Delete of that at the end", stage_send_only_join},
    {"fabric.interface", "has the host an interface there, up and with carrier?", "nothing", stage_interface},
    {"fabric.own-groups", "is this port in the groups that the host's interface wants?",
     "SA Get MCMemberRecord of each", stage_own_groups},
    {"fabric.census", "the groups, their attributes against the broadcast group's, and the MLIDs left",
     "SA GetTable MCMemberRecord and SwitchInfoRecord", stage_census},
};
const unsigned n_stages = G_N_ELEMENTS(stages);

static void skip_from(struct probe *p, unsigned first, const char *failed)
{
    for (unsigned i = first; i < n_stages; i++)
        results_stage(p->results, stages[i].id, VERDICT_SKIPPED, "", "it stands on %s", failed);
}

static bool device_is_there(struct probe *p, enum opening opening, const char *why)
{
    if (opening == OPENED) {
        results_stage(p->results, stages[0].id, OUTCOME_PASS, "", "%s port %u, LID %u", p->t->facts.device,
                      p->t->facts.port, p->t->facts.lid);
        return true;
    }
    results_stage(p->results, stages[0].id, OUTCOME_FAIL,
                  opening == OPEN_NO_PRIVILEGE
                      ? "run as root, or have the device files opened to this user"
                      : "lspci and dmesg tell of the adapter; load its driver, ib_uverbs and ib_umad",
                  "%s", why);
    p->results->judged->trouble = plain_dup(why);
    return false;
}

void run_fabric(struct probe *p, enum opening opening, const char *why)
{
    if (!device_is_there(p, opening, why)) {
        skip_from(p, 1, stages[0].id);
        return;
    }
    p->about_fabric = true;
    wirelog_judge(p->log, p->results->known, results_judged, p->results);
    for (unsigned i = 1; i < n_stages && !p->stopped; i++) {
        results_begin(p->results, stages[i].id);
        wirelog_begin(p->log, stages[i].id);
        bool stands = stages[i].run(p, stages[i].id);
        wirelog_end(p->log, stands ? "goes on" : "ends here");
        if (!stands) {
            skip_from(p, i + 1, stages[i].id);
            break;
        }
    }
    wirelog_judge(p->log, NULL, NULL, NULL);
    p->about_fabric = false;
}
