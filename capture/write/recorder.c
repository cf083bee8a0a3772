/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts frames to records. See recorder.h. */
#include "capture/write/recorder.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/erf.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapng.h"

enum {
    ERF_FLAG_SECOND = 0x01, /* capture interface 1 */
    HEADER_ROOM = 1024, /* bytes: maximum of a file header and of any record that is not a packet */
    RECORD_ROOM = PCAPNG_EPB_HEAD_LEN + ERF_HEADER_LEN + ERF_ETHERNET_LEN + PCAPNG_EPB_TAIL_MAX,
};
#define SECOND UINT64_C(1000000000)

/* A timestamp in the units of the formats. */
struct stamp {
    uint64_t time, erf;
    uint32_t sec, usec;
};

/* Headers of a classic pcap record, reused for the next frame if they are the same. */
struct record_head {
    uint8_t bytes[PCAPFILE_RECORD_LEN + ERF_HEADER_LEN + ERF_ETHERNET_LEN];
    uint32_t len;
    uint32_t caplen, wirelen; /* of the frame; caplen HEAD_NONE: no header yet */
    bool decapsulated;
};
#define HEAD_NONE UINT32_MAX

/* What was recorded. */
struct amount {
    uint64_t len;            /* bytes, with all headers */
    uint64_t packets, bytes; /* bytes: of the frames */
};

struct recorder {
    struct recorder_plan plan;
    struct handover *h;
    struct block *block;   /* the block being filled, or NULL */
    uint32_t limit;        /* bytes that it may contain; 0: the next record needs another block */
    struct amount now;     /* contents of the block; the only counts that change for each frame */
    struct amount given;   /* contents of all blocks before it */
    struct amount begin;   /* total when the current file began */
    uint64_t file_headers; /* bytes of the headers of all files */
    struct recorder_counts losses; /* left_out, device and own only */
    uint64_t pending;              /* frames lost since the previous record */
    const char *note;              /* comment for the next packet */
    /*
     * Times are CLOCK_MONOTONIC in ns, of the first recorder_tick after the event; 0: no tick
     * since.
     */
    uint64_t block_time;     /* time when the block's first record started to wait */
    uint64_t file_begin;     /* time of the first packet of the file */
    uint64_t reported;       /* time when the counts were last written */
    struct stamp stamp;      /* of the last frame: frames of one batch often have the same time */
    struct record_head head; /* of the last record */
    uint32_t snaplen;        /* bytes kept of each frame, at most */
    bool limited;            /* the plan limits the size of files */
    bool begins_file;        /* the next block starts a file */
};

static struct amount total(const struct recorder *r)
{
    return (struct amount){.len = r->given.len + r->now.len,
                           .packets = r->given.packets + r->now.packets,
                           .bytes = r->given.bytes + r->now.bytes};
}

static uint64_t file_len(const struct recorder *r)
{
    return total(r).len - r->begin.len;
}

static uint64_t file_packets(const struct recorder *r)
{
    return total(r).packets - r->begin.packets;
}

static uint32_t file_snaplen(const struct recorder *r)
{
    if (r->plan.snaplen == 0 || r->plan.snaplen > ERF_MAX_LEN - record_erf_len(r->plan.format))
        return ERF_MAX_LEN; /* as in ibdump */
    return r->plan.snaplen + record_erf_len(r->plan.format);
}

static uint32_t put_file_header(const struct recorder *r, uint8_t *out)
{
    const struct record_file file = {
        .format = r->plan.format,
        .snaplen = file_snaplen(r),
        .interface = r->plan.interface,
        .description = r->plan.description,
        .comment = r->plan.comment,
    };

    return record_put_file(out, HEADER_ROOM, &file);
}

static void give_block(struct recorder *r)
{
    if (!r->block)
        return;
    r->block->len = (uint32_t)r->now.len;
    r->block->packets = (uint32_t)r->now.packets;
    r->block->bytes = r->now.bytes;
    handover_give(r->h, r->block);
    r->given = total(r);
    r->now = (struct amount){.len = 0};
    r->block = NULL;
    r->limit = 0;
}

static void start_file(struct recorder *r)
{
    uint32_t len = put_file_header(r, r->block->data + r->now.len);

    r->begin = total(r);
    r->now.len += len;
    r->file_headers += len;
    r->file_begin = 0;
    r->begins_file = false;
}

/* Starts a file within the block if it has room for ROOM bytes: short files share blocks. */
static bool share_block(struct recorder *r, uint32_t room)
{
    struct block *b = r->block;

    if (!b || !r->begins_file || b->files == BLOCK_FILES ||
        r->now.len + HEADER_ROOM + room > BLOCK_ROOM)
        return false;
    b->before[b->files++] = (struct block_part){
        .len = (uint32_t)r->now.len, .packets = (uint32_t)r->now.packets, .bytes = r->now.bytes};
    start_file(r);
    r->limit = BLOCK_ROOM;
    return true;
}

