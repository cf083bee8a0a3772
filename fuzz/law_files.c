/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The capture files of the law of degradation: each format in its variants. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz/law_cases.h"
#include "pcapio/capfile.h"
#include "rules/checker.h"
#include "wire/nanoseconds.h"

static const char *const names[LAW_FORMS] = {
    [LAW_NO_FILE] = "no-file",
    [LAW_PCAP] = "pcap",
    [LAW_PCAP_MICROSECONDS] = "pcap-microseconds",
    [LAW_PCAP_BIG_ENDIAN] = "pcap-big-endian",
    [LAW_PCAPNG] = "pcapng",
    [LAW_PCAPNG_BIG_ENDIAN] = "pcapng-big-endian",
    [LAW_ERF] = "erf",
    [LAW_ERF_IN_PCAP] = "erf-in-pcap",
};

const char *law_form_name(enum law_form form)
{
    return names[form];
}

bool law_form_called(const char *name, enum law_form *form)
{
    for (unsigned i = 0; i < LAW_FORMS; i++)
        if (strcmp(name, names[i]) == 0) {
            *form = (enum law_form)i;
            return true;
        }
    return false;
}

/* ---- which form */

static bool has_interfaces(const GArray *frames)
{
    for (guint i = 0; i < frames->len; i++)
        if (law_at(frames, i)->interface)
            return true;
    return false;
}

static bool is_possible(enum law_form form, int linktype, bool interfaces)
{
    bool erf = form == LAW_ERF || form == LAW_ERF_IN_PCAP;
    bool pcapng = form == LAW_PCAPNG || form == LAW_PCAPNG_BIG_ENDIAN;
    return (linktype == LINKTYPE_INFINIBAND || !erf) && (!interfaces || erf || pcapng);
}

struct law_file law_draw_file(int linktype, const GArray *frames, struct law_random *r)
{
    bool interfaces = has_interfaces(frames);
    struct law_file file = {LAW_NO_FILE, false};
    if (law_below(r, 4) > 0)
        return file;
    do
        file.form = LAW_PCAP + law_below(r, LAW_FORMS - LAW_PCAP);
    while (!is_possible(file.form, linktype, interfaces));
    file.gzip = law_below(r, 10) == 0;
    return file;
}

/* ---- numbers in the byte order of a file */

struct out {
    GByteArray *bytes;
    bool big_endian;
};

static void put(struct out *o, uint64_t value, unsigned octets)
{
    uint8_t b[8];
    for (unsigned i = 0; i < octets; i++)
        b[o->big_endian ? octets - 1 - i : i] = (uint8_t)(value >> 8 * i);
    g_byte_array_append(o->bytes, b, octets);
}

static void put_bytes(struct out *o, const uint8_t *bytes, guint n)
{
    g_byte_array_append(o->bytes, bytes, n);
}

/* ---- ERF */

enum { ERF_HEADER = 16, ERF_INFINIBAND = 21, ERF_VARIES = 4, FRACTION_BITS = 32 };

static void put_erf(struct out *o, const struct law_frame *f)
{
    struct out big = {o->bytes, true}, little = {o->bytes, false};
    uint64_t fraction = (uint64_t)(f->ns % NANOSECONDS) << FRACTION_BITS;
    put(&little, fraction / NANOSECONDS, 4);
    put(&little, (uint64_t)(f->ns / NANOSECONDS), 4);
    put(&big, ERF_INFINIBAND, 1);
    put(&big, ERF_VARIES | f->interface, 1);
    put(&big, ERF_HEADER + f->cap, 2);
    put(&big, 0, 2); /* no loss */
    put(&big, f->wire, 2);
    put_bytes(o, f->bytes, f->cap);
}

/* ---- pcap */

enum { PCAP_MAGIC_US = 0xa1b2c3d4, PCAP_MAGIC_NS = 0xa1b23c4d, SNAPLEN = 262144 };

static void put_pcap_header(struct out *o, uint32_t magic, int linktype)
{
    put(o, magic, 4);
    put(o, 2, 2);
    put(o, 4, 2);
    put(o, 0, 8);
    put(o, SNAPLEN, 4);
    put(o, (uint64_t)linktype, 4);
}

