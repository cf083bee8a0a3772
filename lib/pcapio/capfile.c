/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads capture files: detects the format, and reads classic pcap through libpcap. See capfile.h.
 */
#include "pcapio/capfile.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/erffile.h"
#include "pcapio/magic.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapngfile.h"
#include "pcapio/source.h"
#include "wire/nanoseconds.h"

struct capfile {
    struct source *source;
    FILE *file; /* closed by pcap_close if pcap is set */
    pcap_t *pcap;
    struct pcapngfile *pcapng;
    struct erffile *erf;
    uint32_t frames; /* frames read, for pcap and ERF */
    char *error;     /* the caller's buffer during open, then error_text */
    char error_text[CAPFILE_ERROR_LEN];
};

/* ---- opening */

static bool say_fault(struct capfile *c, const char *fault)
{
    snprintf(c->error, CAPFILE_ERROR_LEN, "%s", fault);
    return false;
}

static bool open_pcap(struct capfile *c)
{
    char error[PCAP_ERRBUF_SIZE] = "";

    c->pcap = pcap_fopen_offline_with_tstamp_precision(c->file, PCAP_TSTAMP_PRECISION_NANO, error);
    if (!c->pcap)
        snprintf(c->error, CAPFILE_ERROR_LEN, "cannot be read: %s", error);
    return c->pcap != NULL;
}

static bool open_stream(struct capfile *c, const uint8_t *magic)
{
    c->file = source_stream(c->source);
    if (magic_is_pcap(magic))
        return open_pcap(c);
    if (magic_is_pcapng(magic)) {
        c->pcapng = pcapngfile_open(c->file, c->error_text);
        return c->pcapng || say_fault(c, "out of memory");
    }
    c->erf = erffile_open(c->file, c->error_text);
    return c->erf || say_fault(c, c->error_text);
}

/* Reports known formats that are not supported. Returns whether the file has one. */
static bool refuse_format(struct capfile *c, const uint8_t *magic)
{
    const struct compression *by = magic_compression(magic);

    if (memcmp(magic, "snoo", MAGIC_LEN) == 0)
        return !say_fault(
            c, "is a snoop file, which is not read here: Wireshark with the plugin opens it");
    if (by)
        snprintf(c->error, CAPFILE_ERROR_LEN,
                 "is compressed by %s: decompress it first (%s FILE | ... -)", by->name, by->cat);
    return by != NULL;
}

static bool open_any(struct capfile *c)
{
    uint8_t magic[MAGIC_LEN];
    size_t got = source_peek(c->source, magic, sizeof(magic));
    const char *fault = got < sizeof(magic) ? source_fault(c->source) : NULL;

    if (fault) {
        snprintf(c->error, CAPFILE_ERROR_LEN, "cannot be read: %s", fault);
        return false;
    }
    if (got < sizeof(magic))
        return say_fault(c, got == 0 ? "is empty" : "is too short to be a capture file");
    return !refuse_format(c, magic) && open_stream(c, magic);
}

struct capfile *capfile_open(const char *path, char error[CAPFILE_ERROR_LEN])
{
    struct capfile *c = calloc(1, sizeof(*c));

    if (!c) {
        snprintf(error, CAPFILE_ERROR_LEN, "out of memory");
        return NULL;
    }
    c->error = error;
    c->source = source_open(path, error, CAPFILE_ERROR_LEN);
    if (c->source && open_any(c)) {
        c->error = c->error_text;
        return c;
    }
    capfile_close(c);
    return NULL;
}

void capfile_on_description(struct capfile *c, capfile_describe *describe, void *user)
{
    if (c->pcapng)
        pcapngfile_on_description(c->pcapng, describe, user);
}

uint64_t capfile_dropped(const struct capfile *c)
{
    return c->pcapng ? pcapngfile_dropped(c->pcapng) : 0;
}

const uint8_t *capfile_options(struct capfile *c, uint32_t *len)
{
    *len = 0;
    return c->pcapng ? pcapngfile_options(c->pcapng, len) : NULL;
}

bool capfile_is_pcapng(const struct capfile *c)
{
    return c->pcapng != NULL;
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
    free(c);
}

/* ---- frames */

/*
 * Converts libpcap's timestamp. A fraction of more than a second is carried over by the addition.
 */
static int64_t pcap_ns(const struct timeval *ts)
{
    return nanoseconds_of(pcapfile_seconds(ts->tv_sec), ts->tv_usec);
}

static enum capfile_result pcap_fault(struct capfile *c)
{
    const char *what = feof(c->file)     ? "is cut short"
                       : ferror(c->file) ? "cannot be read"
                                         : "damaged";

    snprintf(c->error, CAPFILE_ERROR_LEN, "%s: %s", what, pcap_geterr(c->pcap));
    return CAPFILE_ERROR;
}

static enum capfile_result next_pcap(struct capfile *c, struct capfile_frame *out)
{
    struct pcap_pkthdr *header;
    const u_char *data;
    int result = pcap_next_ex(c->pcap, &header, &data);

    if (result != 1)
        return result == PCAP_ERROR_BREAK ? CAPFILE_END : pcap_fault(c);
    *out = (struct capfile_frame){
        .number = ++c->frames,
        .linktype = pcap_datalink(c->pcap),
        .ns = pcap_ns(&header->ts),
        .caplen = header->caplen,
        .wirelen = header->len < header->caplen ? header->caplen : header->len,
        .bytes = data,
    };
    return CAPFILE_FRAME;
}

/* Skips padding records: Wireshark does not number them. */
static enum capfile_result next_erf(struct capfile *c, struct capfile_frame *out)
{
    enum input_result result;
    struct packet p = {0};

    do
        result = erffile_next(c->erf, &p);
    while (result == INPUT_PACKET && erf_type(p.data) == ERF_TYPE_PAD);
    if (result != INPUT_PACKET)
        return result == INPUT_END ? CAPFILE_END : CAPFILE_ERROR;
    *out = (struct capfile_frame){
        .number = ++c->frames,
        .linktype = LINKTYPE_ERF,
        .ns = nanoseconds_of(p.sec, p.ns),
        .caplen = p.data_len,
        .wirelen = p.wirelen,
        .bytes = p.data,
    };
    return CAPFILE_FRAME;
}

enum capfile_result capfile_next(struct capfile *c, struct capfile_frame *out)
{
    enum capfile_result result = c->pcap     ? next_pcap(c, out)
                                 : c->pcapng ? pcapngfile_next(c->pcapng, out)
                                             : next_erf(c, out);
    const char *fault = result == CAPFILE_FRAME ? NULL : source_fault(c->source);

    if (!fault)
        return result;
    snprintf(c->error, CAPFILE_ERROR_LEN, "cannot be read to its end: %s", fault);
    return CAPFILE_ERROR;
}

const char *capfile_error(const struct capfile *c)
{
    return c->error_text;
}

double capfile_progress(const struct capfile *c)
{
    return source_progress(c->source);
}
