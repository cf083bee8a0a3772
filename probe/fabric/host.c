/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages about the host's own interface: carrier, MTU and mode, and whether its kernel responds
 * for addresses of other interfaces.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/fabric/stages.h"
#include "probe/link/advice.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

/* A port that the user named, or one beside others, may do without an interface. */
static void report_absent(struct target *t, const char *id)
{
    const struct port_facts *f = &t->link->transport->facts;
    char *advice = advice_create_interface(t->link);
    bool optional = t->link->choice && t->link->choice->optional;
    results_stage(t->results, id, optional ? OUTCOME_NOTED : OUTCOME_FAIL, advice,
                  "no IPoIB interface on %s port %u for partition 0x%04x", f->device, f->port,
                  t->link->pkey | 0x8000);
    g_free(advice);
}

static void report_no_carrier(struct target *t, const char *id, const char *name)
{
    char *state = sysfs_interface(name, "operstate"), *upper = g_ascii_strup(state, -1),
         *command = advice_set_up(name);
    char *advice = g_strdup_printf(
        "if fabric.join passes: ip link set %s down; %s; dmesg shows a join that is refused", name,
        command);
    results_stage(t->results, id, OUTCOME_FAIL, advice, "%s is up, but has no carrier%s%s%s", name,
                  *state ? " (" : "", upper, *state ? ")" : "");
    g_free(advice);
    g_free(command);
    g_free(upper);
    g_free(state);
}

static void report_interface(struct target *t, const char *id, const char *name)
{
    char *carrier = sysfs_interface(name, "carrier"), *command = advice_set_up(name);
    if (!host_is_up(name))
        results_stage(t->results, id, OUTCOME_FAIL, command, "%s is down", name);
    else if (strcmp(carrier, "1") != 0)
        report_no_carrier(t, id, name);
    else
        results_stage(t->results, id, OUTCOME_PASS, "", "%s is up and has carrier", name);
    g_free(command);
    g_free(carrier);
}

static bool stage_interface(struct target *t, const char *id)
{
    const struct transport *transport = t->link->transport;
    char *name = transport->interface ? g_strdup(transport->interface->name)
                                      : host_interface_in_any_state(&transport->facts,
                                                                    t->link->pkey);
    if (name)
        report_interface(t, id, name);
    else
        report_absent(t, id);
    g_free(name);
    return true;
}

/* Without an interface the stage is skipped. */
static char *interface_or_skip(struct target *t, const char *id)
{
    char *name = host_interface(t->link);
    if (!name)
        results_stage(t->results, id, VERDICT_SKIPPED, "", "no interface of this host is up there");
    return name;
}

static void report_other_mtu(struct target *t, const char *id, const char *name,
                             unsigned long bytes)
{
    unsigned link = link_mtu(t->link);
    results_stage(t->results, id, bytes > link ? OUTCOME_FAIL : OUTCOME_NOTED, "",
                  "%s is in datagram mode, MTU %lu bytes; the link's is %u", name, bytes, link);
    results_advise(t->results, "ip link set %s mtu %u; all hosts of the link use the same MTU",
                   name, link);
}

/* RFC 4391 §7: the link's MTU is the group's. RFC 4755 §5: a connection's MTU may be larger. */
static void report_mode(struct target *t, const char *id, const char *name, bool connected,
                        unsigned long bytes)
{
    unsigned link = link_mtu(t->link);
    if (connected)
        results_stage(
            t->results, id, OUTCOME_NOTED,
            "peers without connected mode (new adapters have none) get only packets of the link's MTU: if large ones vanish, compare with ipoib-probe --source FREE_ADDRESS PEER",
            "%s is in connected mode, MTU %lu bytes; over UD and to groups %u: larger multicast packets are dropped",
            name, bytes, link);
    else if (!link)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "",
                      "%s is in datagram mode, MTU %lu bytes; the link's is not known (fabric.mtu)",
                      name, bytes);
    else if (bytes == link)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%s is in datagram mode, MTU %lu bytes, the link's", name, bytes);
    else
        report_other_mtu(t, id, name, bytes);
}

static bool stage_mode(struct target *t, const char *id)
{
    char *name = interface_or_skip(t, id);
    if (!name)
        return true;
    char *mode = sysfs_interface(name, "mode"), *mtu = sysfs_interface(name, "mtu");
    report_mode(t, id, name, strcmp(mode, "connected") == 0, strtoul(mtu, NULL, 10));
    g_free(mode);
    g_free(mtu);
    g_free(name);
    return true;
}

/* ---- ARP flux caused by this host */

static unsigned long setting_of(const char *interface, const char *what)
{
    char *folder = g_build_filename("/proc/sys/net/ipv4/conf", interface, NULL),
         *text = sysfs_read(folder, what);
    unsigned long value = strtoul(text, NULL, 10);
    g_free(folder);
    g_free(text);
    return value;
}

/* The kernel uses the larger of the two values. */
static unsigned long setting(const char *interface, const char *what)
{
    return MAX(setting_of("all", what), setting_of(interface, what));
}

static bool stage_own_flux(struct target *t, const char *id)
{
    char *name = interface_or_skip(t, id);
    if (!name)
        return true;
    GPtrArray *all = host_interfaces(t->link);
    if (all->len < 2)
        results_stage(t->results, id, OUTCOME_PASS, "", "one interface on the link");
    else if (setting(name, "arp_ignore") >= 1 && setting(name, "arp_announce") >= 1)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%u interfaces on the link, each answers for its own address", all->len);
    else
        results_stage(
            t->results, id, OUTCOME_NOTED,
            "sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2",
            "%u interfaces may be on this link, and each answers ARP for the others' addresses",
            all->len);
    g_ptr_array_unref(all);
    g_free(name);
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.interface",
     .looks_at = "the host has an IPoIB interface on this partition, up, with carrier",
     .sends = "nothing",
     .run = stage_interface},
    {.id = "fabric.mode",
     .looks_at = "in datagram mode, the interface's MTU is the link's",
     .sends = "nothing",
     .run = stage_mode,
     .transport = CAN_QUERY_SA},
    {.id = "fabric.own-flux",
     .looks_at = "no interface of this host answers for the address of another one",
     .sends = "nothing",
     .run = stage_own_flux},
};
const struct stage_table host_stages = {stages, G_N_ELEMENTS(stages)};
