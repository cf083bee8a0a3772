/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport over a network interface, for hosts without libibverbs and libibumad: packet(7) on ib0.
 * The kernel chooses queue pair, path and GRH, and delivers datagrams without InfiniBand headers.
 * The sender's QPN, LID and GRH are therefore unknown, and the SA cannot be queried. See
 * transport.h.
 */
#include "probe/link/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/fail.h"
#include "hca/client.h"
#include "probe/link/link.h"
#include "probe/link/sysfs.h"
#include "wire/encap.h"
#include "wire/mgid.h"
#include "wire/smp.h"
#include "wire/view.h"

/*
 * The driver's pseudo-header before the encapsulation header: the destination link-layer address
 * when sending, zeros on receipt.
 */
enum { PSEUDO_SIZE = LLADDR_SIZE, FRAME_SIZE = PSEUDO_SIZE + UD_SIZE };

struct packet_transport {
    struct transport base;
    struct interface_link link;
    int fd;
    unsigned index;
    const volatile int *stop;
    uint8_t bytes[FRAME_SIZE];
};

static bool is_denied(int error)
{
    return error == EPERM || error == EACCES;
}

/* What failed on which interface, why, and what to do. */
static bool fail_interface(GError **error, const char *name, const char *what, int number)
{
    if (is_denied(number))
        return fail_with(error, "%s: %s: %s: run as root or grant CAP_NET_RAW", name, what,
                         strerror(number));
    if (number == ENETDOWN)
        return fail_with(error, "%s: %s: the interface is down or removed: try 'ip link set %s up'",
                         name, what, name);
    return fail_with(error, "%s: %s: %s", name, what, strerror(number));
}

static enum transport_result packet_fail(struct transport *t, const char *what, int number)
{
    GError *why = NULL;
    t->denied |= is_denied(number);
    fail_interface(&why, t->interface->name, what, number);
    g_strlcpy(t->error, why->message, sizeof t->error);
    g_error_free(why);
    return TRANSPORT_ERROR;
}

/* ---- sending and receiving */

/*
 * The kernel has already opened the interface's queue pair; P_Key and Q_Key are those of the
 * interface.
 */
static enum transport_result packet_open_qp(struct transport *t, unsigned pkey_index, uint32_t qkey)
{
    (void)pkey_index;
    (void)qkey;
    t->qpn = lladdr_read(t->interface->lladdr).qpn;
    return TRANSPORT_OK;
}

static enum transport_result send_frame(struct transport *t, const struct ud_to *to,
                                        const uint8_t *bytes, uint32_t n)
{
    struct packet_transport *k = (struct packet_transport *)t;
    uint8_t frame[FRAME_SIZE] = {0};
    struct sockaddr_ll where = {.sll_family = AF_PACKET,
                                .sll_ifindex = (int)k->index,
                                .sll_protocol = htons(be16(bytes + ENCAP_TYPE))};
    frame[LLADDR_QPN] = (uint8_t)(to->qpn >> 16);
    frame[LLADDR_QPN + 1] = (uint8_t)(to->qpn >> 8);
    frame[LLADDR_QPN + 2] = (uint8_t)to->qpn;
    memcpy(frame + LLADDR_GID, to->gid, 16);
    memcpy(frame + PSEUDO_SIZE, bytes, n);
    ssize_t sent = sendto(k->fd, frame, PSEUDO_SIZE + n, 0,
                          (const struct sockaddr *)(const void *)&where, sizeof where);
    if (sent < 0 && errno != ENOBUFS) /* a full queue counts as a lost packet */
        return packet_fail(t, "cannot send a packet", errno);
    return TRANSPORT_OK;
}

static bool packet_receive_one(struct packet_transport *k, struct ud_from *from)
{
    ssize_t n = recv(k->fd, k->bytes, sizeof k->bytes, MSG_DONTWAIT | MSG_TRUNC);
    if (n < PSEUDO_SIZE + ENCAP_SIZE)
        return false;
    uint32_t cap = (uint32_t)MIN((size_t)n, sizeof k->bytes) - PSEUDO_SIZE;
    *from = (struct ud_from){
        .bytes = view_make(k->bytes + PSEUDO_SIZE, cap, (uint32_t)n - PSEUDO_SIZE)};
    return true;
}

