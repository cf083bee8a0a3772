/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live capture: creates everything it needs, runs, and frees it. See live.h. */
#include "capture/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/list.h"
#include "capture/losses.h"
#include "cli/fail.h"
#include "cli/say.h"
#include "cli/privileges.h"
#include "capture/receive/receive.h"
#include "capture/receive/selection.h"
#include "capture/live_source.h"
#include "capture/write/stop.h"
#include "capture/write/writer.h"
#include "wire/linktype.h"

enum {
    /* time for the reader of a pipe after a signal: Wireshark waits for this process to end */
    PATIENCE_MS = 700,
};

struct live {
    const struct live_options *options;
    struct live_source source;
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
    uint32_t from = l->source.stream ? stream_linktype(l->source.stream) : LINKTYPE_INFINIBAND;
    bool other = from != LINKTYPE_INFINIBAND && from != LINKTYPE_ETHERNET;
    bool ethernet = !other && device_is_ethernet(&l->source.device);

    return (struct record_format){
        .pcapng = l->options->pcapng,
        .ethernet = ethernet,
        .other = other,
        .linktype = (uint16_t)from, /* a stream has no greater one */
        .erf = !other && (!ethernet || l->options->erf == 1),
    };
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

    if ((plan.kinds || plan.direction != DIRECTION_BOTH) && !device_is_ethernet(&l->source.device))
        l->selection = selection_create(&plan);
}

static void make_recorder(struct live *l)
{
    const struct live_options *o = l->options;
    struct recorder_plan plan = {
        .format = format_of(l),
        .snaplen = o->snaplen,
        .selective = l->selection != NULL,
        .interface = l->source.name,
        .description = l->description,
        .comment = l->comment,
        .file_bytes = o->ring_bytes,
        .file_packets = o->ring_packets,
        .file_time = o->ring_time,
        .memory = o->memory,
    };

    snprintf(l->description, sizeof(l->description), "%s port %u, %s, %s mode", l->source.name,
             l->source.device.port,
             device_is_ethernet(&l->source.device) ? "Ethernet" : "InfiniBand",
             l->source.feed.ops->mode);
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
    bool first = l->source.feed.ops->accepts_at_start && !output_waits(l->options);

    if (!l->source.feed.ops->prepare(&l->source.feed, error) || (!first && !open_output(l, error)))
        return false;
    if (!l->source.stream && !dropcount_open(&l->dropcount, &l->source.device) && !l->options->fifo)
        say("%s has no counter of lost frames (out_of_buffer): lost frames cannot be reported",
            device_name(&l->source.device));
    return l->source.feed.ops->start(&l->source.feed, error) && (!first || open_output(l, error));
}

/*
 * feed.start comes before the privileges are dropped: where libibverbs calls the kernel by write(),
 * ib_uverbs refuses a process whose credentials have changed since it opened the device
 * (ib_safe_file_access). The writer's thread comes after both, since it inherits the privileges.
 */
static bool prepare(struct live *l, GError **error)
{
    if (!live_source_open(&l->source, l->options, error) || !make_memory(l, error))
        return false;
    make_selection(l);
    make_recorder(l);
    return start_feed(l, error) && (l->source.stream || drop_privileges(l->options, error)) &&
           start_writer(l, error);
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
    live_source_close(&l->source);
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
    live_source_end_feed(
        &l->source); /* before the last line of output, since this can print messages */
    losses_report(r, counts, writer_lost(l->writer), &end);
    lost = counts.device + counts.own + (end.left ? 0 : writer_lost(l->writer));
    if (!l->options->fifo || lost > 0)
        report_sum(l, lost);
    return good && lost == 0 && r->restarts == 0 && !r->failed && !l->source.feed.has_failed ? 0
                                                                                             : 1;
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
        r.device = &l.source.device;
        r.feed = &l.source.feed;
        r.dropcount = &l.dropcount;
        r.recorder = l.recorder;
        r.selection = l.selection;
        r.progress = &l.progress;
        r.live = outfile_is_live(l.outfile);
        r.reader = outfile_pipe(l.outfile);
        progress_begin(&l.progress, l.source.name, &l.source.device, options->file,
                       l.source.feed.entries);
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
