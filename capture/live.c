/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture: creates everything it needs, runs, and frees it. See live.h. */
#include "capture/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/choice.h"
#include "capture/receive/devevent.h"
#include "capture/list.h"
#include "capture/losses.h"
#include "capture/firmware/firmware.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "capture/multicast/multicast.h"
#include "cli/privileges.h"
#include "capture/receive/receive.h"
#include "capture/receive/selection.h"
#include "capture/receive/sniffer.h"
#include "capture/stream/stream.h"
#include "capture/write/stop.h"
#include "capture/write/writer.h"
#include "wire/linktype.h"

enum {
    LOG2_MULTICAST = 12, /* log2 of the default number of buffers: multicast traffic is low */
    /* time for the reader of a pipe after a signal: Wireshark waits for this process to end */
    PATIENCE_MS = 700,
};

struct live {
    const struct live_options *options;
    struct device_list list;
    struct device device;
    struct sniffer sniffer; /* one of these, depending on the mode and the sniffer */
    struct firmware firmware;
    struct multicast multicast;
    struct input_stream *stream; /* NULL: none */
    struct feed feed;
    char name[64]; /* of the device or the source */
    struct dropcount dropcount;
    struct handover *handover;
    struct outfile *outfile;
    struct recorder *recorder;
    struct packet_selection *selection; /* NULL: all packets */
    struct writer *writer;
    struct progress progress;
    char description[128], comment[700];
};

static struct record_format format_of(const struct live *l)
{
    uint16_t from = l->stream ? stream_linktype(l->stream) : 0;
    uint16_t linktype = from == LINKTYPE_ETHERNET ? 0 : from;
    bool ethernet = linktype == 0 && device_is_ethernet(&l->device);

    return (struct record_format){
        .pcapng = l->options->pcapng,
        .ethernet = ethernet,
        .linktype = linktype,
        .erf = linktype == 0 && (!ethernet || l->options->erf == 1),
    };
}

/* A capture waits for the link. In Wireshark, an empty window would not show why. */
static bool check_link(const struct live *l, GError **error)
{
    const char *state = ibv_port_state_str(l->device.port_attr.state);

    if (l->device.port_attr.state == IBV_PORT_ACTIVE)
        return true;
    if (l->options->fifo)
        return fail_with(error,
                         "%s port %u: port is not active (%s): start the capture when the link is "
                         "up, or run ipoib-capture without Wireshark, which waits for the link",
                         device_name(&l->device), l->device.port, state);
    say("%s port %u: port is not active (%s); no frames until it comes up", device_name(&l->device),
        l->device.port, state);
    return true;
}

static bool check_port(const struct live *l, GError **error)
{
    if (!device_is_ethernet(&l->device) && l->options->erf == 0)
        return fail_with(error,
                         "%s port %u: InfiniBand frames cannot be written without ERF (--erf 0); "
                         "'ipoib-capture convert' makes a file of link type 247 from it",
                         device_name(&l->device), l->device.port);
    if (device_is_ethernet(&l->device) && l->options->direction != DIRECTION_BOTH)
        say("%s port %u: -I has no effect on Ethernet: a frame does not show its direction",
            device_name(&l->device), l->device.port);
    if (device_is_ethernet(&l->device) && l->options->decap)
        say("%s port %u: --decap has no effect on Ethernet: it removes InfiniBand headers",
            device_name(&l->device), l->device.port);
    if (device_is_ethernet(&l->device) && l->options->only)
        say("%s port %u: --only has no effect on Ethernet: it selects by InfiniBand headers",
            device_name(&l->device), l->device.port);
    if (l->options->mode == MODE_SNIFFER && choice_has_sm(&l->device))
        say("%s port %u: a subnet manager runs on this port: a sniffer can disturb it; capture on another port",
            device_name(&l->device), l->device.port);
    return check_link(l, error);
}

static struct rx_plan rx_plan_of(const struct live *l)
{
    struct rx_plan plan = {
        .entries = 1u << l->options->log2_buffers,
        .entries_requested = l->options->buffers_requested,
        .entry_len = rxring_entry_len(&l->device, l->options->jumbo),
        .huge_pages = l->options->huge_pages,
    };

    if (l->options->mode == MODE_MULTICAST && !l->options->buffers_requested)
        plan.entries = 1u << LOG2_MULTICAST;
    return plan;
}

static bool create_multicast(struct live *l, GError **error)
{
    const struct multicast_plan plan = {.rx = rx_plan_of(l),
                                        .pkey = l->options->pkey,
                                        .broadcast_only = l->options->broadcast_only};
    bool good = multicast_create(&l->multicast, &l->device, &plan, error);

    l->feed = multicast_feed(&l->multicast);
    return good;
}

