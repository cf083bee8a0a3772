/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stand-in for libibumad: the functions that hca/client.c uses, and a subnet administrator that
 * has the play's groups (scenario.h). It answers joins and leaves as OpenSM does: leaving a state
 * that is not held is refused with 0x0200.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "scenario.h"
#include "wire/put.h"
#include "wire/sa.h"

#define EXPORT __attribute__((visibility("default")))

enum { DENIED = 0x0200, RECORD = 56, HEAD = 64 };

static struct scenario devices[MAX_DEVICES];
static const struct scenario *the;
static uint8_t held[MAX_GROUPS]; /* JoinState */
static uint64_t first;           /* question, ms */
static uint8_t question[256];
static bool asked, made_anew;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether it is between these times after the first question. */
static bool is_within(uint64_t from, uint64_t to)
{
    uint64_t age = now_ms() - first;

    return age >= from && age < to;
}

static bool is_there(const struct played_group *g)
{
    return is_within(g->from, g->to);
}

static void note(const char *what, const struct played_group *g, uint8_t state)
{
    char text[INET6_ADDRSTRLEN], line[120];
    int fd = the->sa_log[0] ? open(the->sa_log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    int len = snprintf(line, sizeof(line), "%s %s %u\n", what,
                       inet_ntop(AF_INET6, g->mgid.raw, text, sizeof(text)), state);

    if (fd >= 0 && write(fd, line, (size_t)len) != len)
        abort();
    if (fd >= 0)
        close(fd);
}

/* --- answers */

static void put_record(uint8_t *p, const struct played_group *g, uint8_t state)
{
    memset(p, 0, RECORD);
    memcpy(p + MCM_MGID, g->mgid.raw, 16);
    if (state)
        memcpy(p + MCM_PORT_GID, the->gid.raw, 16);
    put32(p + MCM_QKEY, g->qkey);
    put16(p + MCM_MLID, g->mlid);
    p[MCM_MTU] = 2 << 6 | 4; /* exactly 2048 octets */
    put16(p + MCM_PKEY, (uint32_t)(g->mgid.raw[4] << 8 | g->mgid.raw[5]));
    p[MCM_RATE] = 2 << 6 | 3; /* exactly 10 Gb/s */
    p[MCM_SCOPE_JOIN] = (uint8_t)((g->mgid.raw[1] & 15) << 4 | state);
}

/* As OpenSM compares: the port is a member, and its JoinState is the one asked for, as a whole. */
static bool is_asked_for(int i)
{
    uint64_t mask = be64(question + SA_COMPONENT_MASK);
    uint8_t state = question[SA_DATA + MCM_SCOPE_JOIN] & 15;

    return is_there(&the->groups[i]) && (!(mask & MCM_HAS_PORT_GID) || held[i] != 0) &&
           (!(mask & MCM_HAS_JOIN_STATE) || held[i] == state);
}

static int table(uint8_t *mad)
{
    int len = SA_DATA;

    put16(mad + SA_ATTRIBUTE_OFFSET, RECORD / 8);
    for (int i = 0; i < the->group_count; i++)
        if (is_asked_for(i)) {
            /* members are told to whoever has the SM_Key alone */
            put_record(mad + len, &the->groups[i], 0);
            len += RECORD;
        }
    return len;
}

/* Returns the status. */
static uint16_t change(uint8_t *mad, uint8_t method)
{
    uint8_t state = mad[SA_DATA + MCM_SCOPE_JOIN] & 15;

    if (memcmp(mad + SA_DATA + MCM_PORT_GID, the->gid.raw, 16) != 0)
        return DENIED; /* nobody joins for others */
    for (int i = 0; i < the->group_count; i++) {
        const struct played_group *g = &the->groups[i];

        if (memcmp(g->mgid.raw, mad + SA_DATA, 16) != 0 || !is_there(g))
            continue;
        if (method == SA_DELETE && (held[i] & state) != state) {
            note("deny", g, state);
            return DENIED;
        }
        if (method == SA_SET && the->sa_refuses)
            return the->sa_refuses;
        held[i] = method == SA_SET ? held[i] | state : held[i] & (uint8_t)~state;
        note(method == SA_SET ? "join" : "leave", g, state);
        put_record(mad + SA_DATA, g, held[i]);
        return 0;
    }
    return DENIED;
}

static int answer(uint8_t *mad)
{
    uint8_t method = question[MAD_METHOD];

    if (the->sa_anew && !made_anew && now_ms() - first >= the->sa_anew) {
        made_anew = true;
        memset(held, the->sa_anew_state, sizeof(held));
    }
    memset(mad, 0, HEAD);
    memcpy(mad, question, sizeof(question));
    mad[MAD_METHOD] = method == SA_SET ? SA_GET_RESP : (uint8_t)(method | 0x80);
    if (method == SA_GET_TABLE)
        return table(mad);
    put16(mad + MAD_STATUS, change(mad, method));
    return sizeof(question);
}

/* --- libibumad */

EXPORT int umad_init(void)
{
    return 0;
}

EXPORT int umad_open_port(const char *name, int port)
{
    const char *path = getenv("IPOIB_REPLAY");
    int count = path && !the ? scenario_read(path, devices) : 0;

    for (int i = 0; i < count; i++)
        if (strcmp(devices[i].name, name) == 0)
            the = &devices[i];
    if (!the || port < 1 || port > the->ports) {
        errno = ENODEV;
        return -EIO;
    }
    errno = scenario_failure(the, "umad");
    return errno ? -EIO : open("/dev/null", O_RDWR | O_CLOEXEC);
}

EXPORT int umad_close_port(int fd)
{
    return close(fd);
}

EXPORT int umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
    (void)fd;
    (void)mask;
    return class == MAD_CLASS_SA && version == 2 && rmpp == 1 ? 1 : -EINVAL;
}

