/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons why a device does not allow a capture. See refusal.h. */
#include "capture/receive/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"

enum { ENOTSUPP = 524 }; /* internal kernel error number that some drivers return to user space */

static bool is_unsupported(int error)
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EPROTONOSUPPORT || error == ENOTSUPP;
}

struct refusal refused(enum refusal_step step, int error)
{
    return (struct refusal){.step = step, .error = error ? error : EIO};
}

struct refusal refusal_main(struct refusal a, struct refusal b)
{
    if (a.error == EPERM || a.error == EACCES)
        return a;
    if (b.error == EPERM || b.error == EACCES)
        return b;
    return b.step > a.step ? b : a;
}

static const char *step_text(enum refusal_step step)
{
    static const char *const texts[] = {
        [REFUSED_QP] = "no queue pair can be created",
        [REFUSED_STATE] = "the queue pair cannot be made ready",
        [REFUSED_RECEIVE] = "no receives can be posted",
        [REFUSED_FLOW] = "no sniffer can be set up",
    };

    return texts[step];
}

static void flow_cause(const struct device *device, struct refusal refusal, char *out, size_t size)
{
    const struct ibv_device *d = device->context->device;

    if (device_has_driver(d, "mlx5"))
        snprintf(
            out, size,
            "the device has no sniffer: its firmware does not offer allow_sniffer_and_nic_rx_shared_tir, or not "
            "for this link layer (create_flow: %s)",
            refusal.error == ENOTSUPP ? "not supported" : strerror(refusal.error));
    else if (device_has_driver(d, "mlx4"))
        snprintf(
            out, size,
            "the driver has flow steering switched off (create_flow: %s); switch it on by 'options mlx4_core "
            "log_num_mgm_entry_size=-1' in /etc/modprobe.d and reload the driver",
            strerror(refusal.error));
    else
        snprintf(
            out, size,
            "the driver has no sniffer: of the kernel's drivers only those of mlx5 and mlx4 devices offer one "
            "(create_flow: %s)",
            strerror(refusal.error));
}

static void sa_cause(struct refusal refusal, char *out, size_t size)
{
    if (refusal.error == EPERM || refusal.error == EACCES)
        snprintf(out, size, "the SA cannot be queried: permission denied: /dev/infiniband/umad*");
    else
        snprintf(out, size, "the SA cannot be queried: /dev/infiniband/umad* cannot be opened: %s",
                 strerror(refusal.error));
}

void refusal_cause(const struct device *device, struct refusal refusal, char *out, size_t size)
{
    if (refusal.step == REFUSED_TRANSPORT)
        snprintf(out, size, "the device is for iWARP, which has no InfiniBand frames");
    else if (refusal.step == REFUSED_ETHERNET)
        snprintf(out, size, "the link layer is Ethernet, which has no IPoIB groups");
    else if (refusal.step == REFUSED_SA)
        sa_cause(refusal, out, size);
    else if (refusal.error == EPERM || refusal.error == EACCES)
        snprintf(out, size, "this user may not capture, the capability CAP_NET_RAW is missing");
    else if (refusal.step == REFUSED_FLOW &&
             (is_unsupported(refusal.error) || refusal.error == EINVAL || refusal.error == ENOENT))
        flow_cause(device, refusal, out, size);
    else if (refusal.error == ENOMEM)
        snprintf(
            out, size,
            "%s: the device or the memory that may be locked (ulimit -l) does not suffice; ask for "
            "fewer buffers (-b)",
            step_text(refusal.step));
    else
        snprintf(out, size, "%s: %s", step_text(refusal.step), strerror(refusal.error));
}

static const char *way_out(const struct device *device, struct refusal refusal, const char *mode)
{
    bool denied = refusal.error == EPERM || refusal.error == EACCES;

    if (refusal.step == REFUSED_SA)
        return denied ? "run as root, or grant access to these files"
                      : "load the module: modprobe ib_umad";
    if (denied)
        return "run as root, or let a group run it with that (man ipoib-capture, RIGHTS): chgrp GROUP FILE; chmod 0750 "
               "FILE; setcap cap_net_raw+ep FILE";
    if (refusal.step == REFUSED_TRANSPORT)
        return "tcpdump on its network interface shows what it sends";
    if (device_is_ethernet(device))
        return "the way out for RoCE: tcpdump on the port's network interface, where the driver offers that";
    if (strcmp(mode, "sniffer") == 0)
        return "the way out: --mode multicast, which sees ARP, Neighbour Discovery and IP multicast of the whole link; what "
               "this host itself sends and receives, tcpdump on its IPoIB interface (ib0) shows";
    return "the way out: tcpdump on the IPoIB interface (ib0) shows at least what this host itself sends and receives";
}

void refusal_report(const struct device *device, struct refusal refusal, const char *mode)
{
    char cause[400];

    refusal_cause(device, refusal, cause, sizeof(cause));
    say("%s port %u: %s", device_name(device), device->port, cause);
    say("%s", way_out(device, refusal, mode));
}
