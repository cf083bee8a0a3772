/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes capture files. See output.h. */
#include "pcapio/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/access.h"
#include "cli/create.h"
#include "pcapio/error.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapng.h"
#include "pcapio/pcapngcopy.h"
#include "pcapio/translate.h"
#include "wire/nanoseconds.h"

#define APPLICATION "ipoib-capture " IPOIB_VERSION

enum { BUFFER_LEN = 256 * 1024, BLOCK_ROOM = 1024 }; /* bytes */

/* The end of a header, packet or other block in the output. */
struct record_end {
    uint64_t at; /* bytes since the start of the output */
    uint64_t octets;
    bool is_packet;
};

struct output {
    FILE *file;
    int fd; /* of FILE */
    struct output_format format;
    bool live;                   /* flush each packet */
    off_t begin;                 /* of the output in a regular file; -1: it cannot be cut off */
    uint64_t put;                /* bytes, also those in the buffer of FILE */
    uint64_t kept;               /* bytes of the records before PENDING */
    struct output_counts counts; /* of the packets before PENDING, which are in the file */
    GArray *pending;             /* struct record_end: those that may be in the buffer */
    GError *error;               /* the first error of writing; NULL: none */
    /* of a described pcapng file: number of sections; of interfaces, before this section and all */
    uint32_t sections, first_interface, interfaces;
    GByteArray *block; /* the block that is built; reused */
};

static bool fail_output(struct output *out)
{
    if (!out->error)
        g_set_error(&out->error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM,
                    "cannot be written, so it is incomplete: %s", strerror(errno));
    return false;
}

/* The first N pending records are in the file. */
static void keep_records(struct output *out, guint n)
{
    for (guint i = 0; i < n; i++) {
        const struct record_end *end = &g_array_index(out->pending, struct record_end, i);

        out->kept = end->at;
        out->counts.packets += end->is_packet;
        out->counts.octets += end->octets;
    }
    g_array_remove_range(out->pending, 0, n);
}

static bool flush(struct output *out)
{
    if (out->error || fflush(out->file) != 0)
        return fail_output(out);
    keep_records(out, out->pending->len);
    return true;
}

/* After an error: keeps the records that are whole in the file, and cuts off the rest. */
static void cut_off(struct output *out)
{
    off_t end = out->begin < 0 ? -1 : lseek(out->fd, 0, SEEK_CUR);
    struct stat st;
    guint n = 0;

    __fpurge(out->file);
    if (end < out->begin || end < 0)
        return;
    while (n < out->pending->len &&
           g_array_index(out->pending, struct record_end, n).at <= (uint64_t)(end - out->begin))
        n++;
    keep_records(out, n);
    /* not if another program appends to the file; otherwise readers report an incomplete packet */
    if (fstat(out->fd, &st) != 0 || st.st_size != end ||
        ftruncate(out->fd, out->begin + (off_t)out->kept) != 0)
        return;
}

static bool put_bytes(struct output *out, const void *bytes, size_t len)
{
    out->put += len;
    return len == 0 || fwrite(bytes, 1, len, out->file) == len || fail_output(out);
}

/* Before a record of LEN bytes: the buffer never holds a part of another one. */
static bool make_room(struct output *out, size_t len)
{
    return !out->error && (out->put - out->kept + len <= BUFFER_LEN || flush(out));
}

static bool end_record(struct output *out, bool is_packet, uint64_t octets)
{
    const struct record_end end = {.at = out->put, .octets = octets, .is_packet = is_packet};

    g_array_append_val(out->pending, end);
    return !out->live || flush(out);
}

/*
 * Microseconds for ERF in pcap: the file is then identical to ibdump's, and the nanoseconds are in
 * the ERF record. All other files have nanoseconds.
 */
static bool in_microseconds(const struct output *out)
{
    return out->format.linktype == LINKTYPE_ERF;
}

static bool put_pcap_header(struct output *out)
{
    uint8_t header[PCAPFILE_HEADER_LEN];

    pcapfile_put_file_header(header, !in_microseconds(out), out->format.linktype,
                             out->format.snaplen);
    return put_bytes(out, header, sizeof(header));
}

static bool put_pcapng_header(struct output *out)
{
    uint8_t blocks[256];
    size_t len = pcapng_put_shb(blocks, sizeof(blocks), APPLICATION);

    len += pcapng_put_idb(blocks + len, sizeof(blocks) - len, (uint16_t)out->format.linktype,
                          out->format.snaplen, NULL);
    return put_bytes(out, blocks, len);
}

static bool put_header(struct output *out)
{
    switch (out->format.container) {
    case CONTAINER_PCAP:
        return put_pcap_header(out);
    case CONTAINER_PCAPNG:
        return out->format.is_described || put_pcapng_header(out);
    case CONTAINER_RAW:
        break; /* raw ERF has no file header */
    }
    return true;
}

static bool is_regular(int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode);
}

/* Whether PATH (NULL: FILE) is the regular file ST, also under another name. */
static bool is_same_file(const struct stat *st, const char *path, FILE *file)
{
    struct stat other;

    if ((path ? stat(path, &other) : fstat(fileno(file), &other)) != 0)
        return false;
    return other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Who may read OUT. The owner's bits stay, so that the owner can overwrite the file again. */
static struct access_limit limit_of(const struct output *out, int source)
{
    struct access_limit limit = access_unlimited;
    struct access_readers readers = access_of(source);

    if (!out->format.is_public)
        access_narrow(&limit, &readers);
    limit.mode |= S_IRWXU;
    return limit;
}

static FILE *open_output_file(const char *path, const struct access_limit *limit, int *fd,
                              GError **error)
{
    FILE *file;

    *fd = create_file(path, limit, error);
    file = *fd >= 0 ? fdopen(*fd, "wb") : NULL;
    if (*fd >= 0 && !file) {
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "cannot be written: %s",
                    strerror(errno));
        close(*fd);
    }
    return file;
}

