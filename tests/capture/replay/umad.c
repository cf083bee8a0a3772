/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces libibumad: the functions that hca/client.c and probe/link/saonly.c use, and an SA with
 * the scenario's groups (scenario.h). It responds to joins and leaves as OpenSM does: a Delete of a
 * JoinState that the port does not have is rejected with 0x0200. Responses stay in a queue until
 * they are received, as in the kernel (drivers/infiniband/core/user_mad.c).
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

enum {
    DENIED = 0x0200,
    NO_RECORDS = 0x0300,
    RECORD = 56,
    SM_RECORD = 32,
    HEAD = 64,
    AGENT = 1,
    QUEUE = 16,
    SM_KEY = 1, /* requests with this key get members */
    CLASS_PORT_INFO = 0x0001,
    SM_INFO_RECORD = 0x0018,
    MC_MEMBER_RECORD = 0x0038
};

/* A response that is not received yet. */
struct pending {
    uint8_t *mad;
    int length; /* of the whole RMPP transfer: headers once, then the records */
};

/* A request that has no response yet. Times in ms. */
struct sent {
    uint8_t mad[256];
    uint64_t at, given_up_at;
};

static struct scenario devices[MAX_DEVICES];
static const struct scenario *the;
static uint8_t held[MAX_GROUPS]; /* JoinState */
static uint64_t first;           /* time of the first request, ms */
static uint64_t first_sent;      /* when the first request was sent, ms */
static uint8_t request[256];     /* to which the SA responds now */
static bool recreated;
static struct pending queue[QUEUE];
static int queued;
static struct sent waiting[QUEUE];
static int waits;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* True between these times after the first request. */
static bool is_within(uint64_t from, uint64_t to)
{
    uint64_t age = now_ms() - first;

    return age >= from && age < to;
}

