/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the kernel shows of a port and its interface. See facts.h. */
#include "probe/node/facts.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/link/hostif.h"
#include "probe/link/sysfs.h"
#include "probe/link/transport.h"
#include "wire/lladdr.h"
#include "wire/smp.h"

#define DEBUGFS "/sys/kernel/debug/ipoib"

static unsigned long number_of(const char *folder, const char *file)
{
    char *text = sysfs_read(folder, file);
    unsigned long value = strtoul(text, NULL, 0);
    g_free(text);
    return value;
}

static bool is_folder(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_DIR);
}

/* ---- the port */

/* Beside the interface: in another network namespace the kernel hides the device's own folder. */
static char *port_folder(const struct choice *c)
{
    char *beside = g_strdup_printf("/sys/class/net/%s/device/infiniband/%s/ports/%u", c->interface,
                                   c->device, c->port);
    if (c->interface[0] && is_folder(beside))
        return beside;
    g_free(beside);
    return g_strdup_printf("/sys/class/infiniband/%s/ports/%u", c->device, c->port);
}

static enum node_pkey find_pkey(const char *folder, uint16_t wanted)
{
    enum node_pkey found = NODE_PKEY_UNKNOWN;
    for (unsigned i = 0; i < TRANSPORT_PKEYS && found != NODE_PKEY_FULL; i++) {
        char name[24];
        g_snprintf(name, sizeof name, "pkeys/%u", i);
        char *text = sysfs_read(folder, name);
        uint16_t pkey = (uint16_t)strtoul(text, NULL, 16);
        bool ends = !*text;
        g_free(text);
        if (ends)
            break;
        if (found == NODE_PKEY_UNKNOWN)
            found = NODE_PKEY_ABSENT;
        if (pkey & 0x7fff && !((pkey ^ wanted) & 0x7fff))
            found = pkey & 0x8000 ? NODE_PKEY_FULL : NODE_PKEY_LIMITED;
    }
    return found;
}

static void read_gid(struct node_link *l, const char *folder)
{
    char *text = sysfs_read(folder, "gids/0");
    l->has_gid = inet_pton(AF_INET6, text, l->gid) == 1;
    g_free(text);
}

/* "100 Gb/sec (4X EDR)" */
static double read_rate(const char *folder)
{
    enum { GIGA = 1000000000 };
    char *text = sysfs_read(folder, "rate");
    double rate = g_ascii_strtod(text, NULL) * GIGA;
    g_free(text);
    return rate;
}

static void read_port(struct node_link *l)
{
    char *folder = port_folder(&l->at), *counters = g_build_filename(folder, "counters", NULL);
    l->state = (uint8_t)number_of(folder, "state");
    l->has_port = l->state != PORT_NO_CHANGE;
    l->lid = (unsigned)number_of(folder, "lid");
    l->sm_lid = (unsigned)number_of(folder, "sm_lid");
    l->bits_per_second = read_rate(folder);
    l->pkey = find_pkey(folder, l->at.pkey ? l->at.pkey : 0xffff);
    read_gid(l, folder);
    counters_read_from(counters, l->at.interface[0] ? l->at.interface : NULL, &l->counters);
    g_free(counters);
    g_free(folder);
}

/* ---- the interface */

/* The group is in the 20-byte broadcast address (RFC 4391 §4). */
static void read_mgid(struct node_link *l, const char *folder)
{
    char *text = sysfs_read(folder, "broadcast"), **parts = g_strsplit(text, ":", -1);
    l->has_mgid = g_strv_length(parts) == LLADDR_SIZE;
    for (unsigned i = 0; l->has_mgid && i < GID_SIZE; i++)
        l->mgid[i] = (uint8_t)strtoul(parts[LLADDR_GID + i], NULL, 16);
    g_strfreev(parts);
    g_free(text);
}

/*
 * Lines of ib_ipoib: "GID: ff12:...", then indented "complete: yes" once it is joined, "send_only:
 * no" unless this host only sends to it. A group to which it only sends is joined at need.
 */
bool node_read_groups(const char *text, unsigned *joined, unsigned *waiting)
{
    char **lines = g_strsplit(text, "\n", -1), word[8];
    bool any = false, complete = false;
    *joined = *waiting = 0;
    for (char **line = lines; *line; line++) {
        any |= g_str_has_prefix(*line, "GID:");
        if (sscanf(*line, " complete: %7s", word) == 1)
            complete = strcmp(word, "yes") == 0;
        if (sscanf(*line, " send_only: %7s", word) == 1) {
            *joined += complete;
            *waiting += !complete && strcmp(word, "no") == 0;
        }
    }
    g_strfreev(lines);
    return any;
}

static void read_groups(struct node_link *l)
{
    char *file = g_strdup_printf("%s_mcg", l->at.interface), *text = sysfs_read(DEBUGFS, file);
    l->groups_known = node_read_groups(text, &l->joined, &l->waiting);
    g_free(text);
    g_free(file);
}

static void read_interface(struct node_link *l)
{
    char *folder = g_build_filename("/sys/class/net", l->at.interface, NULL),
         *mode = sysfs_read(folder, "mode");
    l->up = host_is_up(l->at.interface);
    l->carrier = number_of(folder, "carrier") == 1; /* unreadable while the interface is down */
    l->connected = strcmp(mode, "connected") == 0;
    l->mtu = (unsigned)number_of(folder, "mtu");
    read_mgid(l, folder);
    read_groups(l);
    l->vanished = !is_folder(folder);
    g_free(mode);
    g_free(folder);
}

/* A device that was listed and has no port any more. */
static bool device_is_gone(const struct node_link *l)
{
    char *folder = port_folder(&l->at);
    bool gone = !l->at.interface[0] && !l->has_port && !is_folder(folder);
    g_free(folder);
    return gone;
}

void node_read(struct node_link *l, const struct choice *c)
{
    *l = (struct node_link){.at = *c};
    if (c->device[0])
        read_port(l);
    else
        counters_read_from(NULL, c->interface[0] ? c->interface : NULL, &l->counters);
    if (c->interface[0])
        read_interface(l);
    l->vanished |= c->device[0] && device_is_gone(l);
    bool asks = l->up && l->has_mgid && l->has_gid && l->state == PORT_ACTIVE &&
                l->pkey != NODE_PKEY_ABSENT;
    l->answer = asks ? NODE_NOT_ASKED : NODE_NOTHING;
}

bool node_same_port(const struct node_link *a, const struct node_link *b)
{
    return a->at.port == b->at.port && strcmp(a->at.device, b->at.device) == 0;
}

void node_name(const struct node_link *l, char *out, size_t size)
{
    if (l->at.interface[0])
        g_snprintf(out, size, "%s 0x%04x", l->at.interface, l->at.pkey);
    else
        g_snprintf(out, size, "%s port %u", l->at.device, l->at.port);
}
