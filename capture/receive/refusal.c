/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons why a device does not allow a capture. See refusal.h. */
#include "capture/receive/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/fail.h"

enum { ENOTSUPP = 524 }; /* internal kernel error number that some drivers return to user space */

static bool is_unsupported(int error)
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EPROTONOSUPPORT || error == ENOTSUPP;
}

static const char *error_text(int error)
{
    return error == ENOTSUPP ? "not supported" : strerror(error);
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
            "the device has no sniffer: its firmware does not offer allow_sniffer_and_nic_rx_shared_tir "
            "for this link layer (create_flow: %s)",
            error_text(refusal.error));
    else if (device_has_driver(d, "mlx4"))
        snprintf(
            out, size,
            "the driver's flow steering is off (create_flow: %s); switch it on by 'options mlx4_core "
            "log_num_mgm_entry_size=-1' in /etc/modprobe.d and reload the driver",
            strerror(refusal.error));
    else if (device_has_driver(d, "bnxt"))
        snprintf(
            out, size,
            "bnxt_re devices have a sniffer only with a kernel and an rdma-core of 2025 or newer "
            "(create_flow: %s)",
            strerror(refusal.error));
    else
        snprintf(
            out, size,
            "the driver has no sniffer: the kernel's drivers of mlx5, mlx4 and (since 2025) bnxt_re devices have one "
            "(create_flow: %s)",
            strerror(refusal.error));
}

/* An InfiniBand port whose driver is not known to attach a flow to a UD queue pair. */
static void infiniband_cause(const struct device *device, struct refusal refusal, char *out,
                             size_t size)
{
    const char *step = step_text(refusal.step), *error = error_text(refusal.error);

    if (device_has_driver(device->context->device, "mlx5"))
        snprintf(
            out, size,
            "InfiniBand ports of mlx5 devices have no verbs sniffer (%s: %s): use the firmware's (--sniffer firmware)",
            step, error);
    else
        snprintf(
            out, size,
            "no verbs sniffer of this driver is known for InfiniBand ports: only mlx4's is (%s: %s)",
            step, error);
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
        snprintf(out, size, "permission denied: the capability CAP_NET_RAW is missing");
    else if (refusal.ud_unsafe && refusal.error != ENOMEM)
        infiniband_cause(device, refusal, out, size);
    else if (refusal.step == REFUSED_FLOW &&
             (is_unsupported(refusal.error) || refusal.error == EINVAL || refusal.error == ENOENT))
        flow_cause(device, refusal, out, size);
    else if (refusal.error == ENOMEM)
        snprintf(
            out, size,
            "%s: the device, or the limit of locked memory (ulimit -l), is too small; ask for fewer "
            "buffers (-b)",
            step_text(refusal.step));
    else
        snprintf(out, size, "%s: %s", step_text(refusal.step), strerror(refusal.error));
}

static const char *advice(const struct device *device, struct refusal refusal, const char *mode)
{
    bool denied = refusal.error == EPERM || refusal.error == EACCES;

    if (refusal.step == REFUSED_SA)
        return denied ? "run as root, or grant access to these files"
                      : "load the module: modprobe ib_umad";
    if (denied && strcmp(mode, "firmware") == 0)
        return "run as root with all capabilities: in a container, docker run --privileged";
    if (denied)
        return "run as root, or let a group run the program with it (man ipoib-capture, PRIVILEGES): chgrp GROUP FILE; "
               "chmod 0750 FILE; setcap cap_net_raw+ep FILE";
    if (refusal.step == REFUSED_TRANSPORT)
        return "capture on its network interface with tcpdump";
    if (device_is_ethernet(device))
        return "capture RoCE with tcpdump on the port's network interface, if its driver supports that";
    if (strcmp(mode, "multicast") != 0)
        return "use --mode multicast for ARP, Neighbour Discovery and IP multicast of the whole link, or tcpdump on the "
               "IPoIB interface (ib0) for what this host sends and receives";
    return "use tcpdump on the IPoIB interface (ib0) for what this host sends and receives";
}

bool refusal_fail(GError **error, const struct device *device, struct refusal refusal,
                  const char *mode)
{
    char cause[400];

    if (refusal.again)
        return fail_with(
            error,
            "%s port %u: the failed queue pair cannot be replaced: %s: %s; start the capture again",
            device_name(device), device->port, step_text(refusal.step), error_text(refusal.error));
    refusal_cause(device, refusal, cause, sizeof(cause));
    return fail_with(error, "%s port %u: %s; %s", device_name(device), device->port, cause,
                     advice(device, refusal, mode));
}
