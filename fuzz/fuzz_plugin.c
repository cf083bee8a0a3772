/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the plugin inside Wireshark's own library: the input is a capture (fuzz/frames.h). It is
 * dissected as in Wireshark: a first pass over all frames, then a second one. The plugin must
 * report the same rules in both. Wireshark loads no plugins for root: script/with-plugins runs this
 * as user nobody.
 *
 * Opening and closing a file takes Wireshark longer than dissecting an input. So several inputs
 * make one file, each continuing the previous one: IPOIB_FUZZ_RESET sets how many (default 64; 1:
 * one file per input). A crash may then depend on earlier inputs of its file. IPOIB_FUZZ_SEQUENCE
 * names a file to which all inputs of the current file are written, including the last one. That
 * file can be used as an input: SEQUENCE_MAGIC, then each input after its length (32 bits,
 * big-endian). Wireshark's file is closed before and after it.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <epan/epan.h>
#include <epan/epan_dissect.h>
#include <epan/frame_data.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/tvbuff.h>
#include <wiretap/wtap.h>
#include <wsutil/filesystem.h>
#include <wsutil/privileges.h>
#include <wsutil/wslog.h>

#include "fuzz/frames.h"
#include "fuzz/linktypes.h"
#include "fuzz/mutate.h"
#include "wire/erf.h"
#include "wire/linktype.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEQUENCE_MAGIC "ipoibseq"
enum {
    FRAMES_MAX = 4096,
    INPUTS_EACH = 64,
    MAGIC_SIZE = sizeof SEQUENCE_MAGIC - 1,
    LENGTH_SIZE = 4
};

struct fuzzed_frame {
    struct fuzz_frame in; /* its bytes are valid while its input is dissected */
    nstime_t time;
    frame_data data;
    char *found; /* identifiers of the rules that the first pass reported */
};

/* The file that Wireshark has open. */
static struct {
    epan_t *epan; /* NULL: no file is open */
    GPtrArray *frames;
    unsigned inputs;
    int64_t milliseconds;
    nstime_t elapsed;
    const frame_data *first;
    guint32 bytes;
} file;

static unsigned inputs_each = INPUTS_EACH;
static int sequence = -1; /* stores the inputs of the open file; -1: not requested */
static int hf_rule;

/*
 * Disables dissectors that pass payloads on to other dissectors, because their bugs are not ours.
 * IP, ARP and ND stay enabled.
 */
static void disable_dissectors(void)
{
    static const char *const dissectors[] = {"tcp",       "udp",  "sctp", "rpcordma", "smb_direct",
                                             "nvme-rdma", "iser", "sdp",  "rds",      "eth"};
    for (size_t i = 0; i < sizeof dissectors / sizeof *dissectors; i++) {
        int proto = proto_get_id_by_filter_name(dissectors[i]);
        if (proto >= 0 && proto_can_toggle_protocol(proto))
            proto_set_decoding(proto, FALSE);
    }
}

static void read_environment(void)
{
    const char *each = getenv("IPOIB_FUZZ_RESET"), *path = getenv("IPOIB_FUZZ_SEQUENCE");
    unsigned long n = each ? strtoul(each, NULL, 10) : 0;
    if (n > 0 && n <= UINT_MAX)
        inputs_each = (unsigned)n;
    if (path && (sequence = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) < 0) {
        perror(path);
        exit(2);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): libFuzzer's signature */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    read_environment();
    setenv("WIRESHARK_ABORT_ON_DISSECTOR_BUG", "1", 1);
    /* else Wireshark reads the names of all manufacturers for each capture */
    setenv("WIRESHARK_DATA_DIR", "/nonexistent", 1);
    /* else the debug messages of every heuristic are printed */
    ws_log_init("fuzz_plugin", NULL);
    init_process_policies();
    char *error = configuration_init((*argv)[0], NULL);
    g_free(error);
    wtap_init(TRUE);
    if (!epan_init(NULL, NULL, TRUE))
        abort();
    epan_load_settings();
    prefs_apply_all();
    disable_dissectors();
    hf_rule = proto_registrar_get_id_byname("ipoib.rule.id");
    if (hf_rule < 0) {
        fprintf(
            stderr,
            "fuzz_plugin: the plugin was not loaded: run it by script/with-plugins, not as root\n");
        exit(2);
    }
    return 0;
}

