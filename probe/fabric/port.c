/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lower stages: port and partition; sm.c has that of the subnet manager. See run_fabric.c. */
#include <stdio.h>
#include <string.h>

#include "hca/client.h"
#include "hca/records.h"
#include "probe/fabric/stages.h"
#include "probe/link/advice.h"
#include "probe/link/link.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

static void report_active(struct target *t, const char *id)
{
    const struct port_facts *f = &t->link->transport->facts;
    if (f->mtu)
        results_stage(t->results, id, OUTCOME_PASS, "", "Active, MTU %u bytes, %u.%u Gb/s",
                      ib_mtu_bytes(f->mtu), f->rate_100mbps / 10, f->rate_100mbps % 10);
    else
        results_stage(t->results, id, OUTCOME_PASS, "", "Active, %u.%u Gb/s", f->rate_100mbps / 10,
                      f->rate_100mbps % 10);
}

static bool stage_port_state(struct target *t, const char *id)
{
    struct port_words w;
    advice_name_port(t->link, &w);
    switch (t->link->transport->facts.state) {
    case PORT_ACTIVE:
        report_active(t, id);
        return true;
    case PORT_INIT:
        results_stage(t->results, id, OUTCOME_FAIL, "",
                      "Initialize: the link is up, but no subnet manager has set the port up");
        results_advise(t->results,
                       "if no other host runs a subnet manager: opensm -g %s; otherwise see its "
                       "log: it does not reach this port",
                       w.guid);
        return false;
    case PORT_ARMED:
        results_stage(t->results, id, OUTCOME_FAIL, "", "Armed");
        results_advise(t->results,
                       "see the subnet manager's log: it has not made the port %s Active", w.guid);
        return false;
    case PORT_NO_CHANGE:
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE,
                      "run it where /sys/class/infiniband shows the device",
                      "not known: this network namespace does not show the RDMA device");
        return false;
    default:
        results_stage(t->results, id, OUTCOME_FAIL, "", "Down: there is no link");
        results_advise(t->results,
                       "ibstat %s; check the cable, and that the port at its other end is switched "
                       "on",
                       w.stat);
        return false;
    }
}

/* ---- the partition */

/* Checks what the port's P_Key table shows about the rules for partitions. */
static void assess_table(struct target *t)
{
    const struct port_facts *f = &t->link->transport->facts;
    unsigned partitions = 0;
    bool has_default = false, invalid = false;
    GString *all = g_string_new(NULL);
    for (unsigned i = 0; i < f->n_pkeys; i++) {
        has_default |= (f->pkeys[i] & 0x7fff) == 0x7fff;
        invalid |= f->pkeys[i] == 0x8000; /* 0 is an empty entry */
        partitions += (f->pkeys[i] & 0x7fff) != 0;
        if (f->pkeys[i])
            g_string_append_printf(all, " 0x%04x", f->pkeys[i]);
    }
    results_sent(t->results, "nothing: reads the port's P_Key table");
    results_received(t->results, "P_Keys%s", all->str);
    results_add(t->results, R_PARTITION_DEFAULT_PKEY, has_default ? OUTCOME_PASS : OUTCOME_NOTED,
                "0xffff or 0x7fff",
                has_default ? "the default partition is in the table" : "not in the table");
    results_add(t->results, R_PARTITION_VALUE_FORMAT, invalid ? OUTCOME_NOTED : OUTCOME_PASS,
                "15 bits that are not 0",
                invalid ? "0x8000 is in the table" : "every P_Key has 15 bits that are not 0");
    results_add(t->results, R_PARTITION_OVERLAP, partitions > 1 ? OUTCOME_NOTED : OUTCOME_PASS, "",
                partitions > 1 ? "the port is in several partitions"
                               : "the port is in one partition");
    g_string_free(all, TRUE);
}

static bool stage_pkey(struct target *t, const char *id)
{
    GError *why = NULL;
    assess_table(t);
    if (!link_find_pkey(t, &why)) {
        struct port_words w;
        advice_name_port(t->link, &w);
        results_stage(t->results, id, OUTCOME_FAIL, "", "%s", why->message);
        results_advise(t->results,
                       "add %s=full to the partition in the subnet manager's partitions.conf",
                       w.guid);
        g_error_free(why);
        return false;
    }
    if (t->link->pkey & 0x8000)
        results_stage(t->results, id, OUTCOME_PASS, "", "0x%04x at index %u: full member",
                      t->link->pkey, t->link->pkey_index);
    else
        results_stage(
            t->results, id, OUTCOME_NOTED,
            "it reaches only full members; the broadcast-GID has the full member's form in any case",
            "0x%04x at index %u: limited member", t->link->pkey, t->link->pkey_index);
    return true;
}

static bool stage_pkey_twins(struct target *t, const char *id)
{
    const struct port_facts *f = &t->link->transport->facts;
    for (unsigned i = 0; i < f->n_pkeys; i++)
        for (unsigned k = i + 1; k < f->n_pkeys; k++)
            if ((f->pkeys[i] & 0x7fff) && (f->pkeys[i] ^ f->pkeys[k]) == 0x8000) {
                results_add(t->results, R_PARTITION_MEMBERSHIP_TWINS, OUTCOME_NOTED,
                            "one form of a P_Key", "both forms are in the table");
                results_stage(t->results, id, OUTCOME_NOTED,
                              "make the port one kind of member: the two are the same partition",
                              "0x%04x and 0x%04x are both in the table", f->pkeys[i], f->pkeys[k]);
                return true;
            }
    results_add(t->results, R_PARTITION_MEMBERSHIP_TWINS, OUTCOME_PASS, "",
                "no P_Key is in the table in both forms");
    results_stage(t->results, id, OUTCOME_PASS, "", "none");
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.port-state",
     .looks_at = "a subnet manager (SM) has initialised the port",
     .sends = "nothing",
     .run = stage_port_state},
    {.id = "fabric.sm",
     .looks_at = "the SA answers, and there is one master SM",
     .sends = "SA Get ClassPortInfo, GetTable SMInfoRecord and PortInfoRecord",
     .run = stage_sm_run,
     .transport = CAN_QUERY_SA,
     RULES(R_SM_ONE_MASTER, R_SM_LMC_PATHS)},
    {.id = "fabric.pkey",
     .looks_at = "the partition is in the port's P_Key table, as full or limited member",
     .sends = "nothing",
     .run = stage_pkey,
     RULES(R_PARTITION_DEFAULT_PKEY, R_PARTITION_VALUE_FORMAT, R_PARTITION_OVERLAP)},
    {.id = "fabric.pkey-twins",
     .looks_at = "no two P_Keys of the table differ only in the membership bit",
     .sends = "nothing",
     .run = stage_pkey_twins,
     RULES(R_PARTITION_MEMBERSHIP_TWINS)},
};
const struct stage_table port_stages = {stages, G_N_ELEMENTS(stages)};
