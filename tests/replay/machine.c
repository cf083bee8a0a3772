/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that is played. See machine.h. */
#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t machine_monotonic(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* --- what the device tells by itself */

static void tell(struct machine *m, enum ibv_event_type type)
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

void machine_reset_queue(struct machine *m, uint32_t receives, uint32_t completions)
{
    free(m->posted);
    free(m->done);
    m->posted = calloc(receives, sizeof(*m->posted));
    m->done = calloc(completions, sizeof(*m->done));
    m->posted_room = receives;
    m->done_room = completions;
    m->posted_head = m->posted_count = m->done_head = m->done_count = 0;
    m->qp_error = m->cq_error = false;
}

void machine_post(struct machine *m, uint64_t wr_id, uint8_t *memory, uint32_t len)
{
    uint32_t at = m->posted_head + m->posted_count++;

    m->posted[at < m->posted_room ? at : at - m->posted_room] = (struct posted){wr_id, memory, len};
}

static struct posted take_posted(struct machine *m)
{
    struct posted p = m->posted[m->posted_head];

    m->posted_head = m->posted_head + 1 < m->posted_room ? m->posted_head + 1 : 0;
    m->posted_count--;
    return p;
}

static void complete(struct machine *m, uint64_t wr_id, enum ibv_wc_status status, uint32_t len, uint64_t time)
{
    uint32_t at = m->done_head + m->done_count;

    if (m->done_count == m->done_room) {
        fprintf(stderr, "replay: completion queue overrun\n");
        abort();
    }
    m->done_count++;
    m->done[at < m->done_room ? at : at - m->done_room] = (struct completion){wr_id, status, len, time};
}

static void fail_qp(struct machine *m)
{
    m->qp_error = true;
    while (m->posted_count > 0)
        complete(m, take_posted(m).wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0);
    tell(m, IBV_EVENT_QP_FATAL);
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
        tell(m, IBV_EVENT_CQ_ERR);
    } else if (strcmp(i->what, "poll-error") == 0)
        m->poll_error = true;
    else if (strcmp(i->what, "post-error") == 0)
        m->post_error = true;
    else if (strcmp(i->what, "remove") == 0) {
        m->removed = true;
        tell(m, IBV_EVENT_DEVICE_FATAL);
    } else if (strcmp(i->what, "port-down") == 0)
        tell(m, IBV_EVENT_PORT_ERR);
    else if (strcmp(i->what, "port-up") == 0)
        tell(m, IBV_EVENT_PORT_ACTIVE);
    else if (strcmp(i->what, "lid") == 0) {
        m->scenario->lid = (uint16_t)i->value;
        tell(m, IBV_EVENT_LID_CHANGE);
    } else if (strcmp(i->what, "pause") == 0) {
        m->pause_end = now + i->value * 1000000;
        m->start += i->value * 1000000;
    } else {
        fprintf(stderr, "replay: what is %s?\n", i->what);
        abort();
    }
}

static void befall_what_is_due(struct machine *m, uint64_t now)
{
    for (int n = 0; n < m->scenario->incident_count; n++) {
        struct incident *i = &m->scenario->incidents[n];

        if (i->done || (i->by_time ? now - m->start < i->when : m->come < i->when))
            continue;
        i->done = true;
        befall(m, i, now);
    }
}

/* How many frames may come before the next incident. */
static uint64_t until_incident(const struct machine *m)
{
    uint64_t least = UINT64_MAX;

    for (int n = 0; n < m->scenario->incident_count; n++) {
        const struct incident *i = &m->scenario->incidents[n];

        if (!i->done && !i->by_time && i->when - m->come < least)
            least = i->when - m->come;
    }
    return least;
}

/* --- frames */

static uint32_t make_frame(const struct machine *m, uint8_t *out, uint32_t room)
{
    /* LRH to LID 1 from LID 2, length below; BTH: UD send only, P_Key ffff, to QPN 0x10 */
    static const uint8_t head[] = {0, 2, 0, 1, 0, 0, 0, 2, 0x64, 0, 0xff, 0xff, 0, 0, 0, 0x10, 0, 0, 0, 0};
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
        memcpy(out, p->octets + p->begins[n], len);
    return (uint32_t)len;
}

