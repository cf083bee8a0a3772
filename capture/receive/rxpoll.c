/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completions of the receive ring. See rxring.h. */
#include "capture/receive/rxring.h"

#include <errno.h>

/* Address of the entry with that number, which is stored in UNPOSTED. */
static const uint8_t *take_entry(const struct rxring *ring, uint64_t wr_id, uint32_t *unposted)
{
    *unposted = (uint32_t)wr_id;
    return ring->memory + (size_t)*unposted * ring->stride;
}

static struct rx_address address_of(const struct ibv_wc *wc)
{
    return (struct rx_address){.src_qp = wc->src_qp,
                               .slid = wc->slid,
                               .sl = wc->sl,
                               .path_bits = wc->dlid_path_bits,
                               .grh = (wc->wc_flags & IBV_WC_GRH) != 0};
}

static int poll_plain(struct rxring *ring, struct rx out[RX_BATCH])
{
    struct ibv_wc wc[RX_BATCH];
    uint32_t room = ring->entries - ring->unposted_count;
    int count = ibv_poll_cq(ring->cq, room < RX_BATCH ? (int)room : RX_BATCH, wc);
    uint64_t now = count > 0 ? time_of_day() : 0;
    uint32_t *unposted = ring->unposted + ring->unposted_count;

    for (int i = 0; i < count; i++) {
        out[i].frame = (struct recorded_frame){.bytes = take_entry(ring, wc[i].wr_id, &unposted[i]),
                                               .len = wc[i].byte_len,
                                               .wirelen = wc[i].byte_len,
                                               .time = now};
        out[i].status = wc[i].status;
        out[i].vendor_error = wc[i].vendor_err;
        if (ring->addresses)
            out[i].from = address_of(&wc[i]);
    }
    if (count > 0)
        ring->unposted_count += (uint32_t)count;
    return count;
}

/* Reads the current completion of the extended queue. */
static void take_timed(struct rxring *ring, struct rx *rx, uint64_t now)
{
    struct ibv_cq_ex *cq = ring->cq_ex;
    uint32_t *unposted = &ring->unposted[ring->unposted_count++];

    rx->frame = (struct recorded_frame){.bytes = take_entry(ring, cq->wr_id, unposted),
                                        .time = now};
    rx->status = cq->status;
    if (cq->status != IBV_WC_SUCCESS) {
        rx->vendor_error = ibv_wc_read_vendor_err(cq);
        return;
    }
    rx->frame.len = rx->frame.wirelen = ibv_wc_read_byte_len(cq);
    if (ring->clock.wallclock)
        rx->frame.time = ibv_wc_read_completion_wallclock_ns(cq);
    else
        rx->frame.time = hcaclock_time(&ring->clock, ibv_wc_read_completion_ts(cq));
}

static int poll_timed(struct rxring *ring, struct rx out[RX_BATCH])
{
    struct ibv_poll_cq_attr attr = {0};
    uint32_t room = ring->entries - ring->unposted_count, count = 0;
    int error;
    uint64_t now;

    if (room == 0)
        return 0;
    error = ibv_start_poll(ring->cq_ex, &attr);
    if (error != 0)
        return error == ENOENT ? 0 : -1;
    now = time_of_day();
    /* the clocks drift */
    hcaclock_follow(&ring->clock, now);
    do
        take_timed(ring, &out[count++], now);
    while (count < RX_BATCH && count < room && (error = ibv_next_poll(ring->cq_ex)) == 0);
    ibv_end_poll(ring->cq_ex);
    return error != 0 && error != ENOENT && count == 0 ? -1 : (int)count;
}

int rxring_poll(struct rxring *ring, struct rx out[RX_BATCH])
{
    return ring->cq_ex ? poll_timed(ring, out) : poll_plain(ring, out);
}

void rxring_arm(struct rxring *ring)
{
    ibv_req_notify_cq(ring->cq, 0);
}

void rxring_disarm(struct rxring *ring)
{
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(ring->channel, &cq, &context) == 0)
        ring->events++;
}
