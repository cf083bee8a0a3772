/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing thread. See writer.h. */
#include "capture/write/writer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/fail.h"
#include "capture/write/stop.h"

enum { RETRY_MS = 20 };

struct writer {
    struct handover *h;
    struct outfile *out;
    struct record_format format;
    pthread_t thread;
    bool started, failed, begun;
    atomic_bool abandon;
    sem_t go;
    uint64_t packets, bytes, lost; /* used only by the thread until it has ended */
};

/* The part of a block that is of one file. */
struct piece {
    const uint8_t *data;
    uint32_t len, packets;
    uint64_t bytes;
    bool new_file;
};

/* Handles a piece of which only the first LEN bytes were written. */
static void end_at_record(struct writer *w, const struct piece *p, size_t len)
{
    struct record_count whole = record_count(w->format, p->data, len, p->new_file);

    outfile_take_back(w->out, len - whole.len);
    w->packets += whole.packets;
    w->bytes += whole.bytes;
    w->lost += p->packets - whole.packets;
    w->failed = true;
    stop_request();
}

static void write_piece(struct writer *w, const struct piece *p)
{
    size_t done;

    if (!w->failed && p->new_file && w->begun && !outfile_next(w->out)) {
        w->failed = true;
        stop_request();
    }
    w->begun = true;
    if (w->failed) {
        w->lost += p->packets;
        return;
    }
    done = outfile_write(w->out, p->data, p->len, &w->abandon);
    if (done < p->len) {
        end_at_record(w, p, done);
        return;
    }
    w->packets += p->packets;
    w->bytes += p->bytes;
}

static void write_block(struct writer *w, const struct block *b)
{
    struct block_part from = {.len = 0};

    for (uint32_t i = 0; i <= b->files; i++) {
        struct block_part to = i < b->files ? b->before[i]
                                            : (struct block_part){b->len, b->packets, b->bytes};
        struct piece piece = {.data = b->data + from.len,
                              .len = to.len - from.len,
                              .packets = to.packets - from.packets,
                              .bytes = to.bytes - from.bytes,
                              .new_file = i > 0 || b->new_file};

        write_piece(w, &piece);
        from = to;
    }
}

static void *run_writer(void *arg)
{
    struct writer *w = arg;
    struct block *b;

    while (sem_wait(&w->go) != 0)
        ; /* interrupted by a signal */
    while ((b = handover_next(w->h)) != NULL) {
        write_block(w, b);
        handover_return(w->h, b);
    }
    return NULL;
}

static void on_nudge(int number)
{
    (void)number; /* no action: the signal interrupts a blocked write */
}

struct writer *writer_create(struct handover *h, struct outfile *out, struct record_format format)
{
    struct sigaction action = {.sa_handler = on_nudge};
    struct writer *w = g_new0(struct writer, 1);

    w->h = h;
    w->out = out;
    w->format = format;
    atomic_init(&w->abandon, false);
    sem_init(&w->go, 0, 0);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    return w;
}

bool writer_start(struct writer *w, GError **error)
{
    sigset_t all, before;
    int number;

    sigfillset(&all); /* the receiving thread handles the user's signals */
    sigdelset(&all, SIGUSR1);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    number = pthread_create(&w->thread, NULL, run_writer, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    w->started = number == 0;
    return w->started || fail_with(error, "cannot start the writing thread: %s", strerror(number));
}

void writer_go(struct writer *w)
{
    sem_post(&w->go);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits up to RETRY_MS for the end of the thread. Returns whether it ended. */
static bool joined(struct writer *w)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += RETRY_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_timedjoin_np(w->thread, NULL, &until) == 0;
}

void writer_finish(struct writer *w, int patience)
{
    int64_t begin = now_ms();
    int signals = stop_signals();

    if (!w->started)
        return;
    while (!joined(w)) {
        if (!outfile_is_live(w->out))
            continue;
        if (stop_signals() <= signals && (patience < 0 || now_ms() - begin < patience))
            continue;
        atomic_store(&w->abandon, true);
        pthread_kill(w->thread, SIGUSR1);
    }
    w->started = false;
}

uint64_t writer_packets(const struct writer *w)
{
    return w->packets;
}

uint64_t writer_bytes(const struct writer *w)
{
    return w->bytes;
}

uint64_t writer_lost(const struct writer *w)
{
    return w->lost;
}

void writer_destroy(struct writer *w)
{
    if (w)
        sem_destroy(&w->go);
    g_free(w);
}
