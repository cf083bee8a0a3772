/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SA client on libibumad. The kernel matches responses to requests, retransmits, and reassembles
 * RMPP.
 */
#include "hca/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

#include "compat/glib.h"
#include "hca/drain.h"
#include "wire/put.h"
#include "wire/smp.h"

enum {
    SA_QP = 1,
    SA_VERSION = 2,
    TRIES = 3,
    PATIENT_TRIES = 5, /* if late responses are awaited */
    ROOM_AT_FIRST = 1 << 20,
    STOP_MS = 100, /* between two checks of *stop */
    BUSY_MS = 25   /* before the first retry with a busy SA; doubles with each retry */
};
#define SA_QKEY 0x80010000u /* IBA 10.2.5 */

struct umad_sa {
    int fd, agent;
    int watcher;     /* agent that receives Reports; -1: none */
    GQueue *notices; /* uint8_t[NOTICE_SIZE]: Reports received while waiting for a response */
    char device[UMAD_CA_NAME_LEN];
    unsigned port;
    uint32_t transaction, first; /* of the last try of the query, and of its first one */
    gint64 sent[PATIENT_TRIES];  /* monotonic microseconds: when each was sent */
    uint8_t *buffer;             /* umad_size() bytes of header, then the MAD */
    int room;                    /* bytes for the MAD */
};

int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port)
{
    struct umad_sa *s = g_new0(struct umad_sa, 1);
    *sa = NULL;
    umad_init();
    snprintf(s->device, sizeof s->device, "%s", device);
    s->port = port;
    s->watcher = -1;
    s->notices = g_queue_new();
    errno = 0;
    s->fd = umad_open_port(device, (int)port);
    if (s->fd < 0 && errno)
        s->fd = -errno; /* the library returns EIO for every error */
    s->agent = s->fd < 0 ? -1 : umad_register(s->fd, MAD_CLASS_SA, SA_VERSION, 1, NULL);
    s->room = ROOM_AT_FIRST;
    s->buffer = g_malloc0(umad_size() + (size_t)s->room);
    int error = s->fd < 0 ? -s->fd : s->agent < 0 ? -s->agent : 0;
    if (error)
        umad_sa_close(s);
    else
        *sa = s;
    return error;
}

void umad_sa_close(struct umad_sa *sa)
{
    if (!sa)
        return;
    if (sa->fd >= 0 && sa->agent >= 0)
        umad_unregister(sa->fd, sa->agent);
    if (sa->fd >= 0 && sa->watcher >= 0)
        umad_unregister(sa->fd, sa->watcher);
    g_queue_free_full(sa->notices, g_free);
    if (sa->fd >= 0)
        umad_close_port(sa->fd);
    g_free(sa->buffer);
    g_free(sa);
}

bool umad_sa_port(const struct umad_sa *sa, struct sa_port *port)
{
    umad_port_t found;
    if (umad_get_port(sa->device, (int)sa->port, &found) < 0)
        return false;
    *port = (struct sa_port){.lid = (uint16_t)found.base_lid,
                             .sm_lid = (uint16_t)found.sm_lid,
                             .sm_sl = (uint8_t)found.sm_sl,
                             .active = found.state == PORT_ACTIVE};
    memcpy(port->gid, &found.gid_prefix, 8); /* both in network byte order */
    memcpy(port->gid + 8, &found.port_guid, 8);
    umad_release_port(&found);
    return true;
}

static bool put_query(struct umad_sa *sa, const struct sa_query *q)
{
    struct sa_port port;
    if (!umad_sa_port(sa, &port)) /* query again: the SM may have moved since the port was opened */
        return false;
    memset(sa->buffer, 0, umad_size() + MAD_SIZE);
    umad_set_addr(sa->buffer, port.sm_lid, SA_QP, port.sm_sl, (int)SA_QKEY);
    uint8_t *mad = umad_get_mad(sa->buffer);
    mad[MAD_BASE_VERSION] = 1;
    mad[MAD_CLASS] = MAD_CLASS_SA;
    mad[MAD_CLASS_VERSION] = SA_VERSION;
    mad[MAD_METHOD] = q->method;
    put32(mad + MAD_TID + 4, ++sa->transaction);
    put16(mad + MAD_ATTRIBUTE, q->attribute);
    put32(mad + MAD_MODIFIER, q->modifier);
    put64(mad + SA_SM_KEY, q->sm_key);
    put64(mad + SA_COMPONENT_MASK, q->mask);
    memcpy(mad + SA_DATA, q->record, SA_DATA_SIZE);
    return true;
}

/*
 * Parses a response. LENGTH: bytes of the MAD, or of the RMPP reassembly: the headers once, then
 * the records.
 */