static enum transport_result packet_receive(struct transport *t, int ms, struct ud_from *from)
{
    struct packet_transport *k = (struct packet_transport *)t;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*k->stop || t->ending) {
        if (packet_receive_one(k, from))
            return TRANSPORT_OK;
        gint64 left = (end - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return TRANSPORT_NOTHING;
        struct pollfd fd = {k->fd, POLLIN, 0};
        int n = poll(&fd, 1, (int)MIN(left, 100));
        if (n < 0 && errno != EINTR)
            return packet_fail(t, "cannot wait for packets", errno);
        if (n > 0 && (fd.revents & POLLERR))
            return packet_fail(t, "cannot receive packets", ENETDOWN);
    }
    return TRANSPORT_STOPPED;
}

static enum transport_result packet_query_sa(struct transport *t, const struct sa_query *q, int ms,
                                             struct sa_response *a)
{
    (void)t;
    (void)q;
    (void)ms;
    (void)a;
    return TRANSPORT_NOTHING;
}

/* The interface already receives the groups that it has joined. */
static enum transport_result packet_attach(struct transport *t, const uint8_t *mgid, uint16_t mlid)
{
    (void)t;
    (void)mgid;
    (void)mlid;
    return TRANSPORT_OK;
}

static bool packet_read_again(struct transport *t, struct port_facts *now);

static void packet_close(struct transport *t)
{
    struct packet_transport *k = (struct packet_transport *)t;
    if (k->fd >= 0)
        close(k->fd);
    g_free(k);
}

static const struct transport_ops packet_ops = {
    .capabilities = CAN_SEND,
    .lacks = "a network interface does not show it: it needs the adapter's ib_uverbs and ib_umad",
    .open_qp = packet_open_qp,
    .send = send_frame,
    .receive = packet_receive,
    .query = packet_query_sa,
    .attach = packet_attach,
    .read_port = packet_read_again,
    .close = packet_close};

/* ---- interface and port data from sysfs */

static unsigned long read_sysfs_number(const char *folder, const char *file, int base)
{
    char *text = sysfs_read(folder, file);
    unsigned long value = strtoul(text, NULL, base);
    g_free(text);
    return value;
}

static bool read_lladdr(const char *folder, const char *file, uint8_t out[LLADDR_SIZE])
{
    char *text = sysfs_read(folder, file), **parts = g_strsplit(text, ":", -1);
    bool good = g_strv_length(parts) == LLADDR_SIZE;
    for (unsigned i = 0; good && i < LLADDR_SIZE; i++)
        out[i] = (uint8_t)strtoul(parts[i], NULL, 16);
    g_strfreev(parts);
    g_free(text);
    return good;
}

static void packet_read_pkeys(struct port_facts *f, const char *port)
{
    char *folder = g_build_filename(port, "pkeys", NULL), number[8];
    for (f->n_pkeys = 0; f->n_pkeys < TRANSPORT_PKEYS; f->n_pkeys++) {
        snprintf(number, sizeof number, "%u", f->n_pkeys);
        char *path = g_build_filename(folder, number, NULL);
        bool there = g_file_test(path, G_FILE_TEST_EXISTS);
        g_free(path);
        if (!there)
            break;
        f->pkeys[f->n_pkeys] = (uint16_t)read_sysfs_number(folder, number, 0);
    }
    g_free(folder);
}

static uint8_t mtu_code(unsigned long bytes)
{
    uint8_t code = 0;
    for (uint8_t c = 1; c <= 5; c++)
        code = ib_mtu_bytes(c) <= bytes + ENCAP_SIZE ? c : code;
    return code;
}

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)" */
static uint32_t packet_rate_100mbps(const char *port)
{
    char *text = sysfs_read(port, "rate");
    double gbps = g_ascii_strtod(text, NULL);
    g_free(text);
    return (uint32_t)(gbps * 10 + 0.5);
}

