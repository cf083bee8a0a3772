/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads capture files: detects the format, and reads classic pcap through libpcap. See capfile.h.
 */
#include "pcapio/capfile.h"

#include <pcap/pcap.h>
#include <string.h>

#include "pcapio/erf.h"
#include "pcapio/erffile.h"
#include "pcapio/error.h"
#include "pcapio/magic.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapngfile.h"
#include "pcapio/source.h"
#include "wire/erf.h"
#include "wire/linktype.h"
#include "wire/nanoseconds.h"

struct capfile {
    struct source *source;
    FILE *file; /* closed by pcap_close if pcap is set */
    pcap_t *pcap;
    struct pcapngfile *pcapng;
    struct erffile *erf;
    /* of pcap */
    int linktype;
    uint32_t frames; /* read so far */
};

/* ---- opening */

static bool fail_format(GError **error, const char *why)
{
    g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT, why);
    return false;
}

static bool open_pcap(struct capfile *c, GError **error)
{
    char why[PCAP_ERRBUF_SIZE] = "";

    c->pcap = pcap_fopen_offline_with_tstamp_precision(c->file, PCAP_TSTAMP_PRECISION_NANO, why);
    if (c->pcap)
        c->linktype = pcap_datalink(c->pcap);
    else
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT, "cannot be read: %s", why);
    return c->pcap != NULL;
}

static bool open_stream(struct capfile *c, const uint8_t *magic, GError **error)
{
    c->file = source_stream(c->source);
    if (magic_is_pcap(magic))
        return open_pcap(c, error);
    if (magic_is_pcapng(magic))
        c->pcapng = pcapngfile_open(c->file);
    else
        c->erf = erffile_open(c->file, error);
    return c->pcapng || c->erf;
}

/* Reports known formats that are not supported. Returns whether the file has one. */
static bool refuse_format(const uint8_t *magic, GError **error)
{
    const struct compression *by = magic_compression(magic);

    if (memcmp(magic, "snoo", MAGIC_LEN) == 0)
        return !fail_format(
            error, "is a snoop file, which is not read here: Wireshark with the plugin opens it");
    if (by)
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT,
                    "is compressed by %s: decompress it first (%s FILE | ... -)", by->name,
                    by->cat);
    return by != NULL;
}

static bool open_any(struct capfile *c, GError **error)
{
    uint8_t magic[MAGIC_LEN];
    size_t got = source_peek(c->source, magic, sizeof(magic));

    if (got < sizeof(magic) && !source_ended_well(c->source, error)) {
        g_prefix_error(error, "cannot be read: ");
        return false;
    }
    if (got < sizeof(magic))
        return fail_format(error, got == 0 ? "is empty" : "is too short to be a capture file");
    return !refuse_format(magic, error) && open_stream(c, magic, error);
}

struct capfile *capfile_open(const char *path, GError **error)
{
    struct capfile *c = g_new0(struct capfile, 1);

    c->source = source_open(path, error);
    if (c->source && open_any(c, error))
        return c;
    capfile_close(c);
    return NULL;
}

void capfile_on_description(struct capfile *c, capfile_describe *describe, void *user)
{
    if (c->pcapng)
        pcapngfile_on_description(c->pcapng, describe, user);
}

void capfile_leave_private_out(struct capfile *c)
{
    if (c->pcapng)
        pcapngfile_leave_private_out(c->pcapng);
}

void capfile_keep_padding(struct capfile *c)
{
    if (c->erf)
        erffile_keep_padding(c->erf);
}

void capfile_close(struct capfile *c)
{
    if (!c)
        return;
    if (c->pcap)
        pcap_close(c->pcap);
    else if (c->file)
        fclose(c->file);
    pcapngfile_close(c->pcapng);
    erffile_close(c->erf);
    source_close(c->source);
    g_free(c);
}

/* ---- the file */

bool capfile_is_pcapng(const struct capfile *c)
{
    return c->pcapng != NULL;
}

bool capfile_is_raw_erf(const struct capfile *c)
{
    return c->erf != NULL;
}

int64_t capfile_time(const struct capfile *c, const struct capfile_frame *f)
{
    struct erf_record record;
    int64_t seconds;
    uint32_t fraction;
    if (f->linktype != LINKTYPE_ERF || capfile_is_pcapng(c) ||
        !erf_parse(f->bytes, f->caplen, &record))
        return f->ns;
    erf_split(record.time, &seconds, &fraction);
    return nanoseconds_of(seconds, fraction);
}