static void read_response(const uint8_t *mad, uint32_t length, uint8_t method,
                          struct sa_response *a)
{
    memcpy(a->mad, mad, MAD_SIZE);
    a->status = be16(mad + MAD_STATUS);
    a->stride = method == SA_GET_TABLE ? be16(mad + SA_ATTRIBUTE_OFFSET) * 8u : 0;
    g_byte_array_set_size(a->records, 0);
    if (a->status == 0 && length > SA_DATA)
        g_byte_array_append(a->records, mad + SA_DATA, length - SA_DATA);
}

static enum sa_outcome failed(char *error, size_t size, const char *what, int number)
{
    snprintf(error, size, "%s: %s", what, strerror(number));
    return SA_FAILED;
}

/*
 * Queues a Report and acknowledges it. The SA repeats a Report until it receives its contents back
 * (IBA 13.4.8.2). Returns false if the MAD is no Report.
 */
static bool take_report(struct umad_sa *sa)
{
    uint8_t *mad = umad_get_mad(sa->buffer);
    struct sa_port port;
    if (mad[MAD_METHOD] != SA_REPORT)
        return false;
    uint8_t *notice = compat_memdup(mad + SA_DATA, NOTICE_SIZE);
    g_queue_push_tail(sa->notices, notice);
    mad[MAD_METHOD] = SA_REPORT_RESP;
    if (umad_sa_port(sa, &port)) {
        umad_set_addr(sa->buffer, port.sm_lid, SA_QP, port.sm_sl, (int)SA_QKEY);
        umad_send(sa->fd, sa->watcher, sa->buffer, MAD_SIZE, 0, 0);
    }
    return true;
}

static bool grow(struct umad_sa *sa, int room)
{
    uint8_t *buffer = g_try_realloc(sa->buffer, umad_size() + (size_t)room);
    if (!buffer)
        return false;
    sa->buffer = buffer;
    sa->room = room;
    return true;
}

/*
 * Enlarges the buffer for a MAD of LENGTH bytes. The kernel returns only the first segment of a MAD
 * that does not fit, and returns it again until it is read completely. Returns SA_NOTHING if there
 * is now enough space; drops the MAD and returns SA_TOO_LARGE if it exceeds SA_LARGEST.
 */
static enum sa_outcome grow_buffer(struct umad_sa *sa, int length, char *error, size_t size)
{
    if (length <= SA_LARGEST && grow(sa, length))
        return SA_NOTHING;
    if (!drain_mad(sa->fd, length))
        return failed(error, size, "a large response of the SA cannot be received", errno);
    snprintf(error, size, "the SA's response is larger than %d MiB (%d bytes)", SA_LARGEST >> 20,
             length);
    return SA_TOO_LARGE;
}

/*
 * Receives a MAD of *LENGTH bytes into the buffer. SA_NOTHING: none yet. SA_TOO_LARGE: only the
 * first segment is in the buffer, the rest was dropped. The buffer always has space for a table,
 * because a late response to an abandoned request can be one.
 */
static enum sa_outcome receive_mad(struct umad_sa *sa, gint64 ms, int *length, char *error,
                                   size_t size)
{
    *length = sa->room;
    errno = 0;
    int got = umad_recv(sa->fd, sa->buffer, length, (int)MIN(ms, STOP_MS));
    if (got >= 0)
        return SA_OK;
    /* interrupted by a signal: returns -EIO */
    if (got == -ETIMEDOUT || got == -EWOULDBLOCK || errno == EINTR)
        return SA_NOTHING;
    if (errno == ENOSPC && *length > sa->room)
        return grow_buffer(sa, *length, error, size);
    return failed(error, size, "no response of the SA can be received", errno ? errno : -got);
}

enum sa_outcome umad_sa_watch(struct umad_sa *sa)
{
    long methods[16 / sizeof(long)] = {1L << SA_REPORT};
    if (sa->watcher < 0)
        sa->watcher = umad_register(sa->fd, MAD_CLASS_SA, SA_VERSION, 0, methods);
    return sa->watcher < 0 ? SA_NOTHING : SA_OK;
}

enum sa_outcome umad_sa_next_notice(struct umad_sa *sa, int ms, const volatile int *stop,
                                    uint8_t notice[NOTICE_SIZE], char *error, size_t size)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*stop) {
        uint8_t *first = g_queue_pop_head(sa->notices);
        if (first) {
            memcpy(notice, first, NOTICE_SIZE);
            g_free(first);
            return SA_OK;
        }
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        if (left <= 0)
            return SA_NOTHING;
        int length;
        enum sa_outcome outcome = receive_mad(sa, left, &length, error, size);
        if (outcome == SA_FAILED)
            return SA_FAILED;
        if (outcome == SA_OK)
            take_report(sa);
    }
    return SA_INTERRUPTED;
}

/* Is that a transaction of the query? Late responses to abandoned queries are dropped. */
static bool is_of_query(const struct umad_sa *sa, uint32_t transaction)
{
    return sa->transaction - transaction <= sa->transaction - sa->first;
}