/* Reads the data of the interface's port, as far as this kernel exports it. */
static void packet_read_port(struct port_facts *f, const char *net)
{
    char *devices = g_build_filename(net, "device", "infiniband", NULL);
    GDir *dir = g_dir_open(devices, 0, NULL);
    const char *device = dir ? g_dir_read_name(dir) : NULL;
    char number[8];
    if (device) {
        snprintf(number, sizeof number, "%lu", read_sysfs_number(net, "dev_port", 0) + 1);
        char *port = g_build_filename(devices, device, "ports", number, NULL);
        f->lid = (uint16_t)read_sysfs_number(port, "lid", 0);
        f->sm_lid = (uint16_t)read_sysfs_number(port, "sm_lid", 0);
        f->lmc = (uint8_t)read_sysfs_number(port, "lid_mask_count", 0);
        f->state = (uint8_t)read_sysfs_number(port, "state",
                                              10); /* "4: ACTIVE": the IBA's number */
        f->port = (unsigned)read_sysfs_number(net, "dev_port", 0) + 1;
        f->rate_100mbps = packet_rate_100mbps(port);
        packet_read_pkeys(f, port);
        g_free(port);
    } else if (read_sysfs_number(net, "carrier", 10)) /* a container may not see the device */
        f->state = PORT_ACTIVE;
    if (dir)
        g_dir_close(dir);
    g_free(devices);
}

/* Old kernels do not export the P_Keys. */
static bool packet_read_again(struct transport *t, struct port_facts *now)
{
    char *net = g_build_filename("/sys/class/net", t->interface->name, NULL);
    *now = t->facts;
    packet_read_port(now, net);
    g_free(net);
    return t->facts.n_pkeys > 0;
}

static void packet_read_facts(struct packet_transport *k, const char *name, const char *net)
{
    struct port_facts *f = &k->base.facts;
    struct interface_link *l = &k->link;
    uint8_t broadcast[LLADDR_SIZE];
    char *mode = sysfs_read(net, "mode");
    packet_read_port(f, net);
    g_strlcpy(f->device, name, sizeof f->device);
    g_strlcpy(l->name, name, sizeof l->name);
    read_lladdr(net, "address", l->lladdr);
    memcpy(f->gid, l->lladdr + LLADDR_GID, 16);
    if (read_lladdr(net, "broadcast", broadcast))
        memcpy(l->broadcast_mgid, broadcast + LLADDR_GID, 16);
    l->pkey = (uint16_t)read_sysfs_number(net, "pkey", 0);
    if (!l->pkey) /* a child that was made by netlink has no such file: that of its broadcast-GID */
        l->pkey = be16(l->broadcast_mgid + MGID_PKEY);
    l->connected = strcmp(mode, "connected") == 0;
    /* 2048: supported by every link */
    f->mtu = l->connected ? 4 : mtu_code(read_sysfs_number(net, "mtu", 10));
    f->infiniband = true;
    g_free(mode);
}

/* ---- opening */

static bool bind_to(struct packet_transport *k)
{
    int on = 1;
    struct sockaddr_ll own = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)k->index};
    setsockopt(k->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    return bind(k->fd, (const struct sockaddr *)(const void *)&own, sizeof own) == 0;
}

enum opening packet_open(struct transport **t, const char *name, const volatile int *stop,
                         GError **error)
{
    *t = NULL;
    char *net = g_build_filename("/sys/class/net", name, NULL);
    struct packet_transport *k = g_new(struct packet_transport, 1);
    *k = (struct packet_transport){
        .base.ops = &packet_ops, .index = if_nametoindex(name), .stop = stop};
    /* protocol 0 until the socket is bound, so that it receives nothing from other interfaces */
    k->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    bool bound = k->fd >= 0 && k->index && bind_to(k);
    bool privilege = k->fd < 0 && is_denied(errno);
    if (bound) {
        packet_read_facts(k, name, net);
        k->base.interface = &k->link;
        *t = &k->base;
    } else {
        fail_interface(error, name, "cannot open a packet socket", errno);
        packet_close(&k->base);
    }
    g_free(net);
    return bound ? OPENED : privilege ? OPEN_NO_PRIVILEGE : OPEN_NO_DEVICE;
}