static bool open_file(struct output *out, const char *path, int source, GError **error)
{
    bool is_stdout = strcmp(path, "-") == 0;
    struct access_limit limit = limit_of(out, source);
    struct stat in_stat, out_stat;
    bool in_regular = is_regular(source, &in_stat);

    if (in_regular && is_same_file(&in_stat, is_stdout ? NULL : path, stdout)) {
        g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_SAME_FILE,
                            "is the input itself; write to another file");
        return false;
    }
    out->fd = STDOUT_FILENO;
    out->file = is_stdout ? stdout : open_output_file(path, &limit, &out->fd, error);
    if (!out->file)
        return false;
    out->live = !in_regular && !is_regular(out->fd, &out_stat);
    setvbuf(out->file, NULL, _IOFBF, BUFFER_LEN); /* if this fails, the writes are only smaller */
    return true;
}

struct output *output_open(const char *path, const struct output_format *format, int source,
                           GError **error)
{
    struct output *out = g_new0(struct output, 1);

    out->format = *format;
    out->begin = -1;
    if (!open_file(out, path, source, error)) {
        g_free(out);
        return NULL;
    }
    out->block = g_byte_array_new();
    out->pending = g_array_new(FALSE, FALSE, sizeof(struct record_end));
    return out;
}

/* With O_APPEND, all writes are at the end. */
static off_t begin_of(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    if (flags < 0 || !is_regular(fd, &st))
        return -1;
    return flags & O_APPEND ? st.st_size : lseek(fd, 0, SEEK_CUR);
}

bool output_begin(struct output *out)
{
    if (out->file != stdout && !create_empty(out->fd))
        return fail_output(out);
    out->begin = begin_of(out->fd);
    return put_header(out) && end_record(out, false, 0);
}

static bool put_packet(struct output *out, const struct capture_record *p)
{
    return put_bytes(out, p->head, p->head_len) && put_bytes(out, p->data, p->data_len);
}

static bool write_pcap(struct output *out, const struct capture_record *p)
{
    uint8_t header[PCAPFILE_RECORD_LEN];
    uint32_t fraction = in_microseconds(out) ? p->ns / 1000 : p->ns;

    pcapfile_put_record_header(header, (uint32_t)p->sec, fraction, p->head_len + p->data_len,
                               p->wirelen);
    return put_bytes(out, header, sizeof(header)) && put_packet(out, p);
}

static bool write_pcapng(struct output *out, const struct capture_record *p)
{
    int64_t ns = nanoseconds_of(p->sec, p->ns);
    struct pcapng_epb epb = {
        .interface = out->sections ? p->interface - out->first_interface : 0,
        .time = ns > 0 ? (uint64_t)ns : 0, /* timestamps are unsigned */
        .caplen = p->head_len + p->data_len,
        .wirelen = p->wirelen,
        .dropped = p->dropped,
        .options_len = p->options_len,
    };
    uint8_t head[PCAPNG_EPB_HEAD_LEN], tail[PCAPNG_EPB_TAIL_MAX];
    size_t tail_len = pcapng_put_epb_tail(tail, &epb), padding = -epb.caplen & 3;

    pcapng_put_epb_head(head, &epb);
    return put_bytes(out, head, sizeof(head)) && put_packet(out, p) &&
           put_bytes(out, tail, padding) && put_bytes(out, p->options, p->options_len) &&
           put_bytes(out, tail + padding, tail_len - padding);
}

static bool write_in_container(struct output *out, const struct capture_record *p)
{
    switch (out->format.container) {
    case CONTAINER_PCAP:
        return write_pcap(out, p);
    case CONTAINER_PCAPNG:
        return write_pcapng(out, p);
    case CONTAINER_RAW:
        break;
    }
    return put_packet(out, p);
}

/* The link type that packets of the interface have in the output, if they can be written. */
static uint16_t described_linktype(const struct output *out, const struct capfile_description *d)
{
    return (uint16_t)(can_become((uint32_t)d->linktype, out->format.linktype)
                          ? out->format.linktype
                          : (uint32_t)d->linktype);
}

bool output_describe(struct output *out, const struct capfile_description *d)
{
    g_byte_array_set_size(out->block, 0);
    switch (d->about) {
    case CAPFILE_SECTION:
        pcapngcopy_section(out->block, d->options, d->options_len, APPLICATION, NULL);
        out->sections++;
        out->first_interface = out->interfaces;
        break;
    case CAPFILE_INTERFACE:
        pcapngcopy_interface(out->block, d, described_linktype(out, d), out->format.snaplen);
        out->interfaces++;
        break;
    case CAPFILE_STATISTICS:
        pcapngcopy_statistics(out->block, d, d->interface - out->first_interface);
        break;
    }
    return make_room(out, out->block->len) && put_bytes(out, out->block->data, out->block->len) &&
           end_record(out, false, 0);
}

bool output_write(struct output *out, const struct capture_record *p, uint64_t octets)
{
    size_t len = BLOCK_ROOM + p->head_len + p->data_len + p->options_len;

    return make_room(out, len) && write_in_container(out, p) && end_record(out, true, octets);
}

bool output_close(struct output *out, struct output_counts *counts, GError **error)
{
    GError *failure;

    if (!flush(out))
        cut_off(out);
    *counts = out->counts;
    /* a network file system may report a full disk only now */
    if (fclose(out->file) != 0)
        fail_output(out);
    failure = out->error;
    g_byte_array_unref(out->block);
    g_array_unref(out->pending);
    g_free(out);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}
