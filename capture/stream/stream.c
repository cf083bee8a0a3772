/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from another program's capture. See stream.h. */
#include "capture/stream/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "capture/write/stop.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "pcapio/capfile.h"
#include "pcapio/translate.h"

enum { SLOTS = 4096, FRAME_MAX = 65535, STEP_MS = 5, ROOM_MS = 50, END_MS = 3000 };
enum { WAKE_SIGNAL = SIGURG }; /* ends a read; this program has no other use for it */

struct input_slot {
    uint8_t *bytes;
    uint32_t room, len, wirelen;
    uint64_t time; /* ns since 1970 */
};

struct input_stream {
    char *path, *name;
    struct ibdump child;
    pthread_t thread;
    struct input_slot slots[SLOTS];
    atomic_uint put;      /* by the thread */
    unsigned taken, done; /* by the receive loop: polled, and released again */
    sem_t room;           /* free slots */
    int wake;             /* eventfd: there are frames, or the input has ended */
    atomic_bool ended;
    atomic_bool is_ending; /* frames that find no room are dropped: the child must not wait */
    atomic_bool is_over;   /* the thread reads no more */

    /* of the thread; of the other one after the first frame, or the end */
    uint32_t linktype;
    uint64_t others; /* frames that were left out */
    GError *error;
};

/* --- the reading thread */

static void wake_up(const struct input_stream *s)
{
    const uint64_t one = 1;

    if (write(s->wake, &one, sizeof(one)) < 0)
        return; /* the counter is at its limit, so it is readable anyway */
}

/* Makes a frame of IN, without ERF headers. Returns false if it cannot be in the capture. */
static bool make_frame(struct input_stream *s, const struct capture_record *in, bool is_raw,
                       struct capture_record *out)
{
    const struct translation way = {.to = LINKTYPE_INFINIBAND, .from_raw = is_raw};
    struct remarks note;

    if (translate(&way, in, out, &note) != CARRIED) {
        if (in->linktype == LINKTYPE_ERF || in->linktype == LINKTYPE_INFINIBAND)
            return false;
        *out = *in;
    }
    if (out->linktype > UINT16_MAX) /* pcapng has no room for it */
        return false;
    if (atomic_load(&s->put) == 0)
        s->linktype = out->linktype;
    return out->linktype == s->linktype;
}

/* Waits for a free slot. Returns false if there is none, and the capture ends. */
static bool await_room(struct input_stream *s)
{
    struct timespec until;

    while (sem_trywait(&s->room) != 0) {
        if (atomic_load(&s->is_ending))
            return false;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += ROOM_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (sem_timedwait(&s->room, &until) == 0)
            return true;
    }
    return true;
}

static void put_frame(struct input_stream *s, const struct capture_record *frame)
{
    struct input_slot *slot = &s->slots[atomic_load(&s->put) % SLOTS];
    uint32_t len = MIN(frame->data_len, (uint32_t)FRAME_MAX);

    if (!await_room(s))
        return;              /* it came after the end of the capture */
    if (slot->room <= len) { /* a frame without bytes has an address too */
        slot->room = len + 1;
        slot->bytes = g_realloc(slot->bytes, slot->room);
    }
    memcpy(slot->bytes, frame->data, len);
    slot->len = len;
    slot->wirelen = frame->wirelen;
    slot->time = (uint64_t)frame->sec * 1000000000 + frame->ns;
    atomic_fetch_add(&s->put, 1);
    wake_up(s);
}

/* Capture files have 32 bits for the seconds. */
static bool time_fits(const struct capfile_frame *f)
{
    return f->ns >= 0 && f->ns / 1000000000 <= UINT32_MAX;
}

static void read_all(struct input_stream *s, struct capfile *file)
{
    struct capture_record in = {.linktype = 0}, out;
    struct capfile_frame f;

    while (!atomic_load(&s->is_over) && capfile_next(file, &f, &s->error) == CAPFILE_FRAME) {
        in = (struct capture_record){.linktype = (uint32_t)f.linktype,
                                     .sec = f.ns / 1000000000,
                                     .ns = (uint32_t)(f.ns % 1000000000),
                                     .data = f.bytes,
                                     .data_len = f.caplen,
                                     .wirelen = f.wirelen};
        if (time_fits(&f) && make_frame(s, &in, capfile_is_raw_erf(file), &out))
            put_frame(s, &out);
        else
            s->others++;
    }
}

static void *run(void *stream)
{
    struct input_stream *s = stream;
    struct capfile *file = capfile_open(s->path, &s->error);

    if (file)
        read_all(s, file);
    capfile_close(file);
    atomic_store(&s->ended, true);
    wake_up(s);
    stop_request();
    return NULL;
}

/* --- create, destroy */

static void on_wake_signal(int number)
{
    (void)number; /* the read that it interrupts has failed */
}

static bool start_thread(struct input_stream *s, GError **error)
{
    const struct sigaction interrupt = {.sa_handler = on_wake_signal}; /* no SA_RESTART */
    sigset_t others, before;
    int number;

    sigaction(WAKE_SIGNAL, &interrupt, NULL);
    sigfillset(&others); /* the receiving thread handles the user's signals */
    sigdelset(&others, WAKE_SIGNAL);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    number = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return number == 0 || fail_with(error, "cannot start the reading thread: %s", strerror(number));
}

static void free_stream(struct input_stream *s)
{
    for (int i = 0; i < SLOTS; i++)
        g_free(s->slots[i].bytes);
    sem_destroy(&s->room);
    close(s->wake);
    if (s->child.fd >= 0)
        close(s->child.fd);
    g_clear_error(&s->error);
    g_free(s->path);
    g_free(s->name);
    g_free(s);
}