static void deliver(struct machine *m, uint64_t time)
{
    struct posted p = take_posted(m);
    uint32_t len = copy_frame(m, p.memory, p.len);
    enum ibv_wc_status status = len <= p.len ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;

    if (m->fail_next)
        status = (enum ibv_wc_status)m->fail_next;
    m->fail_next = 0;
    complete(m, p.wr_id, status, len, time);
}

/* Up to COUNT frames come. */
static void frames_come(struct machine *m, uint64_t count)
{
    uint64_t time = read_clock(CLOCK_REALTIME), lost = 0;

    for (; count > 0; count--, m->come++) {
        if (!m->flow || m->qp_error || m->cq_error)
            continue; /* nobody listens */
        if (m->drop_next > 0 || m->posted_count == 0) {
            m->drop_next -= m->drop_next > 0;
            lost++;
        } else {
            deliver(m, time);
        }
    }
    count_loss(m, lost);
}

/* How many frames are due; with no rate, as many as are wanted and have a receive. */
static uint64_t due(const struct machine *m, uint64_t now, uint32_t wanted)
{
    const struct scenario *s = m->scenario;
    uint64_t left = s->total - m->come, n;

    if (now < m->pause_end)
        return 0;
    if (s->rate == 0) {
        n = m->flow && !m->qp_error && !m->cq_error && wanted > m->done_count ? wanted - m->done_count + m->drop_next : 0;
        n = n > m->posted_count + m->drop_next ? m->posted_count + m->drop_next : n;
    } else {
        n = (uint64_t)((double)(now - m->start) * (double)s->rate / 1e9);
        n = s->burst ? n / s->burst * s->burst : n;
        n = n > m->come ? n - m->come : 0;
    }
    return n < left ? n : left;
}

void machine_advance(struct machine *m, uint32_t wanted)
{
    uint64_t now, count, step;

    if (!m->began || m->removed || (!m->scenario->synthetic && m->scenario->packets.count == 0 &&
                                    m->scenario->incident_count == 0))
        return;
    now = machine_monotonic();
    befall_what_is_due(m, now);
    count = m->scenario->synthetic || m->scenario->packets.count ? due(m, now, wanted) : 0;
    while (count > 0 && !m->removed && (m->scenario->rate || !(m->qp_error || m->cq_error))) {
        step = until_incident(m);
        step = step < count ? step : count;
        frames_come(m, step);
        count -= step;
        befall_what_is_due(m, now);
    }
}

void machine_start_flow(struct machine *m)
{
    m->flow = true;
    if (!m->began)
        m->start = machine_monotonic();
    m->began = m->began || m->posted_count > 0; /* before there are receives, the program only tries */
    pthread_cond_signal(&m->wake);
}

/* --- the thread that wakes a sleeping program */

void machine_arm(struct machine *m)
{
    m->armed = true;
    pthread_cond_signal(&m->wake);
}

static void *run(void *arg)
{
    const uint64_t one = 1;
    struct machine *m = arg;
    struct timespec until;

    pthread_mutex_lock(&m->lock);
    while (!m->thread_ends) {
        machine_advance(m, m->armed ? 1 : 0);
        if (m->armed && m->done_count > 0) {
            m->armed = false;
            if (write(m->channel_fd, &one, sizeof(one)) != sizeof(one))
                abort();
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 2000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (m->armed)
            pthread_cond_timedwait(&m->wake, &m->lock, &until);
        else
            pthread_cond_wait(&m->wake, &m->lock);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

void machine_create(struct machine *m, struct scenario *s)
{
    int fds[2];

    memset(m, 0, sizeof(*m));
    m->scenario = s;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    m->channel_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (m->channel_fd < 0 || pipe2(fds, O_CLOEXEC) != 0)
        abort();
    m->async_fd = fds[0];
    m->async_in = fds[1];
    count_loss(m, 0);
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
