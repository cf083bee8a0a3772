/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receive loop. See receive.h. Under load it polls. When the queue is empty it naps, for a time too
 * short for the fastest link to fill the posted receives. After a while without frames it sleeps
 * until an event.
 */
#include "capture/receive/receive.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "capture/receive/devevent.h"
#include "capture/receive/hcaclock.h"
#include "capture/receive/ibframe.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "pcapio/pcapng.h"
#include "capture/write/stop.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

enum {
    NAP_PER_ENTRY = 12, /* ns per entry: a quarter of the entries are used at 20 million frames/s */
    NAP_MAX = 500000,   /* ns */
    NAPS = 40,          /* naps without a frame before the loop sleeps */
    PERIODIC_BATCHES = 16, /* under load, batches between two readings of the clock */
    RESTARTS_MAX = 100,    /* replacements of the queue pair before the capture gives up */
    /* frames prefetched ahead: the device writes to memory, not to the cache */
    AHEAD = 8,
};
static const uint64_t periodic_interval = 20 * MS, file_patience = 500 * MS,
                      event_patience = 200 * MS;
/* Records reach the reader of a pipe after this time, or before the loop sleeps. */
static const uint64_t reader_patience = 5 * MS;

static bool is_done(const struct receiver *r)
{
    return (r->plan.count && r->recorded >= r->plan.count) || recorder_is_full(r->recorder);
}

/* Applies the mode and the options. Returns false if the frame is not recorded. */
static bool prepare_frame(struct receiver *r, const struct rx *rx, struct recorded_frame *frame)
{
    if (r->feed->ops->frame && !r->feed->ops->frame(r->feed, rx, frame))
        return false;
    if (r->plan.decap && frame_is_mirrored(r->device, frame->bytes, frame->len)) {
        frame->bytes += MIRROR_HEAD_LEN;
        frame->len -= MIRROR_HEAD_LEN + MIRROR_TAIL_LEN;
        frame->decapsulated = true;
    }
    frame->wirelen = frame->len;
    frame->direction = frame_direction(r->device, frame->bytes, frame->len);
    if (!r->selection || selection_wants(r->selection, frame))
        return true;
    recorder_left_out(r->recorder);
    return false;
}

/* Whether prepare_frame() has nothing to do. */
static bool goes_as_received(const struct receiver *r)
{
    const struct receive_plan *plan = &r->plan;

    return !r->feed->ops->frame && !plan->decap && !plan->with_direction && !r->selection;
}

static inline bool record(struct receiver *r, const struct rx *rx)
{
    struct recorded_frame frame;

    if (r->as_received)
        return recorder_put(r->recorder, &rx->frame);
    frame = rx->frame;
    return prepare_frame(r, rx, &frame) && recorder_put(r->recorder, &frame);
}

static void note_failure(struct receiver *r, const struct rx *rx)
{
    if (rx->status == IBV_WC_WR_FLUSH_ERR) { /* not a lost frame: the receive was flushed */
        r->broken = true;
        return;
    }
    if (r->failures++ == 0)
        say("%s: a receive failed: %s (vendor error 0x%x); each of these is counted as a drop",
            r->feed->name, ibv_wc_status_str(rx->status), rx->vendor_error);
    r->too_long += rx->status == IBV_WC_LOC_LEN_ERR;
    recorder_lost(r->recorder, 1);
    recorder_note(r->recorder, "The device could not deliver a frame before this one.");
}

static void take_batch(struct receiver *r, const struct rx *rx, int count)
{
    uint64_t limit = r->plan.count ? r->plan.count : UINT64_MAX;
    bool memory = r->plan.in_memory;

    for (int i = 0; i < count && r->recorded < limit; i++) {
        if (memory && recorder_is_full(r->recorder))
            return;
        if (i + AHEAD < count) {
            __builtin_prefetch(rx[i + AHEAD].frame.bytes);
            __builtin_prefetch(rx[i + AHEAD].frame.bytes + 64);
        }
        if (rx[i].status == IBV_WC_SUCCESS)
            r->recorded += record(r, &rx[i]);
        else
            note_failure(r, &rx[i]);
    }
}

static void note_change(struct receiver *r)
{
    device_refresh(r->device);
    if (r->feed->ops->changed && !r->feed->ops->changed(r->feed))
        r->broken = true;
}

