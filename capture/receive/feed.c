/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds with a receive ring. See feed.h. */
#include "capture/receive/feed.h"

int feed_ring_poll(struct feed *feed, struct rx out[RX_BATCH])
{
    return rxring_poll(feed->ring, out);
}

/* It fails only if no receive is left. */
int feed_ring_repost(struct feed *feed)
{
    int error = rxring_repost(feed->ring);

    return feed->ring->unposted_count == feed->ring->entries ? error : 0;
}

void feed_ring_arm(struct feed *feed)
{
    rxring_disarm(feed->ring);
    rxring_arm(feed->ring);
}

enum devevent feed_ring_event(struct feed *feed)
{
    return devevent_take(feed->device);
}

struct feed feed_of_ring(const struct feed_ops *ops, struct device *device, struct rxring *ring,
                         void *self)
{
    return (struct feed){.ops = ops,
                         .name = device_name(device),
                         .device = device,
                         .ring = ring,
                         .entries = ring->entries,
                         .frames_fd = ring->channel ? ring->channel->fd : -1,
                         .event_fd = device->context->async_fd,
                         .fd = -1,
                         .self = self};
}
