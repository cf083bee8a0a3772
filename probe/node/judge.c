/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stages of the target node. See judge.h. */
#include "probe/node/judge.h"

#include <string.h>

#include "hca/records.h"
#include "wire/encap.h"
#include "wire/smp.h"

static const struct node_stage stages[] = {
    {"node.port", "the port is Active", "nothing"},
    {"node.pkey", "the interface's partition is in the port's P_Key table", "nothing"},
    {"node.group", "the SA has this port as a member of the broadcast group",
     "SA Get MCMemberRecord, once for each port"},
    {"node.interface", "the interface is up and has carrier: the kernel has joined the group",
     "nothing"},
    {"node.mtu", "in datagram mode, the interface's MTU is the group's", "nothing"},
    {"node.joins", "the kernel has joined the groups that this host wants", "nothing"},
    {"node.counters", "no error counter grew since the last run, and the carrier did not change",
     "nothing"},
    {"node.gone", "the interfaces and devices of the last run are still there", "nothing"},
    {"node.state", "the state of the last run can be compared", "nothing"},
};

const struct node_stage *node_stage_at(unsigned i)
{
    return i < G_N_ELEMENTS(stages) ? &stages[i] : NULL;
}

G_GNUC_PRINTF(5, 6)
static void add(struct checked *j, const char *id, int outcome, const char *advice,
                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    checked_add_stage(j, id, outcome, text, advice);
    g_free(text);
}

static const struct stage *last_of(const struct checked *j)
{
    return j->stages->pdata[j->stages->len - 1];
}

/* The stages from ID on did not run, because of the last one. */
static void skip_from(struct checked *j, const char *id)
{
    const struct stage *cause = last_of(j);
    bool from = false;
    for (unsigned i = 0; strcmp(stages[i].id, "node.counters") != 0; i++) {
        from |= strcmp(stages[i].id, id) == 0;
        if (from)
            checked_add_stage_not_run(j, stages[i].id, cause);
    }
}

/* ---- the port */

static bool judge_hidden_port(struct checked *j, const struct node_link *l)
{
    if (l->carrier)
        add(j, "node.port", OUTCOME_PASS, "",
            "this network namespace does not show the RDMA device, and %s has carrier",
            l->at.interface);
    else
        add(j, "node.port", OUTCOME_INCONCLUSIVE,
            "run it where /sys/class/infiniband shows the device",
            "this network namespace does not show the RDMA device of %s", l->at.interface);
    return l->carrier;
}

static bool judge_port(struct checked *j, const struct node_link *l)
{
    char *look = g_strdup_printf("ibstat %s %u", l->at.device, l->at.port);
    bool active = l->state == PORT_ACTIVE;
    if (l->vanished)
        add(j, "node.port", OUTCOME_FAIL, "dmesg", "%s vanished while it was read",
            l->at.interface[0] ? l->at.interface : l->at.device);
    else if (!l->has_port)
        active = judge_hidden_port(j, l);
    else if (active)
        add(j, "node.port", OUTCOME_PASS, "", "%s port %u is Active, LID %u, %.0f Gb/s",
            l->at.device, l->at.port, l->lid, l->bits_per_second / 1e9);
    else if (l->state == PORT_INIT || l->state == PORT_ARMED)
        add(j, "node.port", OUTCOME_FAIL, look,
            "%s port %u is %s: no subnet manager has made it Active", l->at.device, l->at.port,
            l->state == PORT_INIT ? "Initialize" : "Armed");
    else
        add(j, "node.port", OUTCOME_FAIL, look, "%s port %u is Down: there is no link",
            l->at.device, l->at.port);
    g_free(look);
    return active && !l->vanished;
}