static bool create_firmware(struct live *l, GError **error)
{
    const struct firmware_plan plan = {
        .rx = rx_plan_of(l), .direction = l->options->direction, .library = l->options->mstflint};
    bool good = firmware_create(&l->firmware, &l->device, &plan, error);

    l->feed = firmware_feed(&l->firmware);
    return good;
}

static bool create_feed(struct live *l, GError **error)
{
    struct rx_plan plan;
    bool good;

    if (l->options->mode == MODE_MULTICAST)
        return create_multicast(l, error);
    if (choice_of_sniffer(&l->device, l->options->sniffer) == SNIFFER_FIRMWARE)
        return create_firmware(l, error);
    plan = rx_plan_of(l);
    good = sniffer_create(&l->sniffer, &l->device, &plan, error);
    l->feed = sniffer_feed(&l->sniffer);
    return good;
}

static bool is_ibdump(const struct live_options *options)
{
    return options->mode == MODE_SNIFFER && options->sniffer == SNIFFER_IBDUMP;
}

/* The device itself is only queried: for the directions of frames, its LID. */
static bool start_ibdump(struct live *l, struct ibdump *ibdump, GError **error)
{
    const struct live_options *o = l->options;
    const struct ibdump_plan plan = {.program = o->ibdump,
                                     .device = l->name,
                                     .port = o->port,
                                     .log2_buffers = o->log2_buffers,
                                     .buffers_requested = o->buffers_requested,
                                     .jumbo = o->jumbo,
                                     .direction = o->direction};

    if (!device_list_get(&l->list, error) ||
        !device_open(&l->device, &l->list, o->device, o->port, error) || !check_port(l, error))
        return false;
    snprintf(l->name, sizeof(l->name), "%s", device_name(&l->device));
    device_close(&l->device);
    return ibdump_start(ibdump, &plan, error);
}

/*
 * The frames of another program. What it writes is parsed without privileges; only to open the
 * output they are raised again.
 */
static bool open_stream(struct live *l, GError **error)
{
    struct ibdump ibdump = {.fd = -1};

    if (!l->options->read && !start_ibdump(l, &ibdump, error))
        return false;
    if (l->options->read)
        snprintf(l->name, sizeof(l->name), "%s", "stream");
    if (!privileges_drop(0, PRIVILEGE_FILES, error))
        return false;
    l->stream = l->options->read ? stream_open(l->options->read, error)
                                 : stream_open_ibdump(&ibdump, error);
    if (!l->stream)
        return false;
    l->device.port_attr.link_layer = stream_linktype(l->stream) == 0 ? IBV_LINK_LAYER_INFINIBAND
                                                                     : IBV_LINK_LAYER_ETHERNET;
    l->feed = stream_feed(l->stream, &l->device);
    return true;
}

static bool open_device(struct live *l, GError **error)
{
    if (l->options->read || is_ibdump(l->options))
        return open_stream(l, error);
    if (!device_list_get(&l->list, error) ||
        !device_open(&l->device, &l->list, l->options->device, l->options->port, error) ||
        !check_port(l, error))
        return false;
    snprintf(l->name, sizeof(l->name), "%s", device_name(&l->device));
    devevent_prepare(&l->device);
    return create_feed(l, error);
}

static bool make_memory(struct live *l, GError **error)
{
    uint64_t room = l->options->memory
                        ? l->options->memory + l->options->memory / 8 + UINT64_C(2) * BLOCK_ROOM
                        : l->options->hold;

    l->handover = handover_create(room, l->options->memory > 0);
    return l->handover ||
           fail_with(error, "cannot allocate %" PRIu64 " bytes: %s: use a smaller SIZE (%s)", room,
                     strerror(errno), l->options->memory ? "-M" : "-p");
}

static void add_to_comment(struct live *l, const char *text)
{
    size_t len = strlen(l->comment);

    snprintf(l->comment + len, sizeof(l->comment) - len, "%s%s", len ? "\n" : "", text);
}

/* Comment of the interface (pcapng): the mode, the selection, and the user's --comment. */
static void make_comment(struct live *l)
{
    char text[80];

    if (l->options->mode == MODE_MULTICAST)
        add_to_comment(l, MULTICAST_REMARK);
    if (l->selection) {
        selection_describe(l->selection, text, sizeof(text));
        add_to_comment(l, text);
    }
    if (l->options->comment)
        add_to_comment(l, l->options->comment);
}

