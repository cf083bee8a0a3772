/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stages about the host's own interface: carrier, MTU and mode, and whether its kernel responds
 * for addresses of other interfaces.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/fabric/stages.h"
#include "probe/link/hostif.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "probe/run/target.h"

static bool stage_interface(struct target *t, const char *id)
{
    char *name = host_interface(t->link);
    if (!name) {
        results_stage(
            t->results, id, OUTCOME_NOTED,
            "ip link: if there is an interface, it is down, in another partition, or in another network namespace",
            "no interface of this host is up on this port and partition");
        return true;
    }
    char *carrier = sysfs_interface(name, "carrier");
    if (strcmp(carrier, "1") == 0)
        results_stage(t->results, id, OUTCOME_PASS, "", "%s is up and has carrier", name);
    else
        results_stage(
            t->results, id, OUTCOME_FAIL,
            "the interface gets a carrier when it joins the broadcast group: if fabric.join passes, set the interface down and up; dmesg shows which join the SA rejected",
            "%s is up, but has no carrier", name);
    g_free(carrier);
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

/* RFC 4391 §7: the link's MTU is the group's. RFC 4755 §5: a connection's MTU may be larger. */
static void report_mode(struct target *t, const char *id, const char *name, bool connected,
                        unsigned long bytes)
{
    unsigned link = link_mtu(t->link);
    if (connected)
        results_stage(
            t->results, id, OUTCOME_NOTED,
            "peers without connected mode (new adapters have none) get only packets of the link's MTU: if large ones vanish, compare with ipoib-probe --source FREE_ADDRESS PEER",
            "%s is in connected mode, MTU %lu bytes; over UD %u", name, bytes, link);
    else if (!link)
        results_stage(t->results, id, OUTCOME_INCONCLUSIVE, "",
                      "%s is in datagram mode, MTU %lu bytes; the link's is not known (fabric.mtu)",
                      name, bytes);
    else if (bytes == link)
        results_stage(t->results, id, OUTCOME_PASS, "",
                      "%s is in datagram mode, MTU %lu bytes, the link's", name, bytes);
    else
        results_stage(
            t->results, id, bytes > link ? OUTCOME_FAIL : OUTCOME_NOTED,
            "ip link set MTU: all hosts of the link use the same MTU, that of the broadcast group minus 4",
            "%s is in datagram mode, MTU %lu bytes; the link's is %u", name, bytes, link);
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
            "sysctl net.ipv4.conf.all.arp_ignore=1 and arp_announce=2",
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