static bool judge_pkey(struct checked *j, const struct node_link *l)
{
    unsigned pkey = l->at.pkey | 0x8000u;
    if (!l->at.interface[0] || l->pkey == NODE_PKEY_UNKNOWN)
        add(j, "node.pkey", VERDICT_SKIPPED, "",
            l->at.interface[0] ? "the kernel does not show the port's P_Key table"
                               : "the port has no IPoIB interface");
    else if (l->pkey == NODE_PKEY_ABSENT)
        add(j, "node.pkey", OUTCOME_FAIL,
            "add the port to the partition in the subnet manager's partitions.conf",
            "%s port %u is not in partition 0x%04x", l->at.device, l->at.port, pkey);
    else
        add(j, "node.pkey", OUTCOME_PASS, "", "%s member of 0x%04x",
            l->pkey == NODE_PKEY_FULL ? "full" : "limited", pkey);
    return l->pkey != NODE_PKEY_ABSENT || !l->at.interface[0];
}

/* ---- the interface */

/* Returns false if there is no interface that is up. */
static bool judge_up(struct checked *j, const struct node_link *l)
{
    char *command = g_strdup_printf("ip link set %s up", l->at.interface);
    bool up = l->at.interface[0] && l->up;
    if (l->at.interface[0] && !l->up)
        add(j, "node.interface", OUTCOME_FAIL, command, "%s is down", l->at.interface);
    else if (!up && l->at.optional)
        add(j, "node.interface", OUTCOME_PASS, "",
            "%s port %u has no IPoIB interface, and needs none", l->at.device, l->at.port);
    else if (!up)
        add(j, "node.interface", OUTCOME_FAIL, "modprobe ib_ipoib; ip link show",
            "%s port %u has no IPoIB interface", l->at.device, l->at.port);
    g_free(command);
    return up;
}

static void judge_carrier(struct checked *j, const struct node_link *l)
{
    char *command = g_strdup_printf("ip link set %s down; ip link set %s up", l->at.interface,
                                    l->at.interface);
    if (l->carrier)
        add(j, "node.interface", OUTCOME_PASS, "", "%s is up and has carrier%s", l->at.interface,
            l->connected ? ", connected mode" : "");
    else if (last_of(j)->outcome == OUTCOME_FAIL)
        checked_add_stage_not_run(j, "node.interface", last_of(j));
    else
        add(j, "node.interface", OUTCOME_FAIL, l->answer == NODE_MEMBER ? command : "dmesg",
            "%s is up, but has no carrier: the kernel has not joined the broadcast group%s",
            l->at.interface,
            l->answer == NODE_MEMBER ? ", and the SA has this port as a member" : "");
    g_free(command);
}

static void judge_mtu(struct checked *j, const struct node_link *l)
{
    unsigned bytes = ib_mtu_bytes(l->group.mtu), link = bytes ? bytes - ENCAP_SIZE : 0;
    char *command = g_strdup_printf("ip link set %s mtu %u", l->at.interface, link);
    if (l->connected)
        add(j, "node.mtu", OUTCOME_PASS, "", "connected mode, MTU %u", l->mtu);
    else if (l->answer != NODE_MEMBER || !link)
        add(j, "node.mtu", VERDICT_SKIPPED, "", "datagram mode, MTU %u; the group's is not known",
            l->mtu);
    else if (l->mtu == link)
        add(j, "node.mtu", OUTCOME_PASS, "", "datagram mode, MTU %u, the group's", l->mtu);
    else
        add(j, "node.mtu", l->mtu > link ? OUTCOME_FAIL : OUTCOME_NOTED, command,
            "%s has MTU %u, and the group %u", l->at.interface, l->mtu, link);
    g_free(command);
}

/* ---- the SA */

bool node_at_odds(const struct node_link *l)
{
    return l->answer == NODE_NOT_MEMBER;
}

static void judge_absent(struct checked *j, const struct node_link *l)
{
    char *command = g_strdup_printf("ipoib-probe -d %s fabric", l->at.interface);
    unsigned pkey = l->at.pkey | 0x8000u;
    if (l->carrier)
        add(j, "node.group", OUTCOME_FAIL, command,
            "the SA does not have this port in the broadcast group of 0x%04x, and the kernel has "
            "joined it",
            pkey);
    else
        add(j, "node.group", OUTCOME_FAIL, command,
            "no carrier: the SA has no broadcast group of 0x%04x, or this port is not in it", pkey);
    g_free(command);
}