/* Applies --only and -I. Without them, or on Ethernet, all packets are recorded. */
static void make_selection(struct live *l)
{
    const struct selection_plan plan = {.kinds = l->options->only,
                                        .direction = l->options->direction};

    if ((plan.kinds || plan.direction != DIRECTION_BOTH) && !device_is_ethernet(&l->device))
        l->selection = selection_create(&plan);
}

static void make_recorder(struct live *l)
{
    const struct live_options *o = l->options;
    struct recorder_plan plan = {
        .format = format_of(l),
        .snaplen = o->snaplen,
        .selective = l->selection != NULL,
        .interface = l->name,
        .description = l->description,
        .comment = l->comment,
        .file_bytes = o->ring_bytes,
        .file_packets = o->ring_packets,
        .file_time = o->ring_time,
        .memory = o->memory,
    };

    snprintf(l->description, sizeof(l->description), "%s port %u, %s, %s mode", l->name,
             l->device.port, device_is_ethernet(&l->device) ? "Ethernet" : "InfiniBand",
             l->feed.ops->mode);
    make_comment(l);
    if (!l->comment[0])
        plan.comment = NULL;
    l->recorder = recorder_create(&plan, l->handover);
}

/*
 * Drops the capabilities that are only needed to open devices. It keeps those to replace a failed
 * queue pair and to create more files of a series.
 */
static bool drop_privileges(const struct live_options *options, GError **error)
{
    unsigned reserve = PRIVILEGE_RAW | PRIVILEGE_LOCK | (options->series ? PRIVILEGE_FILES : 0u);

    return privileges_drop(0, reserve, error);
}

static void print_warning(GError *why)
{
    say_error(NULL, &why);
}

/* The file is created after the queue pair: an error before this leaves an old file as it was. */
static bool open_output(struct live *l, GError **error)
{
    const struct outfile_plan plan = {.path = l->options->file,
                                      .fd = l->options->fifo,
                                      .series = l->options->series,
                                      .keep = l->options->ring_files,
                                      .warn = print_warning};

    privileges_raise(PRIVILEGE_FILES);
    l->outfile = outfile_open(&plan, error);
    privileges_lower();
    return l->outfile != NULL;
}

static bool start_writer(struct live *l, GError **error)
{
    l->writer = writer_create(l->handover, l->outfile, format_of(l));
    if (!writer_start(l->writer, error))
        return false;
    if (!l->options->memory) /* -M: after the capture */
        writer_go(l->writer);
    return true;
}

/* Whether the output is a pipe, which may wait for its reader, or a device. */
static bool output_waits(const struct live_options *options)
{
    struct stat st;

    return options->fifo || strcmp(options->file, "-") == 0 ||
           (!options->series && stat(options->file, &st) == 0 && !S_ISREG(st.st_mode));
}

/*
 * Frames arrive from feed.start on, so the output is open by then: a FIFO may wait for its reader.
 * If only feed.start shows whether the device accepts the capture, a file is opened after it.
 */
static bool start_feed(struct live *l, GError **error)
{
    bool first = l->feed.ops->accepts_at_start && !output_waits(l->options);

    if (!l->feed.ops->prepare(&l->feed, error) || (!first && !open_output(l, error)))
        return false;
    if (!l->stream && !dropcount_open(&l->dropcount, &l->device) && !l->options->fifo)
        say("%s has no counter of lost frames (out_of_buffer): lost frames cannot be reported",
            device_name(&l->device));
    return l->feed.ops->start(&l->feed, error) && (!first || open_output(l, error));
}

/*
 * feed.start comes before the privileges are dropped: where libibverbs calls the kernel by write(),
 * ib_uverbs refuses a process whose credentials have changed since it opened the device
 * (ib_safe_file_access). The writer's thread comes after both, since it inherits the privileges.
 */
static bool prepare(struct live *l, GError **error)
{
    if (!open_device(l, error) || !make_memory(l, error))
        return false;
    make_selection(l);
    make_recorder(l);
    return start_feed(l, error) && (l->stream || drop_privileges(l->options, error)) &&
           start_writer(l, error);
}

/* Stops and frees the feed. This can print messages and wait for the keeper. */
static void end_feed(struct live *l)
{
    if (l->sniffer.device)
        sniffer_destroy(&l->sniffer);
    if (l->firmware.device)
        firmware_destroy(&l->firmware);
    if (l->multicast.device)
        multicast_destroy(&l->multicast);
    stream_close(l->stream);
    l->stream = NULL;
    l->sniffer.device = l->firmware.device = l->multicast.device = NULL;
}

/*
 * Whether the reader closed the pipe as its normal way to end a capture (extcap). Otherwise this is
 * a loss.
 */
