/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the readers and writers of capture files: the input is a file. The output of
 * `ipoib-capture convert` must be a complete capture file, with as many packets as were written.
 */
#include <string.h>

#include "fuzz/memory_files.h"
#include "pcapio/capfile.h"
#include "pcapio/erf.h"
#include "pcapio/input.h"
#include "cli/say.h"
#include "pcapio/output.h"
#include "pcapio/translate.h"
#include "fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 18 };

static volatile unsigned sink; /* uses the values read, so that the compiler keeps the reads */

/* Replaces cli/say.c's: prints nothing, because most inputs are malformed. */
void say(const char *format, ...)
{
    sink += (unsigned)format[0];
}

/* Returns the number of frames. Sets *whole to whether the file was read to its end. */
static unsigned long read_all(enum memory_file file, bool *whole)
{
    char error[CAPFILE_ERROR_LEN];
    struct capfile_frame f;
    enum capfile_result result;
    unsigned long n = 0;
    struct capfile *c = capfile_open(memory_file_name(file), error);
    *whole = false;
    if (!c)
        return 0;
    while ((result = capfile_next(c, &f)) == CAPFILE_FRAME) {
        must(f.number == ++n && f.wirelen >= f.caplen);
        for (uint32_t i = 0; i < f.caplen; i++)
            sink += f.bytes[i];
    }
    *whole = result == CAPFILE_END;
    must(*whole || capfile_error(c) != NULL);
    capfile_close(c);
    return n;
}

/* Readers of raw ERF skip pad records, as Wireshark does. */
static bool is_filler(const struct translation *way, const struct packet *p)
{
    return way->to_raw && p->linktype == LINKTYPE_ERF && erf_type(p->data) == ERF_TYPE_PAD;
}

/* Returns the number of packets that a reader must find in the output. */
static unsigned long carry(struct input *in, struct output *out, const struct translation *way)
{
    struct packet from, to;
    struct remarks note;
    unsigned long n = 0;
    while (input_next(in, &from) == INPUT_PACKET)
        if (translate(way, &from, &to, &note) == CARRIED) {
            must(to.wirelen >= to.head_len + to.data_len);
            must(output_write(out, &to));
            n += !is_filler(way, &from);
        }
    return n;
}

static void copy_description(void *out, const struct capfile_description *described)
{
    must(output_describe(out, described));
}

static void convert(struct output_format *format)
{
    bool whole;
    GByteArray *made = memory_file_bytes(MEMORY_OUTPUT);
    struct input *in = input_open(memory_file_name(MEMORY_INPUT));
    if (!in)
        return;
    struct translation way = {.to = format->linktype,
                              .from_raw = input_is_raw_erf(in),
                              .to_raw = format->container == CONTAINER_RAW,
                              .container_time_wins = input_is_pcapng(in)};
    format->is_described = format->container == CONTAINER_PCAPNG && input_is_pcapng(in);
    struct output *out = output_open(memory_file_name(MEMORY_OUTPUT), format, input_fd(in));
    must(out != NULL);
    if (format->is_described)
        input_on_description(in, format->linktype == LINKTYPE_ERF, copy_description, out);
    unsigned long n = carry(in, out, &way);
    must(output_close(out));
    input_close(in);
    /*
     * Raw ERF has no magic number and starts with a timestamp. If the timestamp equals another
     * format's magic number, the file is read as that format. So overwrite its fraction; any value
     * will do.
     */
    enum { FRACTION = 4 };
    must(format->container != CONTAINER_RAW || n == 0 || made->len >= FRACTION);
    if (format->container == CONTAINER_RAW && n > 0)
        memset(made->data, 0, FRACTION);
    unsigned long found = read_all(MEMORY_OUTPUT, &whole);
    /* a raw ERF file without records is empty, so it is not a capture file */
    must(format->container == CONTAINER_RAW && n == 0 ? found == 0 : whole && found == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct output_format formats[] = {{CONTAINER_PCAP, LINKTYPE_INFINIBAND, ERF_MAX_LEN, false},
                                      {CONTAINER_PCAP, LINKTYPE_ERF, ERF_MAX_LEN, false},
                                      {CONTAINER_PCAPNG, LINKTYPE_INFINIBAND, ERF_MAX_LEN, false},
                                      {CONTAINER_PCAPNG, LINKTYPE_ERF, ERF_MAX_LEN, false},
                                      {CONTAINER_RAW, LINKTYPE_ERF, ERF_MAX_LEN, false}};
    bool whole;
    if (size > INPUT_MAX)
        return 0;
    GByteArray *file = memory_file_bytes(MEMORY_INPUT);
    g_byte_array_set_size(file, 0);
    g_byte_array_append(file, data, (guint)size);
    read_all(MEMORY_INPUT, &whole);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        convert(&formats[i]);
    return 0;
}