static const nstime_t *frame_time(struct packet_provider_data *provider, guint32 number)
{
    (void)provider;
    if (number < 1 || number > file.frames->len)
        return NULL;
    const struct fuzzed_frame *f = file.frames->pdata[number - 1];
    return &f->time;
}

static int encapsulation_of(int linktype)
{
    switch (linktype) {
#define LINKTYPE(name, number, wiretap, headers)                                                   \
    case number:                                                                                   \
        return WTAP_ENCAP_##wiretap;
#include "wire/linktypes.def"
#undef LINKTYPE
    default:
        return WTAP_ENCAP_UNKNOWN;
    }
}

/*
 * Of an ERF record, Wireshark's file reader takes the header. Its type is always the one for
 * InfiniBand.
 */
static void set_record(wtap_rec *rec, const struct fuzzed_frame *f)
{
    int linktype = linktype_of(f->in.linktype);
    uint32_t head = linktype == LINKTYPE_ERF ? MIN(ERF_HEADER_LEN, f->in.captured) : 0;
    memset(rec, 0, sizeof *rec);
    rec->rec_type = REC_TYPE_PACKET;
    rec->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN | WTAP_HAS_INTERFACE_ID;
    rec->ts = f->time;
    rec->tsprec = WTAP_TSPREC_NSEC;
    rec->rec_header.packet_header.caplen = f->in.captured - head;
    rec->rec_header.packet_header.len = f->in.length - head;
    rec->rec_header.packet_header.pkt_encap = encapsulation_of(linktype);
    rec->rec_header.packet_header.interface_id = f->in.interface;
    if (linktype == LINKTYPE_ERF) {
        struct erf_phdr *erf = &rec->rec_header.packet_header.pseudo_header.erf.phdr;
        erf->type = ERF_TYPE_INFINIBAND;
        erf->rlen = (guint16)f->in.captured;
        erf->wlen = (guint16)rec->rec_header.packet_header.len;
    }
}

static char *found_in(epan_dissect_t *edt)
{
    GString *text = g_string_new(NULL);
    GPtrArray *all = proto_all_finfos(edt->tree);
    for (guint i = 0; i < all->len; i++) {
        const field_info *f = all->pdata[i];
        if (f->hfinfo->id == hf_rule)
            g_string_append_printf(text, "%s ", fvalue_get_string((fvalue_t *)&f->value));
    }
    g_ptr_array_free(all, TRUE);
    return g_string_free(text, FALSE);
}

static void dissect(struct fuzzed_frame *f)
{
    wtap_rec rec;
    set_record(&rec, f);
    uint32_t n = rec.rec_header.packet_header.caplen;
    uint8_t *bytes = g_malloc(n ? n : 1);
    memcpy(bytes, f->in.bytes + (f->in.captured - n), n);
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the tvb frees bytes */
    tvbuff_t *tvb = tvb_new_real_data(bytes, n, (gint)rec.rec_header.packet_header.len);
    tvb_set_free_cb(tvb, g_free);
    epan_dissect_t *edt = epan_dissect_new(file.epan, TRUE, TRUE);
    epan_dissect_run(edt, WTAP_FILE_TYPE_SUBTYPE_UNKNOWN, &rec, tvb, &f->data, NULL);
    char *found = found_in(edt);
    if (f->found && strcmp(found, f->found) != 0) {
        fprintf(stderr, "frame %u: first pass \"%s\", then \"%s\"\n", f->data.num, f->found, found);
        abort();
    }
    g_free(f->found);
    f->found = found;
    epan_dissect_free(edt);
}