static void put_pcap_record(struct out *o, const struct law_frame *f, int64_t unit, guint header)
{
    put(o, (uint64_t)(f->ns / NANOSECONDS), 4);
    put(o, (uint64_t)(f->ns % NANOSECONDS / unit), 4);
    put(o, header + f->cap, 4);
    put(o, header + f->wire, 4);
}

static void put_pcap(struct out *o, int linktype, const GArray *frames, int64_t unit)
{
    put_pcap_header(o, unit == 1 ? PCAP_MAGIC_NS : PCAP_MAGIC_US, linktype);
    for (guint i = 0; i < frames->len; i++) {
        const struct law_frame *f = law_at(frames, i);
        put_pcap_record(o, f, unit, 0);
        put_bytes(o, f->bytes, f->cap);
    }
}

static void put_erf_in_pcap(struct out *o, const GArray *frames)
{
    put_pcap_header(o, PCAP_MAGIC_NS, LINKTYPE_ERF);
    for (guint i = 0; i < frames->len; i++) {
        put_pcap_record(o, law_at(frames, i), 1, ERF_HEADER);
        put_erf(o, law_at(frames, i));
    }
}

/* ---- pcapng */

enum {
    SECTION = 0x0a0d0d0a,
    PCAPNG_ORDER = 0x1a2b3c4d,
    INTERFACE = 1,
    PACKET = 6,
    BLOCK_ENDS = 12,
    TSRESOL = 9,
    OF_NS = 9,
};

static void put_section(struct out *o)
{
    uint32_t length = BLOCK_ENDS + 16;
    put(o, SECTION, 4);
    put(o, length, 4);
    put(o, PCAPNG_ORDER, 4);
    put(o, 1, 2);
    put(o, 0, 2);
    put(o, UINT64_MAX, 8);
    put(o, length, 4);
}

static void put_interface(struct out *o, int linktype)
{
    static const uint8_t of_ns[4] = {OF_NS};
    uint32_t length = BLOCK_ENDS + 8 + 12;
    put(o, INTERFACE, 4);
    put(o, length, 4);
    put(o, (uint64_t)linktype, 2);
    put(o, 0, 2);
    put(o, 0, 4); /* no snaplen */
    put(o, TSRESOL, 2);
    put(o, 1, 2);
    put_bytes(o, of_ns, sizeof(of_ns));
    put(o, 0, 4); /* end of options */
    put(o, length, 4);
}

static void put_packet(struct out *o, const struct law_frame *f)
{
    static const uint8_t padding[3];
    uint32_t padded = (f->cap + 3) & ~3u, length = BLOCK_ENDS + 20 + padded;
    put(o, PACKET, 4);
    put(o, length, 4);
    put(o, f->interface, 4);
    put(o, (uint64_t)f->ns >> 32, 4);
    put(o, (uint32_t)f->ns, 4);
    put(o, f->cap, 4);
    put(o, f->wire, 4);
    put_bytes(o, f->bytes, f->cap);
    put_bytes(o, padding, padded - f->cap);
    put(o, length, 4);
}

static void put_pcapng(struct out *o, int linktype, const GArray *frames)
{
    uint32_t last = 0;
    for (guint i = 0; i < frames->len; i++)
        last = MAX(last, law_at(frames, i)->interface);
    put_section(o);
    for (uint32_t i = 0; i <= last; i++)
        put_interface(o, linktype);
    for (guint i = 0; i < frames->len; i++)
        put_packet(o, law_at(frames, i));
}

/* ---- a file */

static GByteArray *plain_bytes(int linktype, const GArray *frames, enum law_form form)
{
    struct out o = {g_byte_array_new(),
                    form == LAW_PCAP_BIG_ENDIAN || form == LAW_PCAPNG_BIG_ENDIAN};
    if (form == LAW_NO_FILE || form == LAW_PCAPNG || form == LAW_PCAPNG_BIG_ENDIAN)
        put_pcapng(&o, linktype, frames);
    else if (form == LAW_ERF_IN_PCAP)
        put_erf_in_pcap(&o, frames);
    else if (form != LAW_ERF)
        put_pcap(&o, linktype, frames, form == LAW_PCAP_MICROSECONDS ? 1000 : 1);
    else
        for (guint i = 0; i < frames->len; i++)
            put_erf(&o, law_at(frames, i));
    return o.bytes;
}