/* Handles one device event. Returns false if the capture cannot continue. */
static bool handle_device_event(struct receiver *r, enum devevent event)
{
    switch (event) {
    case DEVEVENT_NONE:
        return true;
    case DEVEVENT_REMOVED:
        return fail_with(&r->error, "%s: the device was removed, or its driver has reset it",
                         r->feed->name);
    case DEVEVENT_BROKEN:
        r->broken = true;
        return true;
    case DEVEVENT_PORT_DOWN:
        say("%s port %u: the link went down; waiting for it", r->feed->name, r->device->port);
        recorder_note(r->recorder, "The link was down before this frame.");
        return true;
    case DEVEVENT_PORT_UP:
        say("%s port %u: the link is up", r->feed->name, r->device->port);
        note_change(r);
        return true;
    case DEVEVENT_CHANGED:
        note_change(r);
        return true;
    }
    return true;
}

/* Handles all waiting device events. Returns false if the capture cannot continue. */
static bool hear_device(struct receiver *r)
{
    enum devevent event;

    while ((event = r->feed->ops->event(r->feed)) != DEVEVENT_NONE)
        if (!handle_device_event(r, event))
            return false;
    return true;
}

static void tick(struct receiver *r, uint64_t now, uint64_t patience)
{
    recorder_tick(r->recorder, (struct host_time){.steady = now, .day = time_of_day()}, patience);
}

/* Periodic work. Returns false if the capture ends. */
static bool do_periodic(struct receiver *r, uint64_t now)
{
    r->next_periodic = now + periodic_interval;
    recorder_lost(r->recorder, dropcount_more(r->dropcount));
    tick(r, now, r->live ? reader_patience : file_patience);
    progress_show(r->progress, recorder_counts(r->recorder), now);
    if (!hear_device(r) || (r->feed->ops->tend && !r->feed->ops->tend(r->feed, &r->error))) {
        r->failed = true;
        return false;
    }
    return r->end == 0 || now < r->end;
}

static bool do_periodic_if_due(struct receiver *r)
{
    uint64_t now = steady_time();

    return now < r->next_periodic || do_periodic(r, now);
}

/*
 * Waits TIMEOUT ns, or until a signal, a device event, the feed's descriptor, an error on the
 * output pipe or, with CHANNEL, a completion.
 */
static void wait_for(struct receiver *r, uint64_t timeout, bool channel)
{
    struct timespec t = {.tv_sec = (time_t)(timeout / SECOND), .tv_nsec = (long)(timeout % SECOND)};
    struct pollfd fds[] = {
        {.fd = stop_fd(), .events = POLLIN},          {.fd = r->feed->event_fd, .events = POLLIN},
        {.fd = r->feed->fd, .events = POLLIN},        {.fd = r->reader}, /* only for errors */
        {.fd = r->feed->frames_fd, .events = POLLIN},
    };

    if (ppoll(fds, channel ? 5 : 4, &t, NULL) > 0 &&
        (fds[3].revents & (POLLERR | POLLHUP | POLLNVAL))) {
        r->reader_left = true;
        stop_request();
    }
}

/*
 * The queue pair cannot be created again: perhaps because the device was removed, which its event
 * says a little later. Returns false.
 */
static bool blame_device(struct receiver *r)
{
    uint64_t now, end = steady_time() + event_patience;
    GError *error = r->error;

    r->error = NULL;
    while ((now = steady_time()) < end && !stop_requested()) {
        wait_for(r, end - now, false);
        if (!hear_device(r)) {
            g_error_free(error);
            return false;
        }
    }
    r->error = error;
    return false;
}

/*
 * Recovers from a failed queue pair or completion queue. Returns false and sets r->error if that
 * fails.
 */
static bool recover_qp(struct receiver *r)
{
    if (++r->restarts > RESTARTS_MAX)
        return fail_with(&r->error, "%s: the queue pair failed too often", r->feed->name);
    if (!hear_device(r))
        return false;
    /* earlier events concern the old queue pair */
    r->broken = false;
    if (!r->feed->ops->restart(r->feed, &r->error))
        return blame_device(r);
    if (r->restarts == 1)
        say("%s: the queue pair failed and was created again: frames may be missing",
            r->feed->name);
    recorder_note(
        r->recorder,
        "The queue pair failed before this frame and was created again: frames may be missing.");
    return true;
}