/* Also if the SM ended and its port answers: all nodes see it at the same time, and none is at
 * fault. */
static void judge_no_answer(struct checked *j, const struct node_link *l)
{
    char *command = g_strdup_printf("sminfo -C %s -P %u %u", l->at.device, l->at.port, l->sm_lid);
    if (l->answer == NODE_NO_SA)
        add(j, "node.group", OUTCOME_INCONCLUSIVE, command, "there is no SA at the SM's LID %u",
            l->sm_lid);
    else if (l->answer == NODE_NO_RESPONSE)
        add(j, "node.group", OUTCOME_INCONCLUSIVE, command,
            "the SA at LID %u did not answer in time", l->sm_lid);
    else
        add(j, "node.group", OUTCOME_INCONCLUSIVE, "", "the SA at LID %u is busy", l->sm_lid);
    g_free(command);
}

static void judge_group(struct checked *j, const struct node_link *l)
{
    switch (l->answer) {
    case NODE_MEMBER:
        add(j, "node.group", OUTCOME_PASS, "",
            "the SA has this port in the broadcast group: MLID 0x%04x, MTU %u; %.1f ms",
            l->group.mlid, ib_mtu_bytes(l->group.mtu), l->answer_seconds * 1000);
        return;
    case NODE_NOT_MEMBER:
        judge_absent(j, l);
        return;
    case NODE_NO_RESPONSE:
    case NODE_BUSY:
    case NODE_NO_SA:
        judge_no_answer(j, l);
        return;
    case NODE_REFUSED:
        add(j, "node.group", OUTCOME_INCONCLUSIVE, "see the SM's log",
            "the SA refuses: status 0x%04x, %s", l->status, sa_status_name(l->status));
        return;
    case NODE_NO_FIT:
        add(j, "node.group", OUTCOME_INCONCLUSIVE, "see the SM's log",
            "the SA's answer does not fit: %s", l->why);
        return;
    case NODE_NO_PRIVILEGE:
        add(j, "node.group", OUTCOME_INCONCLUSIVE,
            "run it as root, or grant access to /dev/infiniband/umad*",
            "this user may not ask the SA");
        return;
    case NODE_NO_UMAD:
        add(j, "node.group", OUTCOME_INCONCLUSIVE, "modprobe ib_umad", "the SA cannot be asked: %s",
            l->why);
        return;
    case NODE_NOT_ASKED:
        add(j, "node.group", VERDICT_SKIPPED, "",
            "another interface of the port was asked about; the next run asks about the next");
        return;
    default:
        add(j, "node.group", OUTCOME_INCONCLUSIVE, "",
            "the SA cannot be asked: the kernel does not show the port's GID, or the group's");
    }
}

/* ---- since the last run */

static void judge_joins(struct checked *j, const struct node_link *l, const struct node_memory *m)
{
    if (!l->groups_known)
        add(j, "node.joins", VERDICT_SKIPPED, "",
            "the kernel does not show its groups: /sys/kernel/debug/ipoib");
    else if (l->waiting && m && m->waited)
        add(j, "node.joins", OUTCOME_NOTED, "dmesg",
            "%s has waited to join %u multicast group%s since the last run; %u joined",
            l->at.interface, l->waiting, l->waiting == 1 ? "" : "s", l->joined);
    else
        add(j, "node.joins", OUTCOME_PASS, "", "%u groups joined, %u waiting", l->joined,
            l->waiting);
}

/* The counters of the port count for its first interface; the changes of carrier are its own. */
static void keep_own(struct port_counters *c, bool with_port)
{
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        c->known[i] &= with_port || !counters_file(i)[0];
}