bool capfile_header(const struct capfile *c, uint32_t *linktype, uint32_t *snaplen)
{
    if (c->pcapng)
        return false;
    *linktype = c->pcap ? (uint32_t)c->linktype : LINKTYPE_ERF;
    *snaplen = c->pcap ? (uint32_t)pcap_snapshot(c->pcap) : ERF_MAX_LEN;
    return true;
}

int capfile_fd(const struct capfile *c)
{
    return source_fd(c->source);
}

double capfile_progress(const struct capfile *c)
{
    return source_progress(c->source);
}

/* ---- frames */

uint64_t capfile_dropped(const struct capfile *c)
{
    return c->pcapng ? pcapngfile_dropped(c->pcapng) : 0;
}

/* The header of the frame's ERF record; NULL: it is none, or truncated. */
static const uint8_t *erf_header(const struct capfile_frame *f)
{
    return f->linktype == LINKTYPE_ERF && f->caplen >= ERF_HEADER_LEN ? f->bytes : NULL;
}

struct capfile_lost capfile_lost(const struct capfile *c, const struct capfile_frame *f)
{
    struct capfile_lost lost = {0};
    const uint8_t *erf = f ? erf_header(f) : NULL;

    if (c->pcapng)
        pcapngfile_lost(c->pcapng, &lost.interface, &lost.system);
    if (f)
        lost.before = capfile_dropped(c);
    if (erf)
        lost.record = get_be16(erf + ERF_OFF_LCTR);
    return lost;
}

bool capfile_is_marked(const struct capfile *c, const struct capfile_frame *f)
{
    const uint8_t *erf = erf_header(f);

    return (erf && erf[ERF_OFF_FLAGS] & ERF_FLAG_ERROR) ||
           (c->pcapng && pcapngfile_is_marked(c->pcapng));
}

const uint8_t *capfile_options(struct capfile *c, uint32_t *len)
{
    *len = 0;
    return c->pcapng ? pcapngfile_options(c->pcapng, len) : NULL;
}

/*
 * Converts libpcap's timestamp. A fraction of more than a second is carried over by the addition.
 */
static int64_t pcap_ns(const struct timeval *ts)
{
    return nanoseconds_of(pcapfile_seconds(ts->tv_sec), ts->tv_usec);
}

static enum capfile_result fail_pcap(const struct capfile *c, GError **error)
{
    const char *why = pcap_geterr(c->pcap);

    if (feof(c->file))
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_TRUNCATED, "is cut short: %s", why);
    else if (ferror(c->file))
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "cannot be read: %s", why);
    else
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_MALFORMED, "is malformed: %s", why);
    return CAPFILE_ERROR;
}

static enum capfile_result next_pcap(struct capfile *c, struct capfile_frame *out, GError **error)
{
    struct pcap_pkthdr *header;
    const u_char *data;
    int result = pcap_next_ex(c->pcap, &header, &data);

    if (result != 1)
        return result == PCAP_ERROR_BREAK ? CAPFILE_END : fail_pcap(c, error);
    *out = (struct capfile_frame){
        .number = ++c->frames,
        .linktype = c->linktype,
        .ns = pcap_ns(&header->ts),
        .caplen = header->caplen,
        .wirelen = header->len < header->caplen ? header->caplen : header->len,
        .bytes = data,
    };
    return CAPFILE_FRAME;
}

/*
 * What no frame means. If the source ended early, this is the cause of every other error, and it
 * also looks like the end of the file.
 */
static enum capfile_result result_at_end(const struct capfile *c, enum capfile_result result,
                                         GError **error)
{
    GError *cause = NULL;

    if (source_ended_well(c->source, &cause))
        return result;
    g_clear_error(error);
    g_propagate_prefixed_error(error, cause, "cannot be read to its end: ");
    return CAPFILE_ERROR;
}

enum capfile_result capfile_next(struct capfile *c, struct capfile_frame *out, GError **error)
{
    enum capfile_result result = c->pcap     ? next_pcap(c, out, error)
                                 : c->pcapng ? pcapngfile_next(c->pcapng, out, error)
                                             : erffile_next(c->erf, out, error);

    return result == CAPFILE_FRAME ? result : result_at_end(c, result, error);
}