static GByteArray *gzipped(GByteArray *plain)
{
    enum { GZIP_WINDOW = 15 + 16, MEMORY = 8 };
    z_stream z = {.next_in = plain->data, .avail_in = plain->len};
    GByteArray *out = g_byte_array_new();
    if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    g_byte_array_set_size(out, (guint)deflateBound(&z, plain->len));
    z.next_out = out->data;
    z.avail_out = out->len;
    deflate(&z, Z_FINISH);
    g_byte_array_set_size(out, (guint)z.total_out);
    deflateEnd(&z);
    g_byte_array_unref(plain);
    return out;
}

GByteArray *law_file_bytes(int linktype, const GArray *frames, struct law_file file)
{
    GByteArray *plain = plain_bytes(linktype, frames, file.form);
    return file.gzip ? gzipped(plain) : plain;
}

static void fail(const char *what, const GError *error)
{
    fprintf(stderr, "law-chains: %s: %s\n", what, error ? error->message : "no memory");
    exit(2);
}

/* A file in memory. Returns its descriptor. */
static int memory_file(const GByteArray *bytes)
{
    int fd = memfd_create("law", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes->data, bytes->len) != (ssize_t)bytes->len)
        fail("cannot write a file in memory", NULL);
    return fd;
}

static void check_file(const char *path, GHashTable *found)
{
    GError *error = NULL;
    struct capfile *file = capfile_open(path, &error);
    struct checker *checker = law_checker(found);
    struct capfile_frame f;
    enum capfile_result result = CAPFILE_ERROR;
    while (file && (result = capfile_next(file, &f, &error)) == CAPFILE_FRAME)
        checker_frame(checker, &(struct capture_frame){f.number, f.interface, f.linktype,
                                                       capfile_time(file, &f),
                                                       view_make(f.bytes, f.caplen, f.wirelen)});
    if (result != CAPFILE_END)
        fail("cannot read the file that it wrote", error);
    checker_free(checker);
    capfile_close(file);
}

GHashTable *law_violations_in_file(int linktype, const GArray *frames, struct law_file file)
{
    GHashTable *found = law_violations_new();
    GByteArray *bytes = law_file_bytes(linktype, frames, file);
    int fd = memory_file(bytes);
    char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    check_file(path, found);
    g_free(path);
    close(fd);
    g_byte_array_unref(bytes);
    return found;
}

/* ---- captures */

/* An ERF record's InfiniBand packet is taken out of it; its port is the interface. */
static bool packet_of(const struct capfile *file, const struct capfile_frame *f,
                      struct law_frame *out, int *linktype)
{
    struct link_frame c;
    *linktype = f->linktype;
    *out = (struct law_frame){.interface = f->interface,
                              .cap = f->caplen,
                              .wire = f->wirelen,
                              .ns = capfile_time(file, f),
                              .bytes = f->bytes};
    if (f->linktype != LINKTYPE_ERF)
        return true;
    struct view v = view_make(f->bytes, f->caplen, f->wirelen);
    if (link_frame_locate(f->linktype, v, &c) != WIRE_OK || c.start != IB_START_LRH)
        return false;
    *linktype = LINKTYPE_INFINIBAND;
    out->interface = c.port;
    out->bytes = c.inner.p;
    out->cap = c.inner.cap;
    out->wire = c.inner.len;
    return true;
}

static void add_frame(struct law_capture **c, const struct capfile *file,
                      const struct capfile_frame *f)
{
    struct law_frame frame;
    int linktype;
    if (!packet_of(file, f, &frame, &linktype))
        return;
    if (!*c)
        *c = law_capture_new(linktype);
    if (linktype == (*c)->linktype)
        law_add(*c, &frame);
}

struct law_capture *law_read(const char *path, GError **error)
{
    struct capfile *file = capfile_open(path, error);
    struct law_capture *c = NULL;
    struct capfile_frame f;
    enum capfile_result result;
    if (!file)
        return NULL;
    while ((result = capfile_next(file, &f, error)) == CAPFILE_FRAME)
        add_frame(&c, file, &f);
    capfile_close(file);
    if (result == CAPFILE_ERROR) {
        if (c)
            law_capture_free(c);
        return NULL;
    }
    if (c)
        law_check(c);
    return c;
}
