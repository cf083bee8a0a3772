/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the readers and writers of capture files: the input is a file. The output of
 * `ipoib-capture convert` must be a complete capture file, with as many packets as were written.
 */
#include <string.h>

#include "fuzz/memory_files.h"
#include "pcapio/capfile.h"
#include "pcapio/erf.h"
#include "pcapio/error.h"
#include "pcapio/input.h"
#include "pcapio/output.h"
#include "pcapio/translate.h"
#include "fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 18 };

static volatile unsigned sink; /* uses the values read, so that the compiler keeps the reads */

/* What ipoib-check reads of a file. */
struct contents {
    unsigned long frames;
    bool whole; /* it was read to its end */
    bool ours;  /* a frame has a link type that can contain IPoIB */
};

static struct contents read_contents(enum memory_file file)
{
    struct contents found = {0};
    GError *error = NULL;
    struct capfile_frame f;
    enum capfile_result result = CAPFILE_ERROR;
    struct capfile *c = capfile_open(memory_file_name(file), &error);
    while (c && (result = capfile_next(c, &f, &error)) == CAPFILE_FRAME) {
        must(f.number == ++found.frames && f.wirelen >= f.caplen);
        found.ours |= linktype_is_known((uint32_t)f.linktype);
        for (uint32_t i = 0; i < f.caplen; i++)
            sink += f.bytes[i];
    }
    found.whole = result == CAPFILE_END;
    must(found.whole == (error == NULL));
    g_clear_error(&error);
    capfile_close(c);
    return found;
}

/* Readers of raw ERF skip pad records, as Wireshark does. */
static bool is_filler(const struct translation *way, const struct capture_record *p)
{
    return way->to_raw && p->linktype == LINKTYPE_ERF && erf_type(p->data) == ERF_TYPE_PAD;
}

/* What a conversion read and wrote. */
struct carried {
    unsigned long frames;  /* as ipoib-check counts them: without the pad records of raw ERF */
    unsigned long written; /* packets that a reader must find in the output */
    unsigned long filler;  /* pad records in the output, which a reader skips */
    bool whole;            /* the input was read to its end */
};

static struct carried convert_frames(struct input *in, struct output *out,
                                     const struct translation *way)
{
    struct carried n = {0};
    struct capture_record from, to;
    struct remarks note;
    GError *error = NULL;
    enum capfile_result result;
    while ((result = input_next(in, &from, &error)) == CAPFILE_FRAME) {
        n.frames += !(way->from_raw && erf_type(from.data) == ERF_TYPE_PAD);
        if (translate(way, &from, &to, &note) == CARRIED) {
            must(to.wirelen >= to.head_len + to.data_len);
            must(output_write(out, &to, note.bytes));
            n.written += !is_filler(way, &from);
            n.filler += is_filler(way, &from);
        }
    }
    n.whole = result == CAPFILE_END;
    must(n.whole == (error == NULL));
    g_clear_error(&error);
    return n;
}

static void copy_description(void *out, const struct capfile_description *described)
{
    must(output_describe(out, described));
}

/* CHECKED: what ipoib-check reads of the file. A conversion must read the same. */
static void convert(const struct contents *checked, struct output_format *format)
{
    GByteArray *made = memory_file_bytes(MEMORY_OUTPUT);
    GError *error = NULL;
    struct input *in = input_open(memory_file_name(MEMORY_INPUT), format->linktype == LINKTYPE_ERF,
                                  &error);
    must(!in == (error != NULL));
    must(in || !checked->ours);
    g_clear_error(&error);
    if (!in)
        return;
    struct translation way = {.to = format->linktype,
                              .from_raw = input_is_raw_erf(in),
                              .to_raw = format->container == CONTAINER_RAW,
                              .container_time_wins = input_is_pcapng(in)};
    format->is_described = format->container == CONTAINER_PCAPNG && input_is_pcapng(in);
    struct output *out = output_open(memory_file_name(MEMORY_OUTPUT), format, input_fd(in), NULL);
    must(out != NULL && output_begin(out));
    if (format->is_described)
        input_on_description(in, copy_description, out);
    struct carried n = convert_frames(in, out, &way);
    must(n.frames == checked->frames && n.whole == checked->whole);
    struct output_counts counts;
    must(output_close(out, &counts, NULL) && counts.packets == n.written + n.filler);
    input_close(in);
    /*
     * Raw ERF has no magic number and starts with a timestamp. If the timestamp equals another
     * format's magic number, the file is read as that format. So overwrite its fraction; any value
     * will do.
     */
    enum { FRACTION = 4 };
    must(format->container != CONTAINER_RAW || n.written == 0 || made->len >= FRACTION);
    if (format->container == CONTAINER_RAW && made->len >= FRACTION) /* also if all are filler */
        memset(made->data, 0, FRACTION);
    struct contents found = read_contents(MEMORY_OUTPUT);
    /* a raw ERF file without records is empty, so it is not a capture file */
    must(found.frames == n.written &&
         (found.whole || (format->container == CONTAINER_RAW && n.written == 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct output_format formats[] = {
        {.container = CONTAINER_PCAP, .linktype = LINKTYPE_INFINIBAND, .snaplen = ERF_MAX_LEN},
        {.container = CONTAINER_PCAP, .linktype = LINKTYPE_ERF, .snaplen = ERF_MAX_LEN},
        {.container = CONTAINER_PCAPNG, .linktype = LINKTYPE_INFINIBAND, .snaplen = ERF_MAX_LEN},
        {.container = CONTAINER_PCAPNG, .linktype = LINKTYPE_ERF, .snaplen = ERF_MAX_LEN},
        {.container = CONTAINER_RAW, .linktype = LINKTYPE_ERF, .snaplen = ERF_MAX_LEN}};
    if (size > INPUT_MAX)
        return 0;
    GByteArray *file = memory_file_bytes(MEMORY_INPUT);
    g_byte_array_set_size(file, 0);
    g_byte_array_append(file, data, (guint)size);
    struct contents checked = read_contents(MEMORY_INPUT);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        convert(&checked, &formats[i]);
    return 0;
}
