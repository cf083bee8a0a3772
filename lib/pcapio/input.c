/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input of a conversion: detects the format, and reads pcap and pcapng through libpcap.
 * See input.h.
 */
#include "pcapio/input.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/erffile.h"
#include "pcapio/magic.h"
#include "cli/say.h"
#include "pcapio/pcapfile.h"
#include "pcapio/source.h"

enum { GZIP_MAGIC_0 = 0x1f, GZIP_MAGIC_1 = 0x8b }; /* RFC 1952 section 2.3.1 */

struct input {
    const char *name;
    FILE *file;            /* NULL once libpcap owns it */
    FILE *shown;           /* the opened file, also after libpcap or the source took over */
    struct source *source; /* for a file compressed with gzip; FILE is then its content */
    pcap_t *pcap;          /* NULL for raw ERF */
    struct erffile *erf;   /* NULL for pcap and pcapng */
    bool pcapng;
    char error[ERFFILE_ERROR_LEN];
};

/* Reads the first bytes and puts them back. Returns their number, at most MAGIC_LEN. */
static size_t peek(FILE *file, uint8_t magic[MAGIC_LEN])
{
    size_t got = fread(magic, 1, MAGIC_LEN, file);

    if (ferror(file))
        return 0;
    clearerr(file);
    /*
     * ISO C guarantees one byte of ungetc; the usual C libraries accept the four bytes just read.
     * The result is checked.
     */
    for (size_t i = got; i > 0; i--)
        if (ungetc(magic[i - 1], file) == EOF)
            return 0;
    return got;
}

static bool link_type_is_ours(struct input *in)
{
    int type = pcap_datalink(in->pcap);
    const char *name = pcap_datalink_val_to_name(type);

    if (type == LINKTYPE_ERF || type == LINKTYPE_INFINIBAND)
        return true;
    say("%s: link type %d (%s) is not InfiniBand; ERF (197) or INFINIBAND (247) is needed",
        in->name, type, name ? name : "unknown");
    return false;
}

static bool open_pcap(struct input *in)
{
    char error[PCAP_ERRBUF_SIZE] = "";

    in->pcap = pcap_fopen_offline_with_tstamp_precision(in->file, PCAP_TSTAMP_PRECISION_NANO,
                                                        error);
    if (!in->pcap) {
        say("%s: cannot be read: %s", in->name, error);
        return false;
    }
    in->file = NULL; /* pcap_close closes it */
    return link_type_is_ours(in);
}

/* Reads the first bytes. Returns false after a message. */
static bool read_magic(struct input *in, uint8_t magic[MAGIC_LEN])
{
    size_t got = peek(in->file, magic);

    if (ferror(in->file)) {
        say("%s: cannot be read: %s", in->name, strerror(errno));
        return false;
    }
    if (got < MAGIC_LEN)
        say("%s: %s", in->name, got == 0 ? "is empty" : "is too short to be a capture file");
    return got == MAGIC_LEN;
}

static bool refuse_compressed(const struct input *in)
{
    say("%s: is compressed; decompress it first (for example: zcat FILE | ipoib-capture convert - OUT)",
        in->name);
    return false;
}

/*
 * Continues with the content of a file compressed with gzip. Not possible for a pipe, whose first
 * bytes cannot be read again.
 */
static bool open_compressed(struct input *in, uint8_t magic[MAGIC_LEN])
{
    char error[ERFFILE_ERROR_LEN];

    if (in->file == stdin || magic[0] != GZIP_MAGIC_0 || magic[1] != GZIP_MAGIC_1)
        return refuse_compressed(in);
    in->source = source_open(in->name, error, sizeof(error));
    if (!in->source) {
        say("%s: %s", in->name, error);
        return false;
    }
    in->file = source_stream(in->source);
    if (!in->file) {
        say("out of memory");
        return false;
    }
    if (!read_magic(in, magic))
        return false;
    return !magic_compression(magic) || refuse_compressed(in);
}