static void open_file(void)
{
    static const struct packet_provider_funcs functions = {.get_frame_ts = frame_time};
    memset(&file, 0, sizeof file);
    file.frames = g_ptr_array_new();
    file.epan = epan_new(NULL, &functions);
    if (sequence >= 0 && (ftruncate(sequence, 0) != 0 || lseek(sequence, 0, SEEK_SET) != 0 ||
                          write(sequence, SEQUENCE_MAGIC, MAGIC_SIZE) != MAGIC_SIZE))
        abort();
}

static void close_file(void)
{
    if (!file.epan)
        return;
    for (guint i = 0; i < file.frames->len; i++) {
        struct fuzzed_frame *f = file.frames->pdata[i];
        frame_data_destroy(&f->data);
        g_free(f->found);
        g_free(f);
    }
    g_ptr_array_free(file.frames, TRUE);
    epan_free(file.epan);
    file.epan = NULL;
}

/* Called before the input is dissected, so that a crash does not lose it. */
static void remember(const uint8_t *data, size_t size)
{
    const uint8_t length[LENGTH_SIZE] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16),
                                         (uint8_t)(size >> 8), (uint8_t)size};
    if (sequence >= 0 && (write(sequence, length, LENGTH_SIZE) != LENGTH_SIZE ||
                          write(sequence, data, size) != (ssize_t)size))
        abort();
}

static struct fuzzed_frame *add_frame(const struct fuzz_frame *in)
{
    guint32 n = file.frames->len;
    struct fuzzed_frame *f = g_new0(struct fuzzed_frame, 1);
    wtap_rec rec;
    file.milliseconds += in->milliseconds;
    f->in = *in;
    f->time = (nstime_t){.secs = file.milliseconds / 1000,
                         .nsecs = (int)(file.milliseconds % 1000 * 1000000)};
    const struct fuzzed_frame *before = n ? file.frames->pdata[n - 1] : NULL;
    g_ptr_array_add(file.frames, f);
    set_record(&rec, f);
    frame_data_init(&f->data, n + 1, &rec, 0, file.bytes);
    frame_data_set_before_dissect(&f->data, &file.elapsed, &file.first,
                                  before ? &before->data : NULL);
    return f;
}

static void dissect_input(const uint8_t *data, size_t size)
{
    struct fuzz_frame in;
    guint first = file.frames->len;
    for (unsigned n = 0; n < FRAMES_MAX && fuzz_next_frame(&data, &size, &in); n++) {
        struct fuzzed_frame *f = add_frame(&in);
        dissect(f);
        frame_data_set_after_dissect(&f->data, &file.bytes);
    }
    for (guint i = first; i < file.frames->len; i++)
        dissect(file.frames->pdata[i]);
}

static void run_input(const uint8_t *data, size_t size)
{
    if (!file.epan)
        open_file();
    remember(data, size);
    dissect_input(data, size);
    if (++file.inputs >= inputs_each)
        close_file();
}

/* Runs the inputs of one file, in the format of IPOIB_FUZZ_SEQUENCE. */
static void run_sequence(const uint8_t *data, size_t size)
{
    const unsigned each = inputs_each;
    inputs_each = UINT_MAX;
    close_file();
    while (size >= LENGTH_SIZE) {
        size_t length = (size_t)data[0] << 24 | (size_t)data[1] << 16 | (size_t)data[2] << 8 |
                        data[3];
        length = MIN(length, size - LENGTH_SIZE);
        run_input(data + LENGTH_SIZE, length);
        data += LENGTH_SIZE + length;
        size -= LENGTH_SIZE + length;
    }
    close_file();
    inputs_each = each;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= MAGIC_SIZE && memcmp(data, SEQUENCE_MAGIC, MAGIC_SIZE) == 0)
        run_sequence(data + MAGIC_SIZE, size - MAGIC_SIZE);
    else
        run_input(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_capture(data, size, most, seed);
}
