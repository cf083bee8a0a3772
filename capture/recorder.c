/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From frames to the records of a capture file. See recorder.h. */
#include "capture/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "pcapio/erf.h"
#include "cli/say.h"
#include "pcapio/octets.h"
#include "pcapio/packet.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapng_format.h"

enum {
    ERF_FLAG_SECOND = 0x01, /* capture interface 1 */
    HEADER_ROOM = 1024, /* octets of a file's header and of anything else but packets, at most */
    RECORD_ROOM = PCAPNG_EPB_HEAD_LEN + ERF_HEADER_LEN + ERF_ETHERNET_LEN + PCAPNG_EPB_TAIL_MAX,
};
#define SECOND UINT64_C(1000000000)

/* A time in the units of the formats. */
struct stamp {
    uint64_t time, erf;
    uint32_t sec, usec;
};

/* The headers of a record of a classic pcap: those of many frames are the same. */
struct record_head {
    uint8_t bytes[PCAPFILE_RECORD_LEN + ERF_HEADER_LEN + ERF_ETHERNET_LEN];
    uint32_t len;
    uint32_t caplen, wirelen; /* of the frame; HEAD_NONE: there is no header yet */
    bool decapsulated;
};
#define HEAD_NONE UINT32_MAX

struct recorder {
    struct recorder_plan plan;
    struct handover *h;
    /*
     * The times below are the host's steady clock's, as of the first tick that sees what they are
     * of; 0: none has.
     */
    struct block *block; /* being filled, or NULL */
    uint64_t block_time; /* since when its first record waits */
    struct recorder_counts counts;
    uint64_t pending; /* lost since the record before */
    const char *note; /* for the next packet */
    uint64_t memory;  /* octets of all records */
    /* of the present file; begin: when its first packet came */
    uint64_t file_octets, file_packets, file_begin;
    uint64_t told;           /* when the counts were written */
    struct stamp stamp;      /* the last frame's: a batch of frames has one time */
    struct record_head head; /* the last record's */
    bool limited;            /* files end before the capture does */
    bool begins_file;        /* the next block begins a file */
};

/* Inline, as some below: done for each frame. */
static inline uint32_t erf_len(struct record_format format)
{
    if (!format.erf)
        return 0;
    return format.ethernet ? ERF_HEADER_LEN + ERF_ETHERNET_LEN : ERF_HEADER_LEN;
}

static uint16_t linktype(struct record_format format)
{
    return format.erf ? LINKTYPE_ERF : LINKTYPE_ETHERNET;
}

static uint32_t get_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/*
 * One record at AT with LEFT octets: its length, 0 if it is cut; the packet's octets, or -1 if it
 * is none.
 */
static size_t record_at(struct record_format format, const uint8_t *at, size_t left,
                        int64_t *packet)
{
    size_t head = format.pcapng ? PCAPNG_EPB_HEAD_LEN : PCAPFILE_RECORD_LEN, len;

    if (left < head)
        return 0;
    len = format.pcapng ? get_le32(at + 4) : head + get_le32(at + 8);
    if (format.pcapng && get_le32(at) != BLOCK_EPB)
        *packet = -1;
    else
        *packet = (int64_t)get_le32(format.pcapng ? at + 20 : at + 8) - erf_len(format);
    return len <= left ? len : 0;
}

struct record_count record_count(struct record_format format, const uint8_t *data, size_t len,
                                 bool file_header)
{
    struct record_count count = {0};
    size_t record;
    int64_t packet;

    if (file_header && !format.pcapng)
        count.len = len < PCAPFILE_HEADER_LEN ? 0 : PCAPFILE_HEADER_LEN;
    if (file_header && !format.pcapng && count.len == 0)
        return count;
    while ((record = record_at(format, data + count.len, len - count.len, &packet)) > 0) {
        count.len += record;
        count.packets += packet >= 0;
        count.octets += packet >= 0 ? (uint64_t)packet : 0;
    }
    return count;
}

static uint32_t file_snaplen(const struct recorder *r)
{
    if (r->plan.snaplen == 0 || r->plan.snaplen > ERF_MAX_LEN - erf_len(r->plan.format))
        return ERF_MAX_LEN; /* ibdump's */
    return r->plan.snaplen + erf_len(r->plan.format);
}

