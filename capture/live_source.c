/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the source of a live capture. See live_source.h. */
#include "capture/live_source.h"

#include <stdio.h>

#include "capture/choice.h"
#include "capture/receive/devevent.h"
#include "cli/fail.h"
#include "cli/privileges.h"
#include "cli/say.h"
#include "wire/linktype.h"

enum { LOG2_MULTICAST = 12 }; /* log2 of the default number of buffers: multicast traffic is low */

/* A capture waits for the link. In Wireshark, an empty window would not show why. */
static bool check_link(const struct live_source *s, GError **error)
{
    const char *state = ibv_port_state_str(s->device.port_attr.state);

    if (s->device.port_attr.state == IBV_PORT_ACTIVE)
        return true;
    if (s->options->fifo)
        return fail_with(error,
                         "%s port %u: port is not active (%s): start the capture when the link is "
                         "up, or run ipoib-capture without Wireshark, which waits for the link",
                         device_name(&s->device), s->device.port, state);
    say("%s port %u: port is not active (%s); no frames until it comes up", device_name(&s->device),
        s->device.port, state);
    return true;
}

static bool check_port(const struct live_source *s, GError **error)
{
    if (!device_is_ethernet(&s->device) && s->options->erf == 0)
        return fail_with(error,
                         "%s port %u: InfiniBand frames cannot be written without ERF (--erf 0); "
                         "'ipoib-capture convert' makes a file of link type 247 from it",
                         device_name(&s->device), s->device.port);
    if (device_is_ethernet(&s->device) && s->options->direction != DIRECTION_BOTH)
        say("%s port %u: -I has no effect on Ethernet: a frame does not show its direction",
            device_name(&s->device), s->device.port);
    if (device_is_ethernet(&s->device) && s->options->decap)
        say("%s port %u: --decap has no effect on Ethernet: it removes InfiniBand headers",
            device_name(&s->device), s->device.port);
    if (device_is_ethernet(&s->device) && s->options->only)
        say("%s port %u: --only has no effect on Ethernet: it selects by InfiniBand headers",
            device_name(&s->device), s->device.port);
    if (s->options->mode == MODE_SNIFFER && choice_has_sm(&s->device))
        say("%s port %u: a subnet manager runs on this port: a sniffer can disturb it; capture on another port",
            device_name(&s->device), s->device.port);
    return check_link(s, error);
}

static struct rx_plan rx_plan_of(const struct live_source *s)
{
    struct rx_plan plan = {
        .entries = 1u << s->options->log2_buffers,
        .entries_requested = s->options->buffers_requested,
        .entry_len = rxring_entry_len(&s->device, s->options->jumbo),
        .huge_pages = s->options->huge_pages,
    };

    if (s->options->mode == MODE_MULTICAST && !s->options->buffers_requested)
        plan.entries = 1u << LOG2_MULTICAST;
    return plan;
}

static bool create_multicast(struct live_source *s, GError **error)
{
    const struct multicast_plan plan = {.rx = rx_plan_of(s),
                                        .pkey = s->options->pkey,
                                        .broadcast_only = s->options->broadcast_only};
    bool good = multicast_create(&s->multicast, &s->device, &plan, error);

    s->feed = multicast_feed(&s->multicast);
    return good;
}

static bool create_firmware(struct live_source *s, GError **error)
{
    struct firmware_plan plan = {
        .rx = rx_plan_of(s), .direction = s->options->direction, .library = s->options->mstflint};
    bool good;

    plan.rx.whole_pages = true;
    good = firmware_create(&s->firmware, &s->device, &plan, error);

    s->feed = firmware_feed(&s->firmware);
    return good;
}

static bool create_feed(struct live_source *s, GError **error)
{
    struct rx_plan plan;
    bool good;

    if (s->options->mode == MODE_MULTICAST)
        return create_multicast(s, error);
    if (choice_of_sniffer(&s->device, s->options->sniffer) == SNIFFER_FIRMWARE)
        return create_firmware(s, error);
    plan = rx_plan_of(s);
    good = sniffer_create(&s->sniffer, &s->device, &plan, error);
    s->feed = sniffer_feed(&s->sniffer);
    return good;
}

static bool is_ibdump(const struct live_options *options)
{
    return options->mode == MODE_SNIFFER && options->sniffer == SNIFFER_IBDUMP;
}

/* The device itself is only queried: for the directions of frames, its LID. */
static bool start_ibdump(struct live_source *s, struct ibdump *ibdump, GError **error)
{
    const struct live_options *o = s->options;
    const struct ibdump_plan plan = {.program = o->ibdump,
                                     .device = s->name,
                                     .port = o->port,
                                     .log2_buffers = o->log2_buffers,
                                     .buffers_requested = o->buffers_requested,
                                     .jumbo = o->jumbo,
                                     .direction = o->direction};

    if (!device_list_get(&s->list, error) ||
        !device_open(&s->device, &s->list, o->device, o->port, error) || !check_port(s, error))
        return false;
    snprintf(s->name, sizeof(s->name), "%s", device_name(&s->device));
    device_close(&s->device);
    return ibdump_start(ibdump, &plan, error);
}

/*
 * The frames of another program. What it writes is parsed without privileges; only to open the
 * output they are raised again.
 */
static bool open_stream(struct live_source *s, GError **error)
{
    struct ibdump ibdump = {.fd = -1};

    if (!s->options->read && !start_ibdump(s, &ibdump, error))
        return false;
    if (s->options->read)
        snprintf(s->name, sizeof(s->name), "%s", "stream");
    if (!privileges_drop(0, PRIVILEGE_FILES, error))
        return false;
    s->stream = s->options->read ? stream_open(s->options->read, error)
                                 : stream_open_ibdump(&ibdump, error);
    if (!s->stream)
        return false;
    s->device.port_attr.link_layer = stream_linktype(s->stream) == LINKTYPE_INFINIBAND
                                         ? IBV_LINK_LAYER_INFINIBAND
                                         : IBV_LINK_LAYER_ETHERNET;
    s->feed = stream_feed(s->stream, &s->device);
    return true;
}

bool live_source_open(struct live_source *s, const struct live_options *options, GError **error)
{
    s->options = options;
    if (s->options->read || is_ibdump(s->options))
        return open_stream(s, error);
    if (!device_list_get(&s->list, error) ||
        !device_open(&s->device, &s->list, s->options->device, s->options->port, error) ||
        !check_port(s, error))
        return false;
    snprintf(s->name, sizeof(s->name), "%s", device_name(&s->device));
    devevent_prepare(&s->device);
    return create_feed(s, error);
}

void live_source_end_feed(struct live_source *s)
{
    if (s->sniffer.device)
        sniffer_destroy(&s->sniffer);
    if (s->firmware.device)
        firmware_destroy(&s->firmware);
    if (s->multicast.device)
        multicast_destroy(&s->multicast);
    stream_close(s->stream);
    s->stream = NULL;
    s->sniffer.device = s->firmware.device = s->multicast.device = NULL;
}

void live_source_close(struct live_source *s)
{
    live_source_end_feed(s);
    device_close(&s->device);
    device_list_free(&s->list);
}