static void judge_counters(struct checked *j, const struct node_link *l,
                           const struct node_memory *m, const struct node_state *s, bool with_port)
{
    struct port_counters before = m ? m->counters : (struct port_counters){.read_at = 0},
                         after = l->counters;
    keep_own(&after, with_port);
    struct counter_growth g = counters_compare(&before, &after);
    if (!counters_are_known(&after))
        add(j, "node.counters", VERDICT_SKIPPED, "",
            with_port ? "the kernel does not show them"
                      : "those of the port count for another interface");
    else if (m && with_port && !counters_of_port_are_known(&after) && !g.errors[0])
        add(j, "node.counters", VERDICT_SKIPPED, "",
            "the kernel does not show the port's error counters here, as in another network "
            "namespace than its own");
    else if (!m)
        add(j, "node.counters", VERDICT_SKIPPED, "", "nothing to compare with: %s",
            s->why[0] ? s->why : "it was not there in the last run");
    else
        add(j, "node.counters", g.fault ? OUTCOME_NOTED : OUTCOME_PASS, g.fault ? g.advice : "",
            "%s%s%s%s%s, in %.0f s", g.errors[0] ? g.errors : "no error counter grew",
            g.other[0] ? "; " : "", g.other, g.full[0] ? "; at its maximum: " : "", g.full,
            node_state_age(s));
    counters_growth_clear(&g);
}

bool node_judge_gone(struct checked *j, const struct node_memory *m, bool port_is_there)
{
    if (port_is_there)
        add(j, "node.gone", OUTCOME_NOTED, "ip link show",
            "%s was there in the last run: it was deleted, or is in another network namespace",
            m->interface);
    else
        add(j, "node.gone", OUTCOME_FAIL, "dmesg; lspci",
            "%s port %u%s%s was there in an earlier run, and is gone", m->device, m->port,
            m->interface[0] ? " and its interface " : "", m->interface);
    return !port_is_there;
}

void node_judge_state(struct checked *j, const struct node_state *s)
{
    double jump = node_state_jump(s);
    if (!s->usable)
        add(j, "node.state", VERDICT_SKIPPED, "", "nothing is compared with the last run: %s",
            s->why);
    else if (jump != 0)
        add(j, "node.state", OUTCOME_PASS, "",
            "the last run was %.0f s ago; the clock was set by %+.0f s since", node_state_age(s),
            jump);
    else
        add(j, "node.state", OUTCOME_PASS, "", "the last run was %.0f s ago", node_state_age(s));
}

/* ---- all stages of an interface */

static void judge_link(struct checked *j, const struct node_link *l, const struct node_memory *m)
{
    if (!judge_port(j, l)) {
        skip_from(j, "node.pkey");
        return;
    }
    if (!judge_pkey(j, l)) {
        skip_from(j, "node.group");
        return;
    }
    if (!judge_up(j, l))
        return;
    judge_group(j, l);
    judge_carrier(j, l);
    judge_mtu(j, l);
    judge_joins(j, l, m);
}

void node_judge(struct checked *j, const struct node_link *l, const struct node_state *s,
                bool with_port)
{
    const struct node_memory *m = node_state_find(s, l->at.interface, l->at.device, l->at.port);
    judge_link(j, l, m);
    if (!l->vanished)
        judge_counters(j, l, m, s, with_port);
}

/* ---- in one word */

enum node_word node_word_of_outcome(int outcome)
{
    return outcome == OUTCOME_FAIL           ? NODE_FAULT
           : outcome == OUTCOME_INCONCLUSIVE ? NODE_NOT_JUDGED
           : outcome == OUTCOME_NOTED        ? NODE_DEGRADED
                                             : NODE_OK;
}

bool node_word_is_worse(enum node_word one, enum node_word other)
{
    static const unsigned rank[] = {
        [NODE_OK] = 0, [NODE_DEGRADED] = 1, [NODE_NOT_JUDGED] = 2, [NODE_FAULT] = 3};
    return rank[one] > rank[other];
}

enum node_word node_word_of(const struct checked *j)
{
    enum node_word worst = NODE_OK;
    for (guint i = 0; j->stages && i < j->stages->len; i++) {
        enum node_word w = node_word_of_outcome(
            ((const struct stage *)j->stages->pdata[i])->outcome);
        worst = node_word_is_worse(w, worst) ? w : worst;
    }
    return worst;
}