/* Takes an empty block, if the present one cannot be used. Returns false if there is none. */
static bool take_block(struct recorder *r, uint32_t room)
{
    if (share_block(r, room))
        return true;
    give_block(r);
    r->block = handover_take(r->h);
    if (!r->block)
        return false;
    r->block_time = 0;
    r->block->new_file = r->begins_file;
    if (r->begins_file)
        start_file(r);
    r->limit = BLOCK_ROOM;
    return true;
}

/* Makes sure that the block has ROOM bytes left. Returns false if there is no block. */
static inline bool reserve_room(struct recorder *r, uint32_t room)
{
    return r->now.len + room <= r->limit || take_block(r, room);
}

static uint32_t counts_len(const struct recorder *r)
{
    return r->plan.selective ? PCAPNG_ISB_FILTERED_LEN : PCAPNG_ISB_LEN;
}

/* Writes the counts (pcapng Interface Statistics Block). TIME: ns since 1970. */
static void put_statistics(struct recorder *r, uint64_t time)
{
    struct pcapng_isb isb = {.time = time,
                             .filtered = r->plan.selective,
                             .dropped = r->losses.device,
                             .lost = r->losses.own};

    if (!r->plan.format.pcapng || r->begins_file || !reserve_room(r, counts_len(r)))
        return;
    isb.accepted = total(r).packets + r->losses.own;
    isb.received = isb.accepted + r->losses.left_out + r->losses.device;
    r->now.len += pcapng_put_isb(r->block->data + r->now.len, &isb);
}

/* Ends the file: the next record starts a new one. */
static void end_file(struct recorder *r, uint64_t time)
{
    put_statistics(r, time);
    r->reported = 0;
    r->begins_file = true;
    r->limit = 0;
}

struct recorder *recorder_create(const struct recorder_plan *plan, struct handover *h)
{
    struct recorder *r = g_new0(struct recorder, 1);

    r->plan = *plan;
    r->h = h;
    r->snaplen = plan->snaplen ? plan->snaplen : UINT32_MAX;
    r->limited = plan->file_bytes || plan->file_packets || plan->file_time;
    r->begins_file = true;
    r->head.caplen = HEAD_NONE;
    take_block(r, 0);
    return r;
}

void recorder_destroy(struct recorder *r)
{
    g_free(r);
}

__attribute__((noinline)) static void set_stamp(struct recorder *r, uint64_t time)
{
    uint32_t sec = (uint32_t)(time / SECOND), ns = (uint32_t)(time % SECOND);

    r->stamp = (struct stamp){
        .time = time, .erf = erf_time(sec, ns), .sec = sec, .usec = ns / 1000};
    r->head.caplen = HEAD_NONE;
}

/* Writes the ERF header; its record length includes CAPLEN. Returns the bytes written. */
static inline uint32_t put_erf(const struct recorder *r, uint8_t *out,
                               const struct recorded_frame *f, uint32_t caplen)
{
    uint32_t more = r->plan.format.ethernet ? ERF_ETHERNET_LEN : 0;

    erf_put_header(out, r->stamp.erf, caplen + more, f->wirelen);
    if (f->decapsulated)
        out[ERF_OFF_FLAGS] |= ERF_FLAG_SECOND;
    if (more) {
        out[ERF_OFF_TYPE] = ERF_TYPE_ETHERNET;
        memset(out + ERF_HEADER_LEN, 0, ERF_ETHERNET_LEN);
    }
    return ERF_HEADER_LEN + more;
}

/* Writes the frame, in an ERF record if the format says so. Returns the bytes written. */
static inline uint32_t put_frame(const struct recorder *r, uint8_t *out,
                                 const struct recorded_frame *f, uint32_t caplen)
{
    uint32_t head = r->plan.format.erf ? put_erf(r, out, f, caplen) : 0;

    memcpy(out + head, f->bytes, caplen);
    return head + caplen;
}

static void make_head(struct recorder *r, const struct recorded_frame *f, uint32_t caplen)
{
    uint8_t *erf = r->head.bytes + PCAPFILE_RECORD_LEN;
    uint32_t len = r->plan.format.erf ? put_erf(r, erf, f, caplen) : 0;

    pcapfile_put_record_header(r->head.bytes, r->stamp.sec, r->stamp.usec, len + caplen,
                               len + f->wirelen);
    r->head.len = PCAPFILE_RECORD_LEN + len;
    r->head.caplen = caplen;
    r->head.wirelen = f->wirelen;
    r->head.decapsulated = f->decapsulated;
}

static inline uint32_t put_pcap(struct recorder *r, uint8_t *out, const struct recorded_frame *f,
                                uint32_t caplen)
{
    const struct record_head *head = &r->head;

    if (caplen != head->caplen || f->wirelen != head->wirelen ||
        f->decapsulated != head->decapsulated)
        make_head(r, f, caplen);
    memcpy(out, head->bytes, sizeof(head->bytes)); /* constant size; frame overwrites the rest */
    memcpy(out + head->len, f->bytes, caplen);
    return head->len + caplen;
}