static size_t put_file_header(const struct recorder *r, uint8_t *out)
{
    const struct pcapng_idb idb = {
        .linktype = linktype(r->plan.format),
        .snaplen = file_snaplen(r),
        .name = r->plan.interface,
        .description = r->plan.description,
        .comment = r->plan.comment,
    };
    size_t len;

    if (!r->plan.format.pcapng) {
        pcapfile_put_file_header(out, false, linktype(r->plan.format), file_snaplen(r));
        return PCAPFILE_HEADER_LEN;
    }
    len = pcapng_put_shb(out, HEADER_ROOM, "ipoib-capture " IPOIB_VERSION);
    return len + pcapng_put_interface(out + len, HEADER_ROOM - len, &idb);
}

static void give_block(struct recorder *r)
{
    if (r->block)
        handover_give(r->h, r->block);
    r->block = NULL;
}

static void begin_file(struct recorder *r)
{
    r->block->new_file = true;
    r->block->len = (uint32_t)put_file_header(r, r->block->data);
    r->file_octets = r->block->len;
    r->file_packets = r->file_begin = 0;
    r->begins_file = false;
}

/* An empty block, or false. */
static bool take_block(struct recorder *r)
{
    give_block(r);
    r->block = handover_take(r->h);
    if (!r->block)
        return false;
    r->block_time = 0;
    if (r->begins_file)
        begin_file(r);
    return true;
}

/* A block with ROOM octets left, or false. */
static inline bool make_room(struct recorder *r, uint32_t room)
{
    return (r->block && !r->begins_file && r->block->len + room <= BLOCK_ROOM) || take_block(r);
}

static inline void grew(struct recorder *r, uint32_t len)
{
    r->block->len += len;
    r->file_octets += len;
    r->memory += len;
}

static uint32_t counts_len(const struct recorder *r)
{
    return r->plan.selective ? PCAPNG_ISB_FILTERED_LEN : PCAPNG_ISB_LEN;
}

/* TIME: of day. */
static void put_counts(struct recorder *r, uint64_t time)
{
    struct pcapng_isb isb = {.time = time,
                             .filtered = r->plan.selective,
                             .dropped = r->counts.device,
                             .lost = r->counts.own};

    if (!r->plan.format.pcapng || r->begins_file || !make_room(r, counts_len(r)))
        return;
    isb.accepted = r->counts.packets + r->counts.own;
    isb.received = isb.accepted + r->counts.left_out + r->counts.device;
    grew(r, (uint32_t)pcapng_put_isb(r->block->data + r->block->len, &isb));
}

/* The next record begins a new file. */
static void end_file(struct recorder *r, uint64_t time)
{
    put_counts(r, time);
    r->told = 0;
    r->begins_file = true;
}

struct recorder *recorder_create(const struct recorder_plan *plan, struct handover *h)
{
    struct recorder *r = calloc(1, sizeof(*r));

    if (!r) {
        say("out of memory");
        return NULL;
    }
    r->plan = *plan;
    r->h = h;
    r->limited = plan->file_octets || plan->file_packets || plan->file_time;
    r->begins_file = true;
    r->head.caplen = HEAD_NONE;
    make_room(r, 0);
    return r;
}

void recorder_destroy(struct recorder *r)
{
    free(r);
}

static void set_stamp(struct recorder *r, uint64_t time)
{
    uint32_t sec = (uint32_t)(time / SECOND), ns = (uint32_t)(time % SECOND);

    r->stamp = (struct stamp){
        .time = time, .erf = erf_time(sec, ns), .sec = sec, .usec = ns / 1000};
    r->head.caplen = HEAD_NONE;
}

/* The ERF header, which has the octets behind it counted in. Returns its length. */
static inline uint32_t put_erf(const struct recorder *r, uint8_t *out, const struct frame *f,
                               uint32_t caplen)
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

/* The frame in its ERF record, if it has one. Returns the octets. */
static inline uint32_t put_frame(const struct recorder *r, uint8_t *out, const struct frame *f,
                                 uint32_t caplen)
{
    uint32_t head = r->plan.format.erf ? put_erf(r, out, f, caplen) : 0;

    memcpy(out + head, f->octets, caplen);
    return head + caplen;
}

static void make_head(struct recorder *r, const struct frame *f, uint32_t caplen)
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

