/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input of a conversion: detects the format, and reads classic pcap through libpcap,
 * other formats by this library. See input.h.
 */
#include "pcapio/input.h"

#include <errno.h>
#include <glib.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/erffile.h"
#include "pcapio/magic.h"
#include "cli/say.h"
#include "pcapio/pcapfile.h"
#include "pcapio/pcapngfile.h"
#include "pcapio/pcapngoptions.h"
#include "pcapio/source.h"

struct input {
    const char *name;
    struct source *source;
    FILE *file;   /* NULL once libpcap owns it */
    pcap_t *pcap; /* classic pcap */
    struct pcapngfile *pcapng;
    struct erffile *erf;        /* raw ERF */
    uint32_t linktype, snaplen; /* of the first packet or interface; the largest of all */
    bool has_interface;         /* LINKTYPE is known */
    enum capfile_result ahead;  /* pcapng: result of reading ... */
    struct capfile_frame first; /* ... the first frame, which shows the link type */
    bool has_ahead;             /* it was not returned yet */
    GArray *early;              /* struct capfile_description before the first frame */
    capfile_describe *describe; /* NULL: no callback */
    void *describe_user;
    char error[CAPFILE_ERROR_LEN]; /* also enough for erffile */
};

static bool link_type_is_ours(const struct input *in)
{
    const char *name = pcap_datalink_val_to_name((int)in->linktype);

    if (linktype_is_known(in->linktype))
        return true;
    say("%s: link type %u (%s) cannot contain IP over InfiniBand", in->name, in->linktype,
        name ? name : "unknown");
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
    in->linktype = (uint32_t)pcap_datalink(in->pcap);
    in->snaplen = (uint32_t)pcap_snapshot(in->pcap);
    return link_type_is_ours(in);
}

static void note_interface(struct input *in, const struct capfile_description *described)
{
    uint32_t snaplen = described->snaplen ? described->snaplen : ERF_MAX_LEN;

    if (!in->has_interface)
        in->linktype = (uint32_t)described->linktype;
    in->has_interface = true;
    in->snaplen = in->snaplen > snaplen ? in->snaplen : snaplen;
}

/* Passes the description on, or keeps a copy until the callback is set. */
static void take_description(void *user, const struct capfile_description *described)
{
    struct input *in = user;

    if (described->about == CAPFILE_INTERFACE)
        note_interface(in, described);
    if (in->describe) {
        in->describe(in->describe_user, described);
    } else if (in->has_ahead) {
        struct capfile_description copy = *described;
        copy.options = g_memdup2(described->options, described->options_len);
        g_array_append_val(in->early, copy);
    }
}

static void clear_description(void *described)
{
    g_free((void *)((struct capfile_description *)described)->options);
}

/* Reads the first frame already: its link type decides what the output is. */
static bool open_pcapng(struct input *in)
{
    in->pcapng = pcapngfile_open(in->file, in->error);
    if (!in->pcapng) {
        say("out of memory");
        return false;
    }
    in->early = g_array_new(FALSE, FALSE, sizeof(struct capfile_description));
    g_array_set_clear_func(in->early, clear_description);
    pcapngfile_on_description(in->pcapng, take_description, in);
    in->has_ahead = true;
    in->ahead = pcapngfile_next(in->pcapng, &in->first);
    if (in->ahead == CAPFILE_FRAME)
        in->linktype = (uint32_t)in->first.linktype;
    if (in->has_interface)
        return link_type_is_ours(in);
    say("%s: %s", in->name, in->ahead == CAPFILE_ERROR ? in->error : "has no interface");
    return false;
}

/* Reads the first bytes. Returns false after a message. */
static bool read_magic(const struct input *in, uint8_t magic[MAGIC_LEN])
{
    size_t got = source_peek(in->source, magic, MAGIC_LEN);
    const char *fault = source_fault(in->source);

    if (got == MAGIC_LEN)
        return true;
    if (fault)
        say("%s: cannot be read: %s", in->name, fault);
    else
        say("%s: %s", in->name, got == 0 ? "is empty" : "is too short to be a capture file");
    return false;
}

/* Is the file, or the content of the gzip file, not compressed? Prints a message if it is. */
static bool is_uncompressed(const struct input *in, const uint8_t magic[MAGIC_LEN])
{
    if (!magic_compression(magic))
        return true;
    say("%s: is compressed; decompress it first (for example: %s FILE | ipoib-capture convert - OUT)",
        in->name, magic_compression(magic)->cat);
    return false;
}

