/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads raw ERF files. See erffile.h. */
#include "pcapio/erffile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/erf.h"

struct erffile {
    FILE *file;
    char *error;
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

struct erffile *erffile_open(FILE *file, char error[ERFFILE_ERROR_LEN])
{
    struct erffile *erf = malloc(sizeof(*erf));

    if (!erf) {
        snprintf(error, ERFFILE_ERROR_LEN, "out of memory");
        return NULL;
    }
    erf->file = file;
    erf->error = error;
    erf->offset = 0;
    erf->have = 0;
    if (fill_buffer(erf, ERF_HEADER_LEN) && header_is_possible(erf->record))
        return erf;
    if (ferror(file))
        snprintf(error, ERFFILE_ERROR_LEN, "cannot be read: %s", strerror(errno));
    else
        snprintf(error, ERFFILE_ERROR_LEN, "is no capture file: neither pcap nor pcapng nor ERF");
    free(erf);
    return NULL;
}

void erffile_close(struct erffile *erf)
{
    free(erf);
}

/* Reports that the file ended within a record or cannot be read. */
static enum input_result truncated_record(const struct erffile *erf)
{
    if (ferror(erf->file))
        snprintf(erf->error, ERFFILE_ERROR_LEN, "cannot be read: %s", strerror(errno));
    else
        snprintf(erf->error, ERFFILE_ERROR_LEN,
                 "is cut short: the record at offset %" PRIu64 " has only %zu bytes", erf->offset,
                 erf->have);
    return INPUT_ERROR;
}

enum input_result erffile_next(struct erffile *erf, struct packet *out)
{
    struct erf_record rec;

    if (!fill_buffer(erf, ERF_HEADER_LEN))
        return erf->have == 0 && !ferror(erf->file) ? INPUT_END : truncated_record(erf);
    if (!header_is_possible(erf->record)) {
        snprintf(erf->error, ERFFILE_ERROR_LEN, "damaged: no ERF record at offset %" PRIu64,
                 erf->offset);
        return INPUT_ERROR;
    }
    if (!fill_buffer(erf, erf_rlen(erf->record)))
        return truncated_record(erf);

    out->data = erf->record;
    out->data_len = (uint32_t)erf->have;
    out->wirelen = out->data_len;
    if (erf_parse(erf->record, erf->have, &rec))
        erf_split(rec.time, &out->sec, &out->ns);
    erf->offset += erf->have;
    erf->have = 0;
    return INPUT_PACKET;
}
