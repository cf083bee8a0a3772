/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads raw ERF files. See erffile.h. */
#include "pcapio/erffile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "pcapio/erf.h"
#include "pcapio/error.h"
#include "wire/linktype.h"
#include "wire/nanoseconds.h"

struct erffile {
    FILE *file;
    bool keeps_padding;
    uint32_t frames;
    uint64_t offset; /* offset in the file of the record in the buffer */
    size_t have;     /* bytes of the record in the buffer */
    uint8_t record[ERF_MAX_LEN];
};

/*
 * Fills the buffer up to NEED bytes. Returns false at the end of the file or on an error (see
 * ferror).
 */
static bool fill_buffer(struct erffile *erf, size_t need)
{
    if (erf->have < need)
        erf->have += fread(erf->record + erf->have, 1, need - erf->have, erf->file);
    return erf->have >= need;
}

static bool header_is_possible(const uint8_t *rec)
{
    return erf_rlen(rec) >= ERF_HEADER_LEN && erf_type(rec) != ERF_TYPE_LEGACY &&
           erf_type(rec) <= ERF_TYPE_PAD;
}

static void set_read_error(GError **error)
{
    g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "cannot be read: %s", strerror(errno));
}

struct erffile *erffile_open(FILE *file, GError **error)
{
    struct erffile *erf = g_new(struct erffile, 1);

    erf->file = file;
    erf->keeps_padding = false;
    erf->frames = 0;
    erf->offset = 0;
    erf->have = 0;
    if (fill_buffer(erf, ERF_HEADER_LEN) && header_is_possible(erf->record))
        return erf;
    if (ferror(file))
        set_read_error(error);
    else
        g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_FORMAT,
                            "is no capture file: neither pcap nor pcapng nor ERF");
    g_free(erf);
    return NULL;
}

void erffile_close(struct erffile *erf)
{
    g_free(erf);
}

void erffile_keep_padding(struct erffile *erf)
{
    erf->keeps_padding = true;
}

/* Reports that the file ended within a record or cannot be read. */
static enum capfile_result truncated_record(const struct erffile *erf, GError **error)
{
    if (ferror(erf->file))
        set_read_error(error);
    else
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_TRUNCATED,
                    "is cut short: the record at offset %" PRIu64 " has only %zu bytes",
                    erf->offset, erf->have);
    return CAPFILE_ERROR;
}

/* Reads the next record into the buffer. */
static enum capfile_result read_record(struct erffile *erf, GError **error)
{
    if (!fill_buffer(erf, ERF_HEADER_LEN))
        return erf->have == 0 && !ferror(erf->file) ? CAPFILE_END : truncated_record(erf, error);
    if (!header_is_possible(erf->record)) {
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_MALFORMED,
                    "is malformed: no ERF record at offset %" PRIu64, erf->offset);
        return CAPFILE_ERROR;
    }
    if (!fill_buffer(erf, erf_rlen(erf->record)))
        return truncated_record(erf, error);
    return CAPFILE_FRAME;
}

/* The time of a record, ns since 1970; 0 if the record is malformed. */
static int64_t record_ns(const uint8_t *record, size_t len)
{
    struct erf_record rec;
    int64_t sec;
    uint32_t ns;

    if (!erf_parse(record, len, &rec))
        return 0;
    erf_split(rec.time, &sec, &ns);
    return nanoseconds_of(sec, ns);
}

enum capfile_result erffile_next(struct erffile *erf, struct capfile_frame *out, GError **error)
{
    enum capfile_result result;
    uint32_t len;

    do {
        result = read_record(erf, error);
        if (result != CAPFILE_FRAME)
            return result;
        len = (uint32_t)erf->have;
        erf->offset += len;
        erf->have = 0;
    } while (erf_type(erf->record) == ERF_TYPE_PAD && !erf->keeps_padding);
    *out = (struct capfile_frame){
        .number = ++erf->frames,
        .linktype = LINKTYPE_ERF,
        .ns = record_ns(erf->record, len),
        .caplen = len,
        .wirelen = len,
        .bytes = erf->record,
    };
    return CAPFILE_FRAME;
}