static bool open_any(struct input *in)
{
    uint8_t magic[MAGIC_LEN];

    if (!read_magic(in, magic) || !is_uncompressed(in, magic))
        return false;
    in->file = source_stream(in->source);
    if (magic_is_pcap(magic))
        return open_pcap(in);
    if (magic_is_pcapng(magic))
        return open_pcapng(in);
    in->linktype = LINKTYPE_ERF;
    in->snaplen = ERF_MAX_LEN;
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
    in->source = source_open(path, in->error, sizeof(in->error));
    if (!in->source)
        say("%s: %s", in->name, in->error);
    if (!in->source || !open_any(in)) {
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
    pcapngfile_close(in->pcapng);
    if (in->early)
        g_array_unref(in->early);
    if (in->file)
        fclose(in->file);
    source_close(in->source);
    free(in);
}

/*
 * Converts libpcap's timestamp. A malformed file can have more than a second in the fraction, which
 * is carried over.
 */
static void set_packet_time(const struct timeval *ts, struct packet *out)
{
    int64_t ns = ts->tv_usec; /* nanoseconds, as requested in open_pcap */

    out->sec = pcapfile_seconds(ts->tv_sec) + ns / 1000000000;
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
static enum input_result end_input(const struct input *in, enum input_result result,
                                   const char *error)
{
    const char *fault = source_fault(in->source);

    if (result == INPUT_PACKET || (result == INPUT_END && !fault))
        return result;
    say("%s: %s", in->name, fault ? fault : error);
    return INPUT_ERROR;
}

static enum input_result next_erf(struct input *in, struct packet *out)
{
    enum input_result result = erffile_next(in->erf, out);

    out->linktype = LINKTYPE_ERF;
    return end_input(in, result, in->error);
}

static enum input_result next_pcap(struct input *in, struct packet *out)
{
    struct pcap_pkthdr *header;
    const u_char *data;

    switch (pcap_next_ex(in->pcap, &header, &data)) {
    case 1:
        break;
    case PCAP_ERROR_BREAK:
        return end_input(in, INPUT_END, NULL);
    default:
        return end_input(in, INPUT_ERROR, pcap_geterr(in->pcap));
    }
    set_packet_time(&header->ts, out);
    out->linktype = in->linktype;
    out->data = data;
    out->data_len = header->caplen;
    out->wirelen = header->len < header->caplen ? header->caplen : header->len;
    return INPUT_PACKET;
}

static enum input_result next_pcapng(struct input *in, struct packet *out)
{
    struct capfile_frame frame = in->first;
    enum capfile_result result = in->has_ahead ? in->ahead : pcapngfile_next(in->pcapng, &frame);

    in->has_ahead = false;
    if (result != CAPFILE_FRAME)
        return end_input(in, result == CAPFILE_END ? INPUT_END : INPUT_ERROR, in->error);
    uint64_t dropped = pcapngfile_dropped(in->pcapng);

    if (in->describe)
        out->options = pcapngfile_options(in->pcapng, &out->options_len);

    out->interface = frame.interface;
    out->linktype = (uint32_t)frame.linktype;
    out->dropped = dropped < UINT32_MAX ? (uint32_t)dropped : UINT32_MAX;
    int64_t rest = frame.ns % 1000000000;

    out->sec = frame.ns / 1000000000 - (rest < 0);
    out->ns = (uint32_t)(rest < 0 ? rest + 1000000000 : rest);
    out->data = frame.bytes;
    out->data_len = frame.caplen;
    out->wirelen = frame.wirelen;
    return INPUT_PACKET;
}

enum input_result input_next(struct input *in, struct packet *out)
{
    memset(out, 0, sizeof(*out));
    return in->erf ? next_erf(in, out) : in->pcapng ? next_pcapng(in, out) : next_pcap(in, out);
}

/* The options are already converted: little-endian, with times in ns. */
static void remove_texts(struct capfile_description *d)
{
    static const enum pcapng_block blocks[] = {[CAPFILE_SECTION] = PCAPNG_SECTION,
                                               [CAPFILE_INTERFACE] = PCAPNG_INTERFACE,
                                               [CAPFILE_STATISTICS] = PCAPNG_STATISTICS};
    const struct pcapng_origin converted = {.tsresol = 9};

    d->options_len = pcapng_convert_options((uint8_t *)d->options, d->options_len, blocks[d->about],
                                            true, &converted);
}

void input_on_description(struct input *in, bool without_texts, capfile_describe *describe,
                          void *user)
{
    in->describe = describe;
    in->describe_user = user;
    if (without_texts && in->pcapng)
        pcapngfile_without_texts(in->pcapng);
    for (guint i = 0; in->early && i < in->early->len; i++) {
        struct capfile_description *d = &g_array_index(in->early, struct capfile_description, i);

        if (without_texts)
            remove_texts(d);
        describe(user, d);
    }
}

uint32_t input_linktype(const struct input *in)
{
    return in->linktype;
}

uint32_t input_snaplen(const struct input *in)
{
    return in->snaplen;
}

bool input_is_raw_erf(const struct input *in)
{
    return in->erf != NULL;
}

bool input_is_pcapng(const struct input *in)
{
    return in->pcapng != NULL;
}

const char *input_name(const struct input *in)
{
    return in->name;
}

int input_fd(const struct input *in)
{
    return source_fd(in->source);
}
