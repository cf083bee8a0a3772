/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lower stages: the port, the subnet manager, the partition. See run_fabric.c. */
#include "probe/stages.h"

#include <stdio.h>
#include <string.h>

#include "wire/smp.h"

bool stage_port_state(struct probe *p, const char *id)
{
    switch (p->t->facts.state) {
    case PORT_ACTIVE:
        results_stage(p->results, id, OUTCOME_PASS, "", "Active, MTU %u octets, %u.%u Gb/s",
                      ib_mtu_octets(p->t->facts.mtu), p->t->facts.rate_100mbps / 10,
                      p->t->facts.rate_100mbps % 10);
        return true;
    case PORT_INIT:
        results_stage(
            p->results, id, OUTCOME_FAIL,
            "start a subnet manager (opensm), or find out why the one there does not reach this port",
            "Initialize: the link is up, but no subnet manager has set the port up");
        return false;
    case PORT_ARMED:
        results_stage(p->results, id, OUTCOME_FAIL,
                      "look at the subnet manager's log: it has not gone on to make the port Active",
                      "Armed");
        return false;
    default:
        results_stage(p->results, id, OUTCOME_FAIL,
                      "look at the cable, at the port at its other end, and whether that is switched on",
                      "Down: there is no link");
        return false;
    }
}

/* ---- the subnet manager */

enum {
    SA_SM_INFO_RECORD = 0x0018,
    SM_RECORD_INFO = 4,
    SM_RECORD_SIZE = SM_RECORD_INFO + SM_INFO_SIZE
}; /* IBA 15.2.5.10 */

static bool sa_answers(struct probe *p, const char *id)
{
    struct sa_question q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    struct sa_answer a;
    enum sa_result result = sa_ask(p, &q, &a);
    sa_answer_clear(&a);
    if (result == SA_TOLD || result == SA_REFUSED)
        return true;
    results_stage(
        p->results, id, OUTCOME_FAIL,
        "is the subnet manager's process there? A standby takes over after about a minute; a wrong SM LID of the port is cured by the next sweep",
        "the subnet administrator at LID %u does not answer", p->t->facts.sm_lid);
    return false;
}

static unsigned count_masters(const struct sa_answer *a, unsigned *all)
{
    unsigned masters = 0;
    uint32_t stride = a->stride ? a->stride : a->records->len;
    *all = 0;
    for (uint32_t at = 0; stride && at + SM_RECORD_SIZE <= a->records->len; at += stride, ++*all)
        masters += (a->records->data[at + SM_RECORD_INFO + SM_INFO_PRIORITY_STATE] & 0xf) == SM_MASTER;
    return masters;
}

bool stage_sm(struct probe *p, const char *id)
{
    struct sa_question q = {.method = SA_GET_TABLE, .attribute = SA_SM_INFO_RECORD};
    struct sa_answer a;
    unsigned all, masters;
    char text[80];
    if (!sa_answers(p, id))
        return false;
    results_sent(p->results, "SA GetTable SMInfoRecord");
    if (sa_ask(p, &q, &a) != SA_TOLD)
        results_stage(p->results, id, OUTCOME_PASS, "", "the subnet administrator at LID %u answers",
                      p->t->facts.sm_lid);
    else {
        masters = count_masters(&a, &all);
        snprintf(text, sizeof text, "%u subnet manager%s, %u master", all, all == 1 ? "" : "s", masters);
        results_came(p->results, "%s", text);
        results_stage(p->results, id, OUTCOME_PASS, "", "the subnet administrator at LID %u answers; %s",
                      p->t->facts.sm_lid, text);
        results_add(p->results, R_SM_ONE_MASTER, masters == 1 ? OUTCOME_PASS : OUTCOME_FAIL, "one master",
                    text);
    }
    sa_answer_clear(&a);
    return !p->stopped;
}

/* ---- the partition */

bool stage_pkey(struct probe *p, const char *id)
{
    char why[256];
    if (!link_find_pkey(p, why, sizeof why)) {
        results_stage(p->results, id, OUTCOME_FAIL,
                      "the subnet manager's partition configuration has to name this port's GUID", "%s", why);
        return false;
    }
    if (p->pkey & 0x8000)
        results_stage(p->results, id, OUTCOME_PASS, "", "0x%04x at index %u: full member", p->pkey,
                      p->pkey_index);
    else
        results_stage(
            p->results, id, OUTCOME_NOTED,
            "it talks to full members alone; the broadcast-GID has the full member's form all the same",
            "0x%04x at index %u: limited member", p->pkey, p->pkey_index);
    return true;
}

bool stage_pkey_twins(struct probe *p, const char *id)
{
    const struct port_facts *f = &p->t->facts;
    for (unsigned i = 0; i < f->n_pkeys; i++)
        for (unsigned k = i + 1; k < f->n_pkeys; k++)
            if ((f->pkeys[i] & 0x7fff) && (f->pkeys[i] ^ f->pkeys[k]) == 0x8000) {
                results_stage(p->results, id, OUTCOME_NOTED,
                              "make the port one kind of member: the two are the same partition",
                              "0x%04x and 0x%04x are both in the table", f->pkeys[i], f->pkeys[k]);
                return true;
            }
    results_stage(p->results, id, OUTCOME_PASS, "", "none");
    return true;
}