static bool is_silent(void)
{
    return is_within(the->silent_from, the->silent_to);
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

/* --- responses */

static void put_record(uint8_t *p, const struct played_group *g, uint8_t state)
{
    memset(p, 0, RECORD);
    memcpy(p + MCM_MGID, g->mgid.raw, 16);
    if (state)
        memcpy(p + MCM_PORT_GID, the->gid.raw, 16);
    put32(p + MCM_QKEY, g->qkey);
    put16(p + MCM_MLID, g->mlid);
    p[MCM_MTU] = 2 << 6 | 4; /* exactly 2048 bytes */
    put16(p + MCM_PKEY, (uint32_t)(g->mgid.raw[4] << 8 | g->mgid.raw[5]));
    p[MCM_RATE] = 2 << 6 | 3; /* exactly 10 Gb/s */
    p[MCM_SCOPE_JOIN] = (uint8_t)((g->mgid.raw[1] & 15) << 4 | state);
}

/*
 * Compares as OpenSM does: the port is a member, and its whole JoinState equals the requested one.
 */
static bool is_asked_for(int i)
{
    uint64_t mask = be64(request + SA_COMPONENT_MASK);
    uint8_t state = request[SA_DATA + MCM_SCOPE_JOIN] & 15;
    bool own = memcmp(request + SA_DATA + MCM_PORT_GID, the->gid.raw, 16) == 0;

    return is_there(&the->groups[i]) &&
           (!(mask & MCM_HAS_MGID) ||
            memcmp(the->groups[i].mgid.raw, request + SA_DATA + MCM_MGID, 16) == 0) &&
           (!(mask & MCM_HAS_PORT_GID) || (own && held[i] != 0)) &&
           (!(mask & MCM_HAS_JOIN_STATE) || held[i] == state);
}

/*
 * Writes a record for sa-members: every second one is another port's membership of the first group;
 * the others are solicited-node groups (RFC 4291 §2.7.1) of such ports in partition 0x8002.
 */
static void put_member(uint8_t *p, uint32_t i)
{
    struct played_group g = the->groups[0];

    if (i % 2) {
        g.mgid.raw[1] = 0x12;
        put16(g.mgid.raw + 2, 0x601b);
        put16(g.mgid.raw + 4, 0x8002);
        memset(g.mgid.raw + 6, 0, 6);
        put32(g.mgid.raw + 12, 0xff000000u | i);
        g.mgid.raw[11] = 1;
        g.mlid = (uint16_t)(0xc100 + i % 0x1000);
    }
    put_record(p, &g, 1);
    put64(p + MCM_PORT_GID + 8, 0x0002c90300000000u + i);
}

/*
 * The number of members in the response: sa-members if the request is for the whole table, else 0.
 */
static uint32_t members_asked_for(void)
{
    return be64(request + SA_COMPONENT_MASK) == 0 && the->group_count ? the->sa_members : 0;
}

static int table(struct pending *to)
{
    uint32_t members = members_asked_for();
    int len = SA_DATA;

    to->mad = realloc(to->mad, SA_DATA + (size_t)(the->group_count + (int)members) * RECORD + HEAD);
    if (!to->mad)
        abort();
    put16(to->mad + SA_ATTRIBUTE_OFFSET, RECORD / 8);
    for (int i = 0; i < the->group_count; i++)
        if (is_asked_for(i)) {
            /* members are returned only to requests with the SM_Key */
            put_record(to->mad + len, &the->groups[i], 0);
            len += RECORD;
        }
    for (uint32_t i = 0; i < members; i++, len += RECORD)
        put_member(to->mad + len, i);
    return len;
}

/* Returns the status. */
static uint16_t get(uint8_t *mad)
{
    uint64_t mask = be64(request + SA_COMPONENT_MASK);
    bool with_members = be64(request + SA_SM_KEY) == SM_KEY && (mask & MCM_HAS_PORT_GID);

    for (int i = 0; i < the->group_count; i++)
        if (is_asked_for(i)) {
            put_record(mad + SA_DATA, &the->groups[i], with_members ? held[i] : 0);
            return 0;
        }
    return NO_RECORDS;
}

/* Creates the group of a FullMember's join, unless it exists. */
static void make_group(const uint8_t *mad, uint8_t state)
{
    struct scenario *s = &devices[the - devices];
    struct played_group *g = s->groups;

    while (g < s->groups + s->group_count && memcmp(g->mgid.raw, mad + SA_DATA, 16) != 0)
        g++;
    bool wanted = (state & 1) && (be64(mad + SA_COMPONENT_MASK) & MCM_HAS_QKEY);
    if (!the->sa_makes || !wanted || g == s->groups + MAX_GROUPS)
        return;
    if (g == s->groups + s->group_count)
        s->group_count++;
    else if (is_there(g))
        return;
    *g = (struct played_group){.mlid = 0xc0ff, .qkey = 0xb1b, .to = UINT64_MAX};
    memcpy(g->mgid.raw, mad + SA_DATA, 16);
}

/* Deletes a made group without a FullMember. */
static void end_group(int i)
{
    struct played_group *g = &devices[the - devices].groups[i];

    if (g->mlid == 0xc0ff && !(held[i] & 1))
        g->to = 0;
}

/* Returns the status. */
static uint16_t change(uint8_t *mad, uint8_t method)
{
    uint8_t state = mad[SA_DATA + MCM_SCOPE_JOIN] & 15;

    if (memcmp(mad + SA_DATA + MCM_PORT_GID, the->gid.raw, 16) != 0)
        return DENIED; /* a port can join only for itself */
    if (method == SA_SET)
        make_group(mad, state);
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
        end_group(i);
        return 0;
    }
    return DENIED;
}

/* The only SM is the master (IBA 15.2.5.10, 14.2.5.13). */
static int sm_table(uint8_t *mad)
{
    enum { STATE = 4 + 20, MASTER = 3 };

    memset(mad + SA_DATA, 0, SM_RECORD);
    put16(mad + SA_ATTRIBUTE_OFFSET, SM_RECORD / 8);
    put16(mad + SA_DATA, 1);
    mad[SA_DATA + STATE] = MASTER;
    return SA_DATA + SM_RECORD;
}

static bool has_status(uint16_t attribute)
{
    return the->sa_status && (!the->sa_status_of || the->sa_status_of == attribute) &&
           (!the->sa_status_method || the->sa_status_method == request[MAD_METHOD]);
}

static uint16_t respond_one(uint8_t *mad, uint8_t method, uint16_t attribute)
{
    if (has_status(attribute))
        return the->sa_status;
    if (attribute == CLASS_PORT_INFO)
        return 0;
    if (attribute != MC_MEMBER_RECORD)
        return NO_RECORDS;
    return method == SA_GET ? get(mad) : change(mad, method);
}

