/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated device. See machine.h. */
#include "machine.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    NAP = 20000,    /* ns between two steps of the thread with "thread" */
    LATE = 1000000, /* ns */
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* --- events of the device */

static void raise_event(struct machine *m, enum ibv_event_type type)
{
    uint32_t event = type;

    if (write(m->async_in, &event, sizeof(event)) != sizeof(event))
        abort();
}

static void count_loss(struct machine *m, uint64_t more)
{
    char path[256], text[32];
    int fd, len;

    m->lost += more;
    if (!m->scenario->sysfs[0] || more == 0)
        return;
    snprintf(path, sizeof(path), "%s/ports/1/hw_counters/out_of_buffer", m->scenario->sysfs);
    fd = open(path, O_WRONLY);
    if (fd < 0)
        return;
    len = snprintf(text, sizeof(text), "%llu\n", (unsigned long long)m->lost);
    if (pwrite(fd, text, (size_t)len, 0) != len)
        abort();
    close(fd);
}

/* --- queues */

static uint32_t waiting(const struct ends *e)
{
    return atomic_load_explicit(&e->put, memory_order_acquire) -
           atomic_load_explicit(&e->got, memory_order_acquire);
}

/*
 * Advances an end of a queue: for the side that puts, the item is available; for the side that
 * gets, its slot is free.
 */