static uint64_t nap_time(const struct receiver *r)
{
    uint64_t nap = (uint64_t)r->feed->entries * NAP_PER_ENTRY;

    return nap < NAP_MAX ? nap : NAP_MAX;
}

/* Maximum sleep in ns: the interval of the periodic work, or the time to the end of the capture. */
static uint64_t sleep_time(const struct receiver *r, uint64_t now)
{
    uint64_t time = r->plan.in_memory ? SECOND : file_patience;

    return r->end && r->end < now + time ? (r->end > now ? r->end - now : 0) : time;
}

/* Handles an empty queue. Returns true if there are completions to handle now. */
static bool wait_for_frames(struct receiver *r, uint64_t now, struct rx *rx, int *count)
{
    /* poll once more at once, since more frames may be arriving; not while the writer is behind */
    if (r->busy == NAPS && !recorder_is_behind(r->recorder)) {
        r->busy--;
        return false;
    }
    if (r->busy > 0) {
        r->busy--;
        wait_for(r, nap_time(r), false);
        return false;
    }
    r->feed->ops->arm(r->feed);
    *count = r->feed->ops->poll(r->feed, rx); /* a completion before arming gives no event */
    if (*count != 0)
        return true;
    if (r->live)
        tick(r, now, 0);
    wait_for(r, sleep_time(r, now), true);
    r->next_periodic = 0;
    return false;
}

/*
 * Handles a failed poll: device events may give the reason, perhaps a little later. Returns false
 * if the capture cannot continue.
 */
static bool repair(struct receiver *r)
{
    if (!hear_device(r))
        return false;
    if (!r->broken) {
        wait_for(r, event_patience, false);
        if (!hear_device(r))
            return false;
    }
    if (r->broken)
        return recover_qp(r);
    return fail_with(&r->error,
                     "%s: the completion queue cannot be polled: the device has stopped working",
                     r->feed->name);
}

/* Handles polled completions. Returns false if the capture cannot continue. */
static bool handle_completions(struct receiver *r, const struct rx *rx, int count)
{
    int error;

    if (count < 0)
        return repair(r);
    take_batch(r, rx, count);
    r->busy = NAPS;
    error = r->broken ? 0 : r->feed->ops->repost(r->feed);
    if (error != 0)
        return fail_with(&r->error, "%s: receives cannot be posted: %s", r->feed->name,
                         strerror(error));
    return true;
}

/* One iteration of the loop. Returns false at the end of the capture. */
static bool turn(struct receiver *r)
{
    struct rx rx[RX_BATCH];
    int count = r->feed->ops->poll(r->feed, rx);
    uint64_t now;

    if (count == 0) {
        now = steady_time();
        if (r->broken && !recover_qp(r)) {
            r->failed = true;
            return false;
        }
        if (now >= r->next_periodic && !do_periodic(r, now))
            return false;
        if (r->live)
            tick(r, now, reader_patience);
        if (!wait_for_frames(r, now, rx, &count))
            return true;
    }
    if (!handle_completions(r, rx, count)) {
        r->failed = true;
        return false;
    }
    return !is_done(r) && (++r->batches % PERIODIC_BATCHES != 0 || do_periodic_if_due(r));
}

/* Records the frames already received when the capture ends. */
static void drain(struct receiver *r)
{
    struct rx rx[RX_BATCH];
    uint32_t left = r->feed->entries;
    int count;

    r->feed->ops->stop(r->feed);
    while (left > 0 && !is_done(r) && (count = r->feed->ops->poll(r->feed, rx)) > 0) {
        take_batch(r, rx, count);
        left -= left < (uint32_t)count ? left : (uint32_t)count;
    }
}

void receive(struct receiver *r)
{
    uint64_t now = steady_time();

    r->end = r->plan.duration ? now + r->plan.duration : 0;
    r->busy = NAPS;
    r->as_received = goes_as_received(r);
    while (!stop_requested() && turn(r))
        ;
    drain(r);
    recorder_lost(r->recorder, dropcount_more(r->dropcount));
    recorder_end(r->recorder, time_of_day());
}