static bool open_any(struct input *in)
{
    uint8_t magic[MAGIC_LEN];

    if (!read_magic(in, magic) || (magic_compression(magic) && !open_compressed(in, magic)))
        return false;
    in->pcapng = magic_is_pcapng(magic);
    if (in->pcapng || magic_is_pcap(magic))
        return open_pcap(in);
    in->erf = erffile_open(in->file, in->error);
    if (!in->erf)
        say("%s: %s", in->name, in->error);
    return in->erf != NULL;
}

struct input *input_open(const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct input *in = calloc(1, sizeof(*in));

    if (!in) {
        say("out of memory");
        return NULL;
    }
    in->name = is_stdin ? "standard input" : path;
    in->file = is_stdin ? stdin : fopen(path, "rb");
    in->shown = in->file;
    if (!in->file)
        say("%s: cannot be opened: %s", path, strerror(errno));
    if (!in->file || !open_any(in)) {
        input_close(in);
        return NULL;
    }
    return in;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    if (in->pcap)
        pcap_close(in->pcap);
    erffile_close(in->erf);
    if (in->file && in->file != stdin)
        fclose(in->file);
    if (in->source && in->shown)
        fclose(in->shown);
    source_close(in->source);
    free(in);
}

/*
 * Converts libpcap's timestamp. A malformed file can have more than a second in the fraction, which
 * is carried over.
 */
static void set_time(const struct input *in, const struct timeval *ts, struct packet *out)
{
    int64_t ns = ts->tv_usec; /* nanoseconds, as requested in open_pcap */

    out->sec = (in->pcapng ? ts->tv_sec : pcapfile_seconds(ts->tv_sec)) + ns / 1000000000;
    ns %= 1000000000;
    if (ns < 0) {
        ns += 1000000000;
        out->sec--;
    }
    out->ns = (uint32_t)ns;
}

/*
 * Corrupt compressed data also ends a file, and is the cause of other errors, so it is reported
 * first.
 */
static enum input_result end_with(const struct input *in, enum input_result result,
                                  const char *error)
{
    const char *fault = in->source ? source_fault(in->source) : NULL;

    if (result == INPUT_PACKET || (result == INPUT_END && !fault))
        return result;
    say("%s: %s", in->name, fault ? fault : error);
    return INPUT_ERROR;
}

static enum input_result next_erf(struct input *in, struct packet *out)
{
    enum input_result result = erffile_next(in->erf, out);

    return end_with(in, result, in->error);
}

static enum input_result next_pcap(struct input *in, struct packet *out)
{
    struct pcap_pkthdr *header;
    const u_char *data;

    switch (pcap_next_ex(in->pcap, &header, &data)) {
    case 1:
        break;
    case PCAP_ERROR_BREAK:
        return end_with(in, INPUT_END, NULL);
    default:
        return end_with(in, INPUT_ERROR, pcap_geterr(in->pcap));
    }
    set_time(in, &header->ts, out);
    out->data = data;
    out->data_len = header->caplen;
    out->wirelen = header->len < header->caplen ? header->caplen : header->len;
    return INPUT_PACKET;
}

enum input_result input_next(struct input *in, struct packet *out)
{
    memset(out, 0, sizeof(*out));
    return in->erf ? next_erf(in, out) : next_pcap(in, out);
}

uint32_t input_linktype(const struct input *in)
{
    return in->erf ? LINKTYPE_ERF : (uint32_t)pcap_datalink(in->pcap);
}

uint32_t input_snaplen(const struct input *in)
{
    return in->erf ? ERF_MAX_LEN : (uint32_t)pcap_snapshot(in->pcap);
}

bool input_is_raw_erf(const struct input *in)
{
    return in->erf != NULL;
}

bool input_is_pcapng(const struct input *in)
{
    return in->pcapng;
}

const char *input_name(const struct input *in)
{
    return in->name;
}

FILE *input_file(const struct input *in)
{
    return in->shown;
}