static void spoil(struct pending *to)
{
    bool asked_for = request[MAD_METHOD] == the->sa_spoils.method &&
                     be16(request + MAD_ATTRIBUTE) == the->sa_spoils.attribute;

    if (!asked_for || be16(to->mad + MAD_STATUS) || to->length <= SA_DATA)
        return;
    put16(to->mad + SA_DATA + the->sa_spoils.at, the->sa_spoils.value);
    to->length -= the->sa_spoils.lacks;
}

static void respond(struct pending *to)
{
    uint8_t method = request[MAD_METHOD];
    uint16_t attribute = be16(request + MAD_ATTRIBUTE);

    if (the->sa_recreates && !recreated && now_ms() - first >= the->sa_recreates) {
        recreated = true;
        memset(held, the->sa_recreates_state, sizeof(held));
    }
    to->mad = calloc(1, sizeof(request));
    to->length = sizeof(request);
    if (!to->mad)
        abort();
    memcpy(to->mad, request, sizeof(request));
    to->mad[MAD_METHOD] = method == SA_SET ? SA_GET_RESP : (uint8_t)(method | 0x80);
    if (method == SA_GET_TABLE && attribute == MC_MEMBER_RECORD && !has_status(attribute))
        to->length = table(to);
    else if (method == SA_GET_TABLE && attribute == SM_INFO_RECORD && !has_status(attribute))
        to->length = sm_table(to->mad);
    else
        put16(to->mad + MAD_STATUS, respond_one(to->mad, method, attribute));
    spoil(to);
}

/* --- the queue */

static void enqueue(void)
{
    if (queued == QUEUE)
        abort(); /* the program sends requests but never receives */
    respond(&queue[queued++]);
}

/*
 * Behaves as ib_umad_read() and umad_recv(). If the first segment does not fit, nothing is
 * returned. If the rest does not fit, the length is that of the whole response. In both cases the
 * response stays in the queue.
 */
static int deliver(struct ib_user_mad *umad, int *length)
{
    struct pending *head = &queue[0];
    int segment = head->length < (int)sizeof(request) ? head->length : (int)sizeof(request);
    int room = *length;

    if (room < segment) {
        *length = (int)umad->length - HEAD; /* as the library does */
        errno = EINVAL;
        return -EINVAL;
    }
    umad->length = (uint32_t)(HEAD + head->length);
    *length = head->length;
    memcpy(umad->data, head->mad, (size_t)(room < head->length ? segment : head->length));
    if (room < head->length) {
        errno = ENOSPC;
        return -ENOSPC;
    }
    free(head->mad);
    memmove(queue, queue + 1, sizeof(*queue) * (size_t)(--queued));
    return AGENT;
}

/* When the response to the request is there. */
static uint64_t due_at(const struct sent *r)
{
    bool slow = (!the->sa_slow_of || the->sa_slow_of == be16(r->mad + MAD_ATTRIBUTE)) &&
                (!the->sa_slow_method || the->sa_slow_method == r->mad[MAD_METHOD]);
    uint64_t ready = r->at + (slow ? the->sa_slow : 0), awake = first_sent + the->sa_sleeps;
    return ready > awake ? ready : awake;
}

static uint64_t ends_at(const struct sent *r)
{
    uint64_t due = due_at(r);
    return due < r->given_up_at ? due : r->given_up_at;
}

/* The kernel returns a request without a response. A response that comes later is dropped. */
static void give_back(void)
{
    struct pending *to = &queue[queued++];

    to->mad = malloc(sizeof(request));
    if (!to->mad)
        abort();
    memcpy(to->mad, request, sizeof(request));
    to->length = sizeof(request);
}

/* The response to a waiting request, or the request itself, goes into the queue. */
static void end_waiting(int i)
{
    struct sent r = waiting[i];

    memmove(waiting + i, waiting + i + 1, sizeof(*waiting) * (size_t)(--waits - i));
    memcpy(request, r.mad, sizeof(request));
    if (now_ms() < due_at(&r))
        give_back();
    else
        enqueue();
}