EXPORT int umad_unregister(int fd, int agent)
{
    (void)fd;
    (void)agent;
    return 0;
}

EXPORT size_t umad_size(void)
{
    return HEAD;
}

EXPORT void *umad_get_mad(void *umad)
{
    return (char *)umad + HEAD;
}

EXPORT int umad_status(void *umad)
{
    (void)umad;
    return 0;
}

EXPORT int umad_set_addr(void *umad, int lid, int qp, int sl, int qkey)
{
    (void)umad;
    (void)sl;
    return lid > 0 && qp == 1 && (unsigned)qkey == 0x80010000u ? 0 : -EINVAL;
}

EXPORT int umad_send(int fd, int agent, void *umad, int length, int timeout, int retries)
{
    (void)fd;
    (void)agent;
    (void)timeout;
    (void)retries;
    if (length != sizeof(question))
        return -EINVAL;
    if (first == 0)
        first = now_ms();
    memcpy(question, (char *)umad + HEAD, sizeof(question));
    asked = true;
    return 0;
}

/* A signal ends the wait with -EIO, and EINTR in errno: so does the library (dev_poll). */
EXPORT int umad_recv(int fd, void *umad, int *length, int timeout)
{
    (void)fd;
    errno = 0;
    if (!asked || is_within(the->silent_from, the->silent_to))
        return poll(NULL, 0, timeout) == 0 ? -ETIMEDOUT : -EIO;
    asked = false;
    *length = answer((uint8_t *)umad + HEAD);
    return 0;
}

EXPORT int umad_get_port(const char *name, int number, umad_port_t *port)
{
    memset(port, 0, sizeof(*port));
    snprintf(port->ca_name, sizeof(port->ca_name), "%s", name);
    port->portnum = number;
    port->base_lid = the->lid;
    port->sm_lid = 1;
    port->state = the->state;
    memcpy(&port->gid_prefix, the->gid.raw, 8);
    memcpy(&port->port_guid, the->gid.raw + 8, 8);
    return 0;
}

EXPORT int umad_release_port(umad_port_t *port)
{
    (void)port;
    return 0;
}