static inline uint32_t put_pcap(struct recorder *r, uint8_t *out, const struct frame *f,
                                uint32_t caplen)
{
    const struct record_head *head = &r->head;

    if (caplen != head->caplen || f->wirelen != head->wirelen ||
        f->decapsulated != head->decapsulated)
        make_head(r, f, caplen);
    memcpy(out, head->bytes, sizeof(head->bytes)); /* as a whole: the frame goes over the rest */
    memcpy(out + head->len, f->octets, caplen);
    return head->len + caplen;
}

static uint32_t put_pcapng(struct recorder *r, uint8_t *out, const struct frame *f, uint32_t caplen)
{
    const struct pcapng_epb epb = {
        .time = f->time,
        .caplen = caplen + erf_len(r->plan.format),
        .wirelen = f->wirelen + erf_len(r->plan.format),
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

/* Whether a record of LEN octets fits into the file, and the counts behind it that end it. */
static bool fits_file(const struct recorder *r, uint64_t len)
{
    uint64_t end = r->plan.format.pcapng ? counts_len(r) : 0;

    return !r->plan.file_octets || r->file_octets + len + end <= r->plan.file_octets;
}

/* Whether a record of LEN octets belongs into the next file of the series. */
static bool file_is_full(const struct recorder *r, uint64_t len)
{
    return r->file_packets > 0 && (!fits_file(r, len) || (r->plan.file_packets &&
                                                          r->file_packets >= r->plan.file_packets));
}

bool recorder_put(struct recorder *r, const struct frame *f)
{
    uint32_t caplen = r->plan.snaplen && r->plan.snaplen < f->len ? r->plan.snaplen : f->len, len;
    uint8_t *out;

    if (r->stamp.time != f->time)
        set_stamp(r, f->time);
    if (r->limited && file_is_full(r, caplen + RECORD_ROOM))
        end_file(r, f->time);
    if (!make_room(r, caplen + RECORD_ROOM)) {
        r->counts.own++;
        r->pending++;
        return false;
    }
    out = r->block->data + r->block->len;
    len = r->plan.format.pcapng ? put_pcapng(r, out, f, caplen) : put_pcap(r, out, f, caplen);
    r->file_packets++;
    grew(r, len);
    r->block->packets++;
    r->block->octets += caplen;
    r->counts.packets++;
    r->counts.octets += caplen;
    return true;
}

void recorder_left_out(struct recorder *r)
{
    r->counts.left_out++;
}

void recorder_lost(struct recorder *r, uint64_t count)
{
    r->counts.device += count;
    r->pending += count;
}

void recorder_note(struct recorder *r, const char *text)
{
    r->note = text;
}

/* What has come since the tick before came now. */
static void see_what_came(struct recorder *r, uint64_t now)
{
    if (r->block_time == 0 && r->block && r->block->len > 0)
        r->block_time = now;
    if (r->file_begin == 0 && r->file_packets > 0)
        r->file_begin = now;
    if (r->told == 0)
        r->told = now;
}

static bool file_time_is_over(const struct recorder *r, uint64_t now)
{
    return r->plan.file_time && r->file_begin && now >= r->file_begin + r->plan.file_time;
}

/*
 * The counts that do not end the file. A limit of octets holds for them too: they leave room for
 * those that do, and in a file without a packet, which nothing ends, there are none.
 */
static void put_counts_between(struct recorder *r, uint64_t time)
{
    if (fits_file(r, counts_len(r)) && (r->file_packets > 0 || !r->plan.file_octets))
        put_counts(r, time);
}

void recorder_tick(struct recorder *r, struct host_time now, uint64_t patience)
{
    see_what_came(r, now.steady);
    if (file_time_is_over(r, now.steady) && !r->begins_file)
        end_file(r, now.day);
    if (r->told && now.steady >= r->told + SECOND) {
        put_counts_between(r, now.day);
        r->told = now.steady;
    }
    if (r->plan.memory)
        return;
    /*
     * The header of the file is there at once: a reader may wait for it. A writer that is behind
     * gets whole blocks: many small ones would use them all up.
     */
    if (r->block &&
        (r->begins_file || r->block->new_file ||
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
    put_counts(r, time);
    give_block(r);
    handover_end(r->h);
}

bool recorder_is_full(const struct recorder *r)
{
    return r->plan.memory && r->memory >= r->plan.memory;
}

struct recorder_counts recorder_counts(const struct recorder *r)
{
    return r->counts;
}