/* The first that ends; -1: none waits. */
static int first_to_end(void)
{
    int found = waits ? 0 : -1;

    for (int i = 1; i < waits; i++)
        if (ends_at(&waiting[i]) < ends_at(&waiting[found]))
            found = i;
    return found;
}

/* True if a response, or a request that nobody answered, is there before the time is over. */
static bool is_ready(int timeout)
{
    int i = first_to_end();
    uint64_t at = i < 0 ? 0 : ends_at(&waiting[i]);
    uint64_t left = at > now_ms() ? at - now_ms() : 0;

    if (left)
        poll(NULL, 0, left < (uint64_t)timeout ? (int)left : timeout);
    if (i < 0 || now_ms() < at)
        return false;
    end_waiting(i);
    return true;
}

/* For tests: logs responses that were never received. */
static void note_queue(void)
{
    char line[64];
    bool logs = queued && the->sa_log[0];
    int fd = logs ? open(the->sa_log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;

    for (; queued; queued--) {
        int len = snprintf(line, sizeof(line), "queued %d\n", queue[queued - 1].length);

        if (fd >= 0 && write(fd, line, (size_t)len) != len)
            abort();
        free(queue[queued - 1].mad);
    }
    if (fd >= 0)
        close(fd);
}

/* --- libibumad */

EXPORT int umad_init(void)
{
    return 0;
}

/* Returns false if the port does not exist. */
static bool choose(const char *name, int port)
{
    const char *path = getenv("IPOIB_REPLAY");
    int count = path && !the ? scenario_read(path, devices) : 0;

    for (int i = 0; i < count; i++)
        if (!name || strcmp(devices[i].name, name) == 0)
            the = &devices[i];
    return the && port >= 0 && port <= the->ports;
}

EXPORT int umad_open_port(const char *name, int port)
{
    if (!choose(name, port) || port == 0) {
        errno = ENODEV;
        return -EIO;
    }
    errno = scenario_failure(the, "umad");
    return errno ? -EIO : open("/dev/null", O_RDWR | O_CLOEXEC);
}

EXPORT int umad_close_port(int fd)
{
    note_queue();
    return close(fd);
}

EXPORT int umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
    (void)fd;
    (void)mask;
    return class == MAD_CLASS_SA && version == 2 && rmpp == 1 ? AGENT : -EINVAL;
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
    if (length != sizeof(request))
        return -EINVAL;
    if (first == 0)
        first = now_ms();
    if (!first_sent)
        first_sent = now_ms();
    while (waits && (is_silent() || ends_at(&waiting[0]) <= now_ms()))
        if (is_silent()) /* the request is lost */
            memmove(waiting, waiting + 1, sizeof(*waiting) * (size_t)--waits);
        else /* the program was interrupted before it received the response */
            end_waiting(0);
    if (waits == QUEUE)
        abort();
    waiting[waits] = (struct sent){.at = now_ms()};
    memcpy(waiting[waits].mad, (char *)umad + HEAD, sizeof(request));
    waiting[waits].given_up_at = now_ms() + (uint64_t)timeout * (uint64_t)(retries + 1);
    waits++;
    return 0;
}

/* A signal ends the wait with -EIO, and EINTR in errno, as in the library (dev_poll). */
EXPORT int umad_recv(int fd, void *umad, int *length, int timeout)
{
    (void)fd;
    errno = 0;
    if (queued)
        return deliver(umad, length);
    if (!waits || is_silent())
        return poll(NULL, 0, timeout) == 0 ? -ETIMEDOUT : -EIO;
    return is_ready(timeout) ? deliver(umad, length) : -ETIMEDOUT;
}

EXPORT int umad_get_port(const char *name, int number, umad_port_t *port)
{
    if (!choose(name, number))
        return -ENODEV;
    memset(port, 0, sizeof(*port));
    snprintf(port->ca_name, sizeof(port->ca_name), "%.*s", (int)sizeof(port->ca_name) - 1,
             the->name);
    snprintf(port->link_layer, sizeof(port->link_layer), "InfiniBand");
    port->portnum = number ? number : 1;
    port->pkeys = (uint16_t *)(uintptr_t)the->pkeys; /* not modified */
    port->pkeys_size = (unsigned)the->pkey_count;
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
