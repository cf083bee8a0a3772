/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/link/advice.h"

#include <inttypes.h>
#include <stdio.h>

#include "probe/link/choice.h"
#include "probe/link/hostif.h"
#include "probe/link/transport.h"
#include "probe/link/way.h"
#include "wire/view.h"

void advice_name_port(const struct probe_link *l, struct port_words *w)
{
    const struct port_facts *f = &l->transport->facts;
    const struct choice *c = l->choice;
    bool chosen = c && c->device[0] && c->port;
    const char *device = chosen ? c->device : f->device;
    unsigned port = chosen ? c->port : f->port;
    snprintf(w->diags, sizeof w->diags, "-C %s -P %u", device, port);
    snprintf(w->stat, sizeof w->stat, "%s %u", device, port);
    snprintf(w->guid, sizeof w->guid, "0x%016" PRIx64, be64(f->gid + 8));
    if (c && c->interface[0])
        snprintf(w->probe, sizeof w->probe, "-d %s", c->interface);
    else
        snprintf(w->probe, sizeof w->probe, "-d %s -p %u", device, port);
}

char *advice_set_up(const char *interface)
{
    char *parent = host_parent(interface);
    bool first = parent && !host_is_up(parent);
    char *command = g_strdup_printf("%s%s%sip link set %s up", first ? "ip link set " : "",
                                    first ? parent : "", first ? " up; " : "", interface);
    g_free(parent);
    return command;
}

char *advice_create_interface(const struct probe_link *l)
{
    unsigned pkey = (l->pkey ? l->pkey : l->choice ? l->choice->pkey : 0xffff) | 0x8000u;
    char *parent = host_parent_of_port(&l->transport->facts);
    char *command = parent ? g_strdup_printf("ip link add link %s name %s.%04x type ipoib pkey "
                                             "0x%04x; or it is in another network namespace: "
                                             "ip netns",
                                             parent, parent, pkey, pkey)
                    : host_has_ipoib_driver() ? g_strdup("dmesg | grep -i ipoib; or it is in "
                                                         "another network namespace: ip netns")
                                              : g_strdup("modprobe ib_ipoib; dmesg");
    g_free(parent);
    return command;
}

char *advice_look_at_multicast(const struct probe_link *l, uint16_t mlid, uint16_t switch_lid,
                               uint16_t lid)
{
    struct port_words w;
    advice_name_port(l, &w);
    if (!switch_lid)
        return g_strdup_printf("ibswitches %s; ibroute %s -M with the LID of the switch at LID %u  "
                               "# MLID 0x%04x must lead there",
                               w.diags, w.diags, lid, mlid);
    return g_strdup_printf("ibroute %s -M %u  # MLID 0x%04x must lead to LID %u", w.diags,
                           switch_lid, mlid, lid);
}

/* It was alive a moment ago. */
static void advice_on_lost_sa(const struct probe_link *l, const char *history, char **words,
                              char **command)
{
    struct port_words w;
    advice_name_port(l, &w);
    *words = g_strdup_printf(
        "%s: it is slow, its answers are lost on the way, or it has just ended", history);
    *command = g_strdup_printf("perfquery %s: lost packets; smpquery %s nodedesc %u names its "
                               "host: see the load and the SM's log",
                               w.diags, w.diags, l->transport->facts.sm_lid);
}

/* Nothing at the SM's LID answers: where does the way to it end? */
static void advice_on_dead_end(const struct probe_link *l, char **words, char **command)
{
    const struct port_facts *f = &l->transport->facts;
    struct port_words w;
    advice_name_port(l, &w);
    struct way_to_lid way = way_follow(l->transport, f->sm_lid);
    if (way.is_down) {
        *words = g_strdup_printf("nothing at LID %u answers; the way to it ends at port %u of the "
                                 "switch with LID %u (hop %u), which is Down: the cable there is "
                                 "out, or what is at its other end is off",
                                 f->sm_lid, way.port, way.switch_lid, way.switches);
        *command = g_strdup_printf("check that cable; ibportstate %s %u %u; iblinkinfo %s; if the "
                                   "SM's host is off, start an SM elsewhere",
                                   w.diags, way.switch_lid, way.port, w.diags);
        return;
    }
    *words = g_strdup_printf("nothing at LID %u answers%s: its host is off, a cable on the way is "
                             "out, or this port's SM LID is wrong",
                             f->sm_lid, way.switches ? ", and this port's switch does" : "");
    *command = g_strdup_printf("iblinkinfo %s: is a cable out? ibtracert %s %u %u; if the host is "
                               "off, start an SM elsewhere: its sweep corrects the SM LID",
                               w.diags, w.diags, f->lid, f->sm_lid);
}

void advice_on_silent_sa(const struct probe_link *l, bool slow, const char *history, char **words,
                         char **command)
{
    enum { ALIVE_MS = 600 };
    struct transport *transport = l->transport;
    const struct port_facts *f = &transport->facts;
    struct port_words w;
    advice_name_port(l, &w);
    struct agent_request of_sm = {.lid = f->sm_lid, .sl = f->sm_sl};
    enum agent_answer agent = !slow && transport->ops->ask_agent
                                  ? transport->ops->ask_agent(transport, &of_sm, ALIVE_MS)
                                  : AGENT_NOT_ASKED;
    if (agent == AGENT_NOT_ASKED && *history) {
        advice_on_lost_sa(l, history, words, command);
        return;
    }
    switch (agent) {
    case AGENT_ANSWERS:
        *words = g_strdup_printf(
            "the port with LID %u is alive: the subnet manager there hangs or is "
            "very slow, or the SA's answers are lost",
            f->sm_lid);
        *command = g_strdup_printf(
            "smpquery %s nodedesc %u: see that host's load and the SM's log, "
            "restart the SM; sminfo %s: if it answers, perfquery %s",
            w.diags, f->sm_lid, w.diags, w.diags);
        break;
    case AGENT_SILENT:
        advice_on_dead_end(l, words, command);
        break;
    default:
        *words = g_strdup("it does not run, is very slow, or packets on the way are lost");
        *command = g_strdup_printf("sminfo %s; if it answers: perfquery %s, the SM's load; if not: "
                                   "iblinkinfo %s, is a cable out? else start the SM of LID %u",
                                   w.diags, w.diags, w.diags, f->sm_lid);
    }
}
