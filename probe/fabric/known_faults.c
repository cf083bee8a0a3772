/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known faults of other software, recognised from what the other stages and sysfs show. Each names
 * its source, so that a reader can compare.
 */
#include <string.h>

#include "hca/records.h"
#include "probe/fabric/stages.h"
#include "probe/link/hostif.h"
#include "probe/link/known_faults.h"
#include "probe/link/link.h"
#include "wire/port_records.h"
#include "probe/link/sa.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"
#include "probe/run/results.h"
#include "wire/put.h"
#include "wire/smp.h"

struct known_fault {
    const char *words, *advice, *source;
    char *(*evidence)(struct target *t); /* NULL: it is not recognised; free with g_free() */
};

/* ---- the device */

static const char *device_of(const struct target *t)
{
    if (t->link->choice && t->link->choice->device[0])
        return t->link->choice->device;
    return t->link->transport && !t->link->transport->interface ? t->link->transport->facts.device
                                                                : NULL;
}

static char *device_file(const struct target *t, const char *file)
{
    const char *device = device_of(t);
    char *folder = device ? g_build_filename("/sys/class/infiniband", device, NULL) : NULL,
         *text = folder ? sysfs_read(folder, file) : g_strdup("");
    g_free(folder);
    return text;
}

static bool is_virtual_function(const struct target *t)
{
    char *vendor = device_file(t, "device/physfn/vendor");
    bool is = *vendor;
    g_free(vendor);
    return is;
}

static bool has_guid(const struct target *t)
{
    char *guid = device_file(t, "node_guid");
    bool has = strspn(guid, "0:") < strlen(guid);
    const struct transport *transport = t->link->transport;
    for (unsigned i = 8; transport && i < 16; i++)
        has |= transport->facts.gid[i] != 0;
    g_free(guid);
    return has;
}

/* ---- the faults */

static char *has_no_guid(struct target *t)
{
    return is_virtual_function(t) && !has_guid(t)
               ? g_strdup_printf("%s is a virtual function, and its GUID is 0", device_of(t))
               : NULL;
}

static char *has_no_virtualisation(struct target *t)
{
    const struct transport *transport = t->link->transport;
    bool waits = transport &&
                 (transport->facts.state == PORT_DOWN || transport->facts.state == PORT_INIT);
    return waits && is_virtual_function(t) && has_guid(t)
               ? g_strdup_printf("%s is a virtual function with a GUID, and its port is %s",
                                 device_of(t),
                                 transport->facts.state == PORT_DOWN ? "Down" : "in Initialize")
               : NULL;
}

static char *lacks_driver(struct target *t)
{
    const struct transport *transport = t->link->transport;
    if (!transport || transport->interface)
        return NULL;
    char *interface = host_interface_in_any_state(&transport->facts, t->link->pkey);
    bool lacks = !interface && !host_has_ipoib_driver();
    g_free(interface);
    return lacks ? g_strdup("the module ib_ipoib is not loaded, so there is no interface") : NULL;
}

static char *keeps_groups(struct target *t)
{
    return t->link->memberless
               ? g_strdup_printf("%u groups have no member and take MLIDs", t->link->memberless)
               : NULL;
}

/* What the SM knows of this port's speed (IBA 14.2.5.6: LinkSpeedExtActive; 8: NDR). */
static char *knows_no_ndr(struct target *t)
{
    enum { PORT_INFO = 4, EXT_ACTIVE = PORT_INFO + 62, NDR = 8 };
    struct transport *transport = t->link->transport;
    struct sa_query q = {
        .method = SA_GET, .attribute = SA_PORT_INFO_RECORD, .mask = PORT_RECORD_HAS_LID};
    struct sa_response a;
    if (!transport || !known_faults_is_ndr(t->link) || !transport_can(transport, CAN_QUERY_SA) ||
        t->run->sa.failures)
        return NULL;
    put16(q.record, transport->facts.lid);
    bool found = sa_query_send(t, &q, &a) == SA_SUCCESS && a.records->len > EXT_ACTIVE;
    unsigned speed = found ? a.records->data[EXT_ACTIVE] >> 4 : NDR;
    sa_response_clear(&a);
    return speed < NDR ? g_strdup_printf("this port's link is NDR, and the SA's record of it has "
                                         "the extended speed %u (NDR: 8)",
                                         speed)
                       : NULL;
}

static const struct known_fault faults[] = {
    {"a virtual function without a GUID: its port never becomes active",
     "on the host of the physical function: ip link set PF vf N node_guid GUID; the same with "
     "port_guid; then unbind and bind the driver of the virtual function",
     "https://github.com/openshift/sriov-network-device-plugin/issues/20", has_no_guid},
    {"a subnet manager without virtualisation: it does not activate ports of virtual functions",
     "use an SM that supports it (OpenSM of MLNX_OFED or DOCA, UFM), with virt_enabled 2",
     "https://github.com/linux-rdma/opensm/issues/22", has_no_virtualisation},
    {"ib_ipoib is missing, as after an update of kernel or driver", "modprobe ib_ipoib; dmesg",
     "linux-rdma mailing list, November 2021", lacks_driver},
    {"OpenSM leaks MLIDs: a port that joins with JoinState 0x9 and leaves with 0x1 leaves its group "
     "behind",
     "update OpenSM, and restart it to get the MLIDs back; the partition configuration may have "
     "such groups too",
     "https://github.com/linux-rdma/opensm/pull/43", keeps_groups},
    {KNOWN_NDR, KNOWN_NDR_ADVICE, KNOWN_NDR_SOURCE, knows_no_ndr},
};

static bool stage_known_faults(struct target *t, const char *id)
{
    unsigned n = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(faults) && !target_ended(t); i++) {
        char *evidence = faults[i].evidence(t);
        if (evidence)
            results_stage(t->results, id, OUTCOME_NOTED, faults[i].advice, "%s: %s (%s)",
                          faults[i].words, evidence, faults[i].source);
        n += evidence != NULL;
        g_free(evidence);
    }
    if (!n)
        results_stage(t->results, id, OUTCOME_PASS, "", "none of %zu known faults is recognised",
                      G_N_ELEMENTS(faults));
    return true;
}

static const struct stage_of_fabric stages[] = {
    {.id = "fabric.known-faults",
     .looks_at = "no known fault of a driver or subnet manager is recognised",
     .sends = "if the link is NDR: SA Get PortInfoRecord of this port",
     .run = stage_known_faults,
     .at_end = true},
};
const struct stage_table known_fault_stages = {stages, G_N_ELEMENTS(stages)};