static void note_time(const struct umad_sa *sa, uint32_t transaction, struct sa_response *a)
{
    if (a->timed < SA_TIMED)
        a->took_us[a->timed++] = g_get_monotonic_time() - sa->sent[transaction - sa->first];
}

/* Waits for the response to any try of the query. */
static enum sa_outcome await(struct umad_sa *sa, const struct sa_query *q, int ms,
                             const volatile int *stop, struct sa_response *a, char *error,
                             size_t size)
{
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    while (!*stop) {
        int length;
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        if (left <= 0)
            return SA_NOTHING;
        enum sa_outcome outcome = receive_mad(sa, left, &length, error, size);
        if (outcome == SA_FAILED)
            return SA_FAILED;
        if (outcome == SA_NOTHING)
            continue;
        const uint8_t *mad = umad_get_mad(sa->buffer);
        uint32_t transaction = be32(mad + MAD_TID + 4);
        if (take_report(sa) || !is_of_query(sa, transaction))
            continue;
        if (outcome == SA_TOO_LARGE)
            return SA_TOO_LARGE;
        if (umad_status(sa->buffer) || !(mad[MAD_METHOD] & MAD_RESPONSE))
            return SA_NOTHING; /* the kernel returned the request: no response */
        read_response(mad, (uint32_t)length, q->method, a);
        note_time(sa, transaction, a);
        return SA_OK;
    }
    return SA_INTERRUPTED;
}

/* Sends the request as the next transaction. The kernel repeats it, and waits MS milliseconds. */
static enum sa_outcome send_try(struct umad_sa *sa, const struct sa_query *q, gint64 ms, int tries,
                                char *error, size_t size)
{
    if (!put_query(sa, q))
        return failed(error, size, "the port is gone", ENODEV);
    sa->sent[sa->transaction - sa->first] = g_get_monotonic_time();
    int sent = umad_send(sa->fd, sa->agent, sa->buffer, MAD_SIZE, MAX((int)ms / tries, 1),
                         tries - 1);
    return sent < 0 ? failed(error, size, "the SA cannot be asked", -sent) : SA_OK;
}

/*
 * The kernel gives up a transaction after its last repetition, and drops what comes later. So if
 * late responses are awaited, each try is a transaction until the end of the wait. The tries after
 * the usual ones are for an SA that did not run.
 */
static enum sa_outcome query_once(struct umad_sa *sa, const struct sa_query *q, int ms,
                                  const volatile int *stop, struct sa_response *a, char *error,
                                  size_t size)
{
    bool patient = q->tries_ms && ms > (int)q->tries_ms;
    int tries = patient ? PATIENT_TRIES : 1;
    gint64 end = g_get_monotonic_time() + (gint64)ms * 1000;
    sa->first = sa->transaction + 1;
    for (int i = 1;; i++) {
        gint64 left = MAX((end - g_get_monotonic_time()) / 1000, 1);
        gint64 wait = i < TRIES ? q->tries_ms / TRIES : left / (tries - i + 1);
        enum sa_outcome outcome = send_try(sa, q, left, patient ? 1 : TRIES, error, size);
        if (outcome == SA_OK)
            outcome = await(sa, q, i == tries ? (int)left + 200 : (int)wait, stop, a, error, size);
        if (outcome != SA_NOTHING || i == tries)
            return outcome;
    }
}

static void pause_ms(gint64 ms, const volatile int *stop)
{
    for (; ms > 0 && !*stop; ms -= STOP_MS)
        g_usleep((gulong)MIN(ms, STOP_MS) * 1000);
}

/*
 * A busy SA did not process the request, so it may be repeated (IBA 13.4.7, bit 0 of the status).
 * The kernel only repeats requests without a response.
 */
enum sa_outcome umad_sa_query(struct umad_sa *sa, const struct sa_query *q, int ms,
                              const volatile int *stop, struct sa_response *a, char *error,
                              size_t size)
{
    gint64 tries_ms = q->tries_ms ? MIN((int)q->tries_ms, ms) : ms;
    gint64 end = g_get_monotonic_time() + tries_ms * 1000, left = ms;
    bool busy = false;
    a->busy = a->timed = 0;
    for (gint64 wait = BUSY_MS;; wait *= 2) {
        enum sa_outcome outcome = query_once(sa, q, (int)left, stop, a, error, size);
        if (outcome == SA_NOTHING && busy)
            return SA_OK; /* the SA responds: A contains its last response */
        busy = outcome == SA_OK && (a->status & MAD_STATUS_BUSY);
        a->busy += busy;
        left = (end - g_get_monotonic_time()) / 1000;
        if (!busy || left <= wait)
            return outcome;
        pause_ms(wait, stop);
        left -= wait;
    }
}