/* Not inline: its variables would cost the other format instructions in each frame. */
__attribute__((noinline)) static uint32_t
put_pcapng(struct recorder *r, uint8_t *out, const struct recorded_frame *f, uint32_t caplen)
{
    const struct pcapng_epb epb = {
        .time = f->time,
        .caplen = caplen + record_erf_len(r->plan.format),
        .wirelen = f->wirelen + record_erf_len(r->plan.format),
        .dropped = r->pending,
        .flags = f->direction,
        .comment = r->note,
    };
    uint32_t len = put_frame(r, out + PCAPNG_EPB_HEAD_LEN, f, caplen);

    pcapng_put_epb_head(out, &epb);
    len += PCAPNG_EPB_HEAD_LEN;
    r->pending = 0;
    r->note = NULL;
    return len + (uint32_t)pcapng_put_epb_tail(out + len, &epb);
}

/* Whether a record of LEN bytes fits into the file together with the final counts. */
static bool fits_file(const struct recorder *r, uint64_t len)
{
    uint64_t end = r->plan.format.pcapng ? counts_len(r) : 0;

    return !r->plan.file_bytes || file_len(r) + len + end <= r->plan.file_bytes;
}

/* Whether a record of LEN bytes belongs into the next file of the series. */
static bool file_is_full(const struct recorder *r, uint64_t len)
{
    uint64_t packets = file_packets(r);

    return packets > 0 &&
           (!fits_file(r, len) || (r->plan.file_packets && packets >= r->plan.file_packets));
}

bool recorder_put(struct recorder *r, const struct recorded_frame *f)
{
    uint32_t caplen = r->snaplen < f->len ? r->snaplen : f->len;
    uint8_t *out;

    if (r->stamp.time != f->time)
        set_stamp(r, f->time);
    if (r->limited && file_is_full(r, caplen + RECORD_ROOM))
        end_file(r, f->time);
    if (!reserve_room(r, caplen + RECORD_ROOM)) {
        r->losses.own++;
        r->pending++;
        return false;
    }
    out = r->block->data + r->now.len;
    r->now.len += r->plan.format.pcapng ? put_pcapng(r, out, f, caplen)
                                        : put_pcap(r, out, f, caplen);
    r->now.packets++;
    r->now.bytes += caplen;
    return true;
}

void recorder_left_out(struct recorder *r)
{
    r->losses.left_out++;
}

void recorder_lost(struct recorder *r, uint64_t count)
{
    r->losses.device += count;
    r->pending += count;
}

void recorder_note(struct recorder *r, const char *text)
{
    r->note = text;
}

/* Sets the times of events since the previous tick to NOW. */
static void see_what_came(struct recorder *r, uint64_t now)
{
    if (r->block_time == 0 && r->now.len > 0)
        r->block_time = now;
    if (r->file_begin == 0 && file_packets(r) > 0)
        r->file_begin = now;
    if (r->reported == 0)
        r->reported = now;
}

static bool file_time_is_over(const struct recorder *r, uint64_t now)
{
    return r->plan.file_time && r->file_begin && now >= r->file_begin + r->plan.file_time;
}

/*
 * Writes counts in the middle of a file. They obey the size limit too: they leave room for the
 * final counts, and a size-limited file without a packet gets none, because only packets end a
 * file.
 */
static void put_counts_between(struct recorder *r, uint64_t time)
{
    if (fits_file(r, counts_len(r)) && (file_packets(r) > 0 || !r->plan.file_bytes))
        put_statistics(r, time);
}

void recorder_tick(struct recorder *r, struct host_time now, uint64_t patience)
{
    see_what_came(r, now.steady);
    if (file_time_is_over(r, now.steady) && !r->begins_file)
        end_file(r, now.day);
    if (r->reported && now.steady >= r->reported + SECOND) {
        put_counts_between(r, now.day);
        r->reported = now.steady;
    }
    if (r->plan.memory)
        return;
    /*
     * A file header is passed on at once, since a reader may wait for it. If the writer is behind,
     * only full blocks are passed on: many small ones would use up all blocks.
     */
    if (r->block &&
        (r->begins_file || r->block->new_file || r->block->files > 0 ||
         (r->block_time && now.steady >= r->block_time + patience && handover_is_empty(r->h))))
        give_block(r);
    handover_wake(r->h);
}

bool recorder_is_behind(const struct recorder *r)
{
    return handover_is_behind(r->h);
}

void recorder_end(struct recorder *r, uint64_t time)
{
    put_statistics(r, time);
    give_block(r);
    handover_end(r->h);
}

bool recorder_is_full(const struct recorder *r)
{
    return r->plan.memory && total(r).len - r->file_headers >= r->plan.memory;
}

struct recorder_counts recorder_counts(const struct recorder *r)
{
    struct recorder_counts counts = r->losses;

    counts.packets = total(r).packets;
    counts.bytes = total(r).bytes;
    return counts;
}