static bool left_as_usual(const struct live *l)
{
    return l->options->fifo && outfile_reader_left(l->outfile);
}

/* Closes the output, if it is open. Returns false after a message if it is incomplete. */
static bool close_output(struct live *l)
{
    GError *error = NULL;
    bool usual = l->outfile && left_as_usual(l);
    bool good = outfile_close(l->outfile, usual ? NULL : &error) || usual;

    l->outfile = NULL;
    say_error(NULL, &error);
    return good;
}

static void take_down(struct live *l)
{
    if (l->writer && l->outfile) { /* preparation failed before the capture started */
        handover_end(l->handover);
        writer_go(l->writer);
        writer_finish(l->writer, 0);
    }
    close_output(l);
    writer_destroy(l->writer);
    recorder_destroy(l->recorder);
    selection_destroy(l->selection);
    handover_destroy(l->handover);
    dropcount_close(&l->dropcount);
    end_feed(l);
    device_close(&l->device);
    device_list_free(&l->list);
}

/* Prints the totals. Only written packets count as captured. */
static void report_sum(const struct live *l, uint64_t lost)
{
    char left_out[200] = "";

    if (l->selection)
        selection_summary(l->selection, left_out, sizeof(left_out));
    fprintf(stderr, "\nCaptured:  %8" PRIu64 " packets, %8" PRIu64 " bytes\n",
            writer_packets(l->writer), writer_bytes(l->writer));
    say("%" PRIu64 " packets, %" PRIu64 " octets, %" PRIu64 " drops%s", writer_packets(l->writer),
        writer_bytes(l->writer), lost, left_out);
}

/*
 * Writes the rest of the records and returns the exit status. With Wireshark, only losses are
 * printed, because it shows every message as an error.
 */
static int finish_capture(struct live *l, const struct receiver *r)
{
    struct recorder_counts counts = recorder_counts(r->recorder);
    struct ending end;
    uint64_t lost;
    bool good;

    progress_end(&l->progress, recorder_is_full(l->recorder));
    writer_go(l->writer);
    writer_finish(l->writer, stop_signal() ? PATIENCE_MS : -1);
    if (r->reader_left)
        outfile_note_left(l->outfile);
    end = (struct ending){.pipe = outfile_is_live(l->outfile),
                          .left = left_as_usual(l),
                          .stalled = outfile_reader_stalled(l->outfile)};
    good = close_output(l);
    end_feed(l); /* before the last line of output, since this can print messages */
    losses_report(r, counts, writer_lost(l->writer), &end);
    lost = counts.device + counts.own + (end.left ? 0 : writer_lost(l->writer));
    if (!l->options->fifo || lost > 0)
        report_sum(l, lost);
    return good && lost == 0 && r->restarts == 0 && !r->failed && !l->feed.has_failed ? 0 : 1;
}

static struct receive_plan receive_plan(const struct live_options *options)
{
    return (struct receive_plan){.decap = options->decap,
                                 .with_direction = options->pcapng,
                                 .in_memory = options->memory > 0,
                                 .count = options->count,
                                 .duration = options->duration};
}

/* Prints why there is no capture, and returns the exit status. A signal can end the wait for a
 * FIFO. */
static int give_up(GError *error)
{
    if (!stop_signal()) {
        say_error(NULL, &error);
        return 1;
    }
    g_error_free(error);
    say("interrupted: nothing was captured");
    return 128 + stop_signal();
}

int live_run(const struct live_options *options)
{
    struct live l = {.options = options,
                     .progress = {.silent = options->silent, .memory = options->memory},
                     .dropcount = {.fd = -1}};
    struct receiver r = {.plan = receive_plan(options)};
    GError *error = NULL;
    int status = 1;

    if (!stop_catch_signals()) {
        say("signals cannot be caught: %s", strerror(errno));
        return 1;
    }
    if (prepare(&l, &error)) {
        r.device = &l.device;
        r.feed = &l.feed;
        r.dropcount = &l.dropcount;
        r.recorder = l.recorder;
        r.selection = l.selection;
        r.progress = &l.progress;
        r.live = outfile_is_live(l.outfile);
        r.reader = outfile_pipe(l.outfile);
        progress_begin(&l.progress, l.name, &l.device, options->file, l.feed.entries);
        receive(&r);
        say_error(NULL, &r.error);
        status = finish_capture(&l, &r);
    }
    if (error)
        status = give_up(error);
    take_down(&l);
    return status;
}

int live_main(int argc, char **argv)
{
    struct live_options options;
    int status = live_parse_options(argc, argv, &options);

    if (status >= 0)
        return status;
    return options.list ? list_devices(options.device, options.mstflint) : live_run(&options);
}