static void step(atomic_uint *end)
{
    atomic_store_explicit(end, atomic_load_explicit(end, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* The number of slots of a queue, less one. */
static uint32_t mask_of(uint32_t room)
{
    uint32_t places = 1;

    while (places < room)
        places *= 2;
    return places - 1;
}

void machine_reset_queue(struct machine *m, uint32_t receives, uint32_t completions)
{
    free(m->posted);
    free(m->done);
    m->posted_mask = mask_of(receives);
    m->done_mask = mask_of(completions);
    m->posted = calloc((size_t)m->posted_mask + 1, sizeof(*m->posted));
    m->done = calloc((size_t)m->done_mask + 1, sizeof(*m->done));
    m->posted_room = receives;
    m->done_room = completions;
    atomic_store(&m->posted_ends.put, 0);
    atomic_store(&m->posted_ends.got, 0);
    atomic_store(&m->done_ends.put, 0);
    atomic_store(&m->done_ends.got, 0);
    m->qp_error = m->cq_error = false;
}

bool machine_take(struct machine *m, struct completion *out)
{
    if (waiting(&m->done_ends) == 0)
        return false;
    *out = m->done[atomic_load_explicit(&m->done_ends.got, memory_order_relaxed) & m->done_mask];
    step(&m->done_ends.got);
    return true;
}

static struct posted take_posted(struct machine *m)
{
    struct posted p =
        m->posted[atomic_load_explicit(&m->posted_ends.got, memory_order_relaxed) & m->posted_mask];

    step(&m->posted_ends.got);
    return p;
}

static void complete(struct machine *m, struct completion c)
{
    if (waiting(&m->done_ends) == m->done_room) {
        fprintf(stderr, "replay: completion queue overrun\n");
        abort();
    }
    m->done[atomic_load_explicit(&m->done_ends.put, memory_order_relaxed) & m->done_mask] = c;
    step(&m->done_ends.put);
}

/*
 * In the Error state, each receive completes with an error, also a new one (IBA 10.3.1). The thread
 * that plays may be about to complete the last ones while the program posts others.
 */
static void flush_posted(struct machine *m)
{
    static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&flushing);
    while (waiting(&m->posted_ends) > 0)
        complete(m,
                 (struct completion){.wr_id = take_posted(m).wr_id, .status = IBV_WC_WR_FLUSH_ERR});
    pthread_mutex_unlock(&flushing);
}

bool machine_post(struct machine *m, uint64_t wr_id, uint8_t *memory, uint32_t len)
{
    uint32_t at = atomic_load_explicit(&m->posted_ends.put, memory_order_relaxed);

    /* The device owns a receive until its completion has been taken. */
    if (at - atomic_load_explicit(&m->done_ends.got, memory_order_relaxed) >= m->posted_room)
        return false;
    m->posted[at & m->posted_mask] = (struct posted){wr_id, memory, len};
    step(&m->posted_ends.put);
    if (m->qp_error)
        flush_posted(m);
    return true;
}

static void fail_qp(struct machine *m)
{
    m->qp_error = m->has_failed = true;
    flush_posted(m);
    raise_event(m, IBV_EVENT_QP_FATAL);
}

/* --- incidents */

static void befall(struct machine *m, const struct incident *i, uint64_t now)
{
    if (strcmp(i->what, "error") == 0)
        m->fail_next = i->value;
    else if (strcmp(i->what, "drop") == 0)
        m->drop_next += i->value;
    else if (strcmp(i->what, "qp-error") == 0)
        fail_qp(m);
    else if (strcmp(i->what, "cq-error") == 0) {
        m->cq_error = true;
        raise_event(m, IBV_EVENT_CQ_ERR);
    } else if (strcmp(i->what, "poll-error") == 0)
        m->poll_error = true;
    else if (strcmp(i->what, "post-error") == 0)
        m->post_error = true;
    else if (strcmp(i->what, "remove") == 0) {
        m->removed = true;
        raise_event(m, IBV_EVENT_DEVICE_FATAL);
    } else if (strcmp(i->what, "port-down") == 0)
        raise_event(m, IBV_EVENT_PORT_ERR);
    else if (strcmp(i->what, "port-up") == 0)
        raise_event(m, IBV_EVENT_PORT_ACTIVE);
    else if (strcmp(i->what, "lid") == 0) {
        m->scenario->lid = (uint16_t)i->value;
        raise_event(m, IBV_EVENT_LID_CHANGE);
    } else if (strcmp(i->what, "pause") == 0) {
        m->pause_end = now + i->value * 1000000;
        m->start += i->value * 1000000;
    } else {
        fprintf(stderr, "replay: what is %s?\n", i->what);
        abort();
    }
}

static bool is_due(const struct machine *m, const struct incident *i, uint64_t now)
{
    if (i->file)
        return access(i->file, F_OK) == 0;
    return i->by_time ? now - m->start >= i->when : m->come >= i->when;
}

static void befall_what_is_due(struct machine *m, uint64_t now)
{
    for (int n = 0; n < m->scenario->incident_count; n++) {
        struct incident *i = &m->scenario->incidents[n];

        if (i->done || !is_due(m, i, now))
            continue;
        i->done = true;
        befall(m, i, now);
    }
}

/* Number of frames before the next incident. */
static uint64_t until_incident(const struct machine *m)
{
    uint64_t least = UINT64_MAX;

    for (int n = 0; n < m->scenario->incident_count; n++) {
        const struct incident *i = &m->scenario->incidents[n];

        if (!i->done && !i->by_time && !i->file && i->when - m->come < least)
            least = i->when - m->come;
    }
    return least;
}

/* --- frames */

static uint32_t make_frame(const struct machine *m, uint8_t *out, uint32_t room)
{
    /* LRH to LID 1 from LID 2, length below; BTH: UD send only, P_Key ffff, to QPN 0x10 */
    static const uint8_t head[] = {0,    2,    0, 1, 0, 0,    0, 2, 0x64, 0,
                                   0xff, 0xff, 0, 0, 0, 0x10, 0, 0, 0,    0};
    uint32_t len = m->scenario->synthetic;

    if (len > room)
        return len;
    memset(out, 0, len);
    memcpy(out, head, len < sizeof(head) ? len : sizeof(head));
    out[4] = (uint8_t)(len / 4 >> 8);
    out[5] = (uint8_t)(len / 4);
    for (uint32_t i = 0; i < 8 && i < len; i++)
        out[len - 1 - i] = (uint8_t)(m->come >> (8 * i));
    return len;
}

static uint32_t copy_frame(const struct machine *m, uint8_t *out, uint32_t room)
{
    const struct packet_store *p = &m->scenario->packets;
    size_t n = p->count ? m->come % p->count : 0, len;

    if (m->scenario->synthetic)
        return make_frame(m, out, room);
    len = p->begins[n + 1] - p->begins[n];
    if (len <= room)
        memcpy(out, p->bytes + p->begins[n], len);
    return (uint32_t)len;
}

/* Flushes the bytes from the processor's caches, because a device's DMA leaves them in none. */
static void make_cold(const uint8_t *bytes, uint32_t len)
{
#ifdef __x86_64__
    for (uint32_t i = 0; i < len; i += 64)
        __builtin_ia32_clflush(bytes + i);
    if (len > 0)
        __builtin_ia32_clflush(bytes + len - 1);
#else
    (void)bytes;
    (void)len;
#endif
}

/*
 * --- datagrams to groups (IBA 7.7, 8.3, 9.2, 9.3.3; the first 40 bytes at the receiver: 11.4.1.2)
 */

enum {
    LRH = 8,
    GRH = 40,
    BTH = 12,
    DETH = 8,
    CRCS = 6,
    HEADS = LRH + GRH + BTH + DETH,
    ROOM = 16384
};

struct datagram {
    uint8_t bytes[ROOM]; /* GRH and payload */
    uint32_t len;
    uint32_t src_qp;
    uint16_t slid;
    uint8_t sl;
};

static bool is_attached(const struct machine *m, const uint8_t *mgid)
{
    for (int i = 0; i < m->attached_count; i++)
        if (memcmp(m->attached[i].raw, mgid, 16) == 0)
            return true;
    return false;
}

static void make_datagram(const struct machine *m, struct datagram *d)
{
    d->len = GRH + m->scenario->synthetic;
    memset(d->bytes, 0, d->len);
    d->src_qp = 0x4711;
    d->slid = 2;
    d->sl = 0;
    d->bytes[0] = 0x60;
    d->bytes[6] = 0x1b;
    memcpy(d->bytes + 24, m->scenario->groups[0].mgid.raw, 16);
    for (uint32_t i = 0; i < 8; i++)
        d->bytes[d->len - 1 - i] = (uint8_t)(m->come >> (8 * i));
}

/*
 * Gets the next frame as a datagram. Returns false if it is not for the queue pair: another
 * transport, no group, or a group that is not attached.
 */
static bool next_datagram(const struct machine *m, struct datagram *d)
{
    static _Thread_local uint8_t f[ROOM];
    uint32_t len, pad;

    if (m->scenario->synthetic) {
        make_datagram(m, d);
        return is_attached(m, d->bytes + 24);
    }
    len = copy_frame(m, f, sizeof(f));
    if (len < HEADS + CRCS || len > sizeof(f) || (f[1] & 3) != 3 || f[LRH + GRH] != 0x64 ||
        !is_attached(m, f + LRH + 24))
        return false;
    pad = f[LRH + GRH + 1] >> 4 & 3;
    d->len = len - LRH - BTH - DETH - CRCS - pad;
    memcpy(d->bytes, f + LRH, GRH);
    memcpy(d->bytes + GRH, f + HEADS, d->len - GRH);
    d->src_qp = (uint32_t)f[HEADS - 3] << 16 | (uint32_t)f[HEADS - 2] << 8 | f[HEADS - 1];
    d->slid = (uint16_t)(f[6] << 8 | f[7]);
    d->sl = f[1] >> 4;
    return true;
}

bool machine_attach(struct machine *m, const union ibv_gid *mgid)
{
    if (is_attached(m, mgid->raw))
        return true;
    if (m->attached_count == MAX_GROUPS)
        return false;
    m->attached[m->attached_count++] = *mgid;
    machine_start_flow(m);
    return true;
}

bool machine_detach(struct machine *m, const union ibv_gid *mgid)
{
    for (int i = 0; i < m->attached_count; i++) {
        if (memcmp(m->attached[i].raw, mgid->raw, 16) != 0)
            continue;
        m->attached[i] = m->attached[--m->attached_count];
        m->flow = m->attached_count > 0;
        return true;
    }
    return false;
}

/* --- delivering frames */

static void deliver(struct machine *m, uint64_t time, const struct datagram *d)
{
    struct posted p = take_posted(m);
    uint32_t len = d ? d->len : copy_frame(m, p.memory, p.len);
    struct completion c = {.wr_id = p.wr_id,
                           .status = len <= p.len ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR,
                           .len = len,
                           .time = time};

    if (d) {
        memcpy(p.memory, d->bytes, len <= p.len ? len : p.len);
        c.src_qp = d->src_qp;
        c.slid = d->slid;
        c.sl = d->sl;
        c.grh = true;
    }
    if (m->scenario->cold && c.status == IBV_WC_SUCCESS)
        make_cold(p.memory, len);
    if (m->fail_next)
        c.status = (enum ibv_wc_status)m->fail_next;
    m->fail_next = 0;
    complete(m, c);
}

/*
 * Without receives, those that come are lost. A device takes no time of the processor for them: if
 * this library did, on a busy machine more would have come meanwhile than before, and so on.
 * Returns how many were lost; 0: there are receives, or the frames differ.
 */
static uint64_t lose_all(struct machine *m, uint64_t count)
{
    bool same = m->attached_count == 0 || m->scenario->synthetic;
    bool taken = m->attached_count == 0 || is_attached(m, m->scenario->groups[0].mgid.raw);

    if (!same || !m->flow || m->qp_error || m->cq_error || waiting(&m->posted_ends) > 0)
        return 0;
    m->drop_next -= m->drop_next < count ? m->drop_next : count;
    m->come += count;
    m->in_flow += taken ? count : 0;
    count_loss(m, taken ? count : 0);
    return count;
}

/* Delivers up to COUNT frames. */
static void frames_come(struct machine *m, uint64_t count)
{
    static _Thread_local struct datagram datagram;
    uint64_t time = read_clock(CLOCK_REALTIME), lost = 0;

    for (; count > 0 && (count -= lose_all(m, count)) > 0; count--, m->come++) {
        if (!m->flow || m->qp_error || m->cq_error)
            continue; /* no flow */
        if (m->attached_count > 0 && !next_datagram(m, &datagram))
            continue; /* not for this queue pair */
        m->in_flow++;
        if (m->drop_next > 0 || waiting(&m->posted_ends) == 0) {
            m->drop_next -= m->drop_next > 0;
            lost++;
        } else {
            deliver(m, time, m->attached_count > 0 ? &datagram : NULL);
        }
    }
    count_loss(m, lost);
}

/* With bursts, no frames arrive while completions wait, nor at the first poll that finds none. */
static uint32_t wanted_of_burst(struct machine *m, uint32_t wanted, uint32_t ready)
{
    if (wanted == 0 || ready > 0)
        return 0;
    m->found_empty = !m->found_empty;
    return m->found_empty ? 0 : (uint32_t)m->scenario->burst;
}

/* Number of frames to deliver without a rate: as many as are wanted and have receives. */
static uint64_t due_unpaced(struct machine *m, uint32_t wanted)
{
    uint32_t ready = waiting(&m->done_ends), receives = waiting(&m->posted_ends);
    uint64_t n = 0;

    if (!m->flow || m->qp_error || m->cq_error)
        return 0;
    if (m->scenario->burst)
        wanted = wanted_of_burst(m, wanted, ready);
    if (wanted > ready)
        n = wanted - ready + m->drop_next;
    return n > receives + m->drop_next ? receives + m->drop_next : n;
}

/* Number of frames that are due. */
static uint64_t due(struct machine *m, uint64_t now, uint32_t wanted)
{
    const struct scenario *s = m->scenario;
    uint64_t left = s->total - m->come, n;

    if (now < m->pause_end)
        return 0;
    if (s->rate == 0) {
        n = due_unpaced(m, wanted);
    } else {
        n = (uint64_t)((double)(now - m->start) * (double)s->rate / 1e9);
        n = s->burst ? n / s->burst * s->burst : n;
        n = n > m->come ? n - m->come : 0;
        n = s->waits && n > waiting(&m->posted_ends) ? waiting(&m->posted_ends) : n;
    }
    return n < left ? n : left;
}

static bool plays(const struct machine *m)
{
    const struct scenario *s = m->scenario;

    return m->began && !m->removed && (s->synthetic || s->packets.count || s->incident_count);
}

/* Delivers COUNT frames, with the incidents between them. */
static void play(struct machine *m, uint64_t now, uint64_t count)
{
    uint64_t step_len;

    while (count > 0 && !m->removed && (m->scenario->rate || !(m->qp_error || m->cq_error))) {
        step_len = until_incident(m);
        step_len = step_len < count ? step_len : count;
        frames_come(m, step_len);
        count -= step_len;
        befall_what_is_due(m, now);
    }
}

/* ibdump's buffers start pages and fill them; nobody knows whether the firmware needs that. */
static void check_whole_pages(const struct machine *m)
{
    uint32_t put = atomic_load(&m->posted_ends.put);

    for (uint32_t at = atomic_load(&m->posted_ends.got); at != put; at++) {
        const struct posted *p = &m->posted[at & m->posted_mask];

        if ((uintptr_t)p->memory % 4096 == 0 && p->len % 4096 == 0)
            continue;
        fprintf(stderr, "replay: misuse: a buffer of the firmware's sniffer is no whole page\n");
        abort();
    }
}

/* The firmware's sniffer is attached and detached by another process. */
static void follow_firmware(struct machine *m)
{
    bool is_attached_now = access(m->scenario->firmware, F_OK) == 0;

    if (is_attached_now && (!m->flow || !m->began)) {
        check_whole_pages(m);
        machine_start_flow(m);
    }
    m->flow = is_attached_now;
}

void machine_advance(struct machine *m, uint32_t wanted)
{
    uint64_t now, count;

    if (m->scenario->firmware[0])
        follow_firmware(m);
    if (!plays(m))
        return;
    now = monotonic();
    befall_what_is_due(m, now);
    count = m->scenario->synthetic || m->scenario->packets.count ? due(m, now, wanted) : 0;
    if (count == 0)
        return;
    bill_pause(&m->bill);
    play(m, now, count);
    bill_go_on(&m->bill);
    if (m->bill.path && !m->scenario->threaded) /* delivery in a call takes no time */
        m->start += monotonic() - now;
}

void machine_start_flow(struct machine *m)
{
    m->flow = true;
    if (!m->began)
        m->start = m->advanced = monotonic();
    /* Until there are receives, the program only tests the flow. */
    if (!m->began && waiting(&m->posted_ends) > 0) {
        m->began = true;
        bill_begin(&m->bill, m->scenario->bill, m->scenario->threaded ? &m->thread : NULL);
    }
    pthread_cond_signal(&m->wake);
}

/* --- the device's thread */

void machine_arm(struct machine *m)
{
    m->armed = true;
    pthread_cond_signal(&m->wake);
}

static void wake_program(struct machine *m)
{
    const uint64_t one = 1;

    if (!m->armed || waiting(&m->done_ends) == 0)
        return;
    m->armed = false;
    if (write(m->channel_fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

static struct timespec soon(uint64_t ns)
{
    uint64_t at = read_clock(CLOCK_REALTIME) + ns;

    return (struct timespec){.tv_sec = (time_t)(at / 1000000000),
                             .tv_nsec = (long)(at % 1000000000)};
}

/*
 * If the thread did not run in time, the missed frames are delayed. Otherwise they would arrive all
 * at once, which no link does.
 */
static void forgive_lateness(struct machine *m)
{
    uint64_t now = monotonic(), late = now - m->advanced;

    if (late > LATE && m->began) {
        m->start += late;
        m->bill.late += late;
    }
    m->advanced = now;
}

/* With "thread": delivers each frame by the clock, independent of the program. */
static void play_alone(struct machine *m)
{
    struct timespec nap = {.tv_nsec = NAP};

    prctl(PR_SET_TIMERSLACK, 1000);
    while (!m->thread_ends) {
        forgive_lateness(m);
        machine_advance(m, 0);
        wake_program(m);
        pthread_mutex_unlock(&m->lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&m->lock);
    }
}

/*
 * Without "thread": the program's calls deliver frames; this thread delivers them only while the
 * program sleeps.
 */
static void play_while_it_sleeps(struct machine *m)
{
    struct timespec until;

    while (!m->thread_ends) {
        machine_advance(m, m->armed ? 1 : 0);
        wake_program(m);
        until = soon(2000000);
        if (m->armed)
            pthread_cond_timedwait(&m->wake, &m->lock, &until);
        else
            pthread_cond_wait(&m->wake, &m->lock);
    }
}

static void *run(void *arg)
{
    struct machine *m = arg;

    pthread_mutex_lock(&m->lock);
    if (m->scenario->threaded)
        play_alone(m);
    else
        play_while_it_sleeps(m);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/*
 * GCC 12's ThreadSanitizer allocates the record of a thread's signals at its first call that can
 * block, and loses a signal that arrives during this. So the program's thread makes such a call
 * before the test can send a signal.
 */
static void prepare_for_signals(void)
{
    poll(NULL, 0, 0);
}

void machine_create(struct machine *m, struct scenario *s)
{
    int fds[2];

    prepare_for_signals();
    memset(m, 0, sizeof(*m));
    m->scenario = s;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    m->channel_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (m->channel_fd < 0 || pipe2(fds, O_CLOEXEC) != 0)
        abort();
    m->async_fd = fds[0];
    m->async_in = fds[1];
    m->thread_runs = pthread_create(&m->thread, NULL, run, m) == 0;
}

void machine_destroy(struct machine *m)
{
    pthread_mutex_lock(&m->lock);
    m->thread_ends = true;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    if (m->thread_runs)
        pthread_join(m->thread, NULL);
    close(m->channel_fd);
    close(m->async_fd);
    close(m->async_in);
    free(m->posted);
    free(m->done);
}