static bool has_frames(struct input_stream *s)
{
    return atomic_load(&s->put) != s->taken;
}

/* Waits for the first frame, the end, or a signal. */
static bool await_first(struct input_stream *s, GError **error)
{
    struct pollfd fds[] = {{.fd = s->wake, .events = POLLIN}, {.fd = stop_fd(), .events = POLLIN}};

    while (!has_frames(s) && !atomic_load(&s->ended) && stop_signals() == 0)
        poll(fds, 2, -1);
    if (has_frames(s) || (atomic_load(&s->ended) && !s->error))
        return true;
    if (!atomic_load(&s->ended))
        return fail_with(error, "%s: interrupted", s->name);
    g_propagate_prefixed_error(error, s->error, "%s: ", s->name);
    s->error = NULL;
    return false;
}

static struct input_stream *open_stream(char *path, struct ibdump child, const char *name,
                                        GError **error)
{
    struct input_stream *s = g_new0(struct input_stream, 1);

    s->path = path;
    s->name = g_strdup(name);
    s->child = child;
    s->linktype = LINKTYPE_INFINIBAND;
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sem_init(&s->room, 0, SLOTS);
    if (!start_thread(s, error)) {
        free_stream(s);
        return NULL;
    }
    if (await_first(s, error))
        return s;
    stream_close(s);
    return NULL;
}

struct input_stream *stream_open(const char *path, GError **error)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;

    return open_stream(g_strdup(path), (struct ibdump){.fd = -1}, name, error);
}

struct input_stream *stream_open_ibdump(struct ibdump *ibdump, GError **error)
{
    return open_stream(g_strdup_printf("/dev/fd/%d", ibdump->fd), *ibdump, "ibdump", error);
}

uint32_t stream_linktype(const struct input_stream *s)
{
    return s->linktype;
}

/* Waits until the child has closed the pipe. Returns false if it does not. */
static bool await_input_end(const struct input_stream *s)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    for (int waited = 0; waited < END_MS && !atomic_load(&s->ended); waited += STEP_MS)
        nanosleep(&step, NULL);
    return atomic_load(&s->ended);
}

/*
 * ibdump writes what it has received: what fits into the slots is captured. If it does not close
 * the pipe, this does: then ibdump's next frame ends it.
 */
static bool end_child(struct input_stream *s, GError **error)
{
    if (s->child.pid <= 0)
        return true;
    atomic_store(&s->is_ending, true);
    ibdump_stop(&s->child);
    if (!await_input_end(s)) {
        atomic_store(&s->is_over, true);
        close(s->child.fd);
        s->child.fd = -1;
    }
    return ibdump_end(&s->child, END_MS, error);
}

/*
 * Ends the thread, which may wait for input for ever: at the end of a program, glibc 2.41 waits for
 * each read of the standard library. A signal that comes before the read is lost, so there are
 * more.
 */
static void end_reading(struct input_stream *s)
{
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};

    atomic_store(&s->is_ending, true);
    atomic_store(&s->is_over, true);
    while (!atomic_load(&s->ended)) {
        pthread_kill(s->thread, WAKE_SIGNAL);
        nanosleep(&step, NULL);
    }
    pthread_join(s->thread, NULL);
}

void stream_close(struct input_stream *s)
{
    if (!s)
        return;
    end_child(s, NULL);
    end_reading(s);
    free_stream(s);
}

/* --- feed operations */

static int feed_poll(struct feed *feed, struct rx out[RX_BATCH])
{
    struct input_stream *s = feed->self;
    int count = 0;

    for (; count < RX_BATCH && has_frames(s); count++, s->taken++) {
        const struct input_slot *slot = &s->slots[s->taken % SLOTS];

        out[count].status = IBV_WC_SUCCESS;
        out[count].frame = (struct recorded_frame){
            .bytes = slot->bytes, .len = slot->len, .wirelen = slot->wirelen, .time = slot->time};
    }
    return count;
}

static int feed_repost(struct feed *feed)
{
    struct input_stream *s = feed->self;

    for (; s->done != s->taken; s->done++)
        sem_post(&s->room);
    return 0;
}

static void feed_arm(struct feed *feed)
{
    uint64_t count;

    while (read(feed->frames_fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        ;
}

static enum devevent feed_event(struct feed *feed)
{
    (void)feed;
    return DEVEVENT_NONE;
}

static bool feed_ready(struct feed *feed, GError **error)
{
    (void)feed;
    (void)error;
    return true;
}

/* What was wrong with the input is reported when it has ended. */
static void feed_stop(struct feed *feed)
{
    struct input_stream *s = feed->self;
    GError *error = NULL;

    feed->has_failed |= !end_child(s, &error);
    say_error(NULL, &error);
    if (!atomic_load(&s->ended))
        return;
    feed->has_failed |= s->error || s->others;
    say_error(s->name, &s->error);
    if (s->others)
        say("%s: %" PRIu64
            " packets were left out: they have another link type than the first one, are no "
            "InfiniBand packets, or have no time between 1970 and 2106",
            s->name, s->others);
    s->others = 0;
}

struct feed stream_feed(struct input_stream *s, struct device *device)
{
    static const struct feed_ops ops = {.mode = "stream",
                                        .poll = feed_poll,
                                        .repost = feed_repost,
                                        .arm = feed_arm,
                                        .event = feed_event,
                                        .prepare = feed_ready,
                                        .start = feed_ready,
                                        .stop = feed_stop,
                                        .restart = feed_ready};

    return (struct feed){.ops = &ops,
                         .name = s->name,
                         .device = device,
                         .entries = SLOTS,
                         .frames_fd = s->wake,
                         .event_fd = -1,
                         .fd = -1,
                         .self = s};
}
