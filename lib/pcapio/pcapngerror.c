/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the reader of pcapng files. See pcapngreader.h. */
#include <inttypes.h>

#include "pcapio/error.h"
#include "pcapio/pcapngreader.h"

enum capfile_result pcapng_malformed(const struct pcapngfile *ng, const char *why, GError **error)
{
    g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_MALFORMED,
                "is malformed: the block at offset %" PRIu64 " %s", ng->offset, why);
    return CAPFILE_ERROR;
}

enum capfile_result pcapng_no_memory(GError **error)
{
    g_set_error_literal(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "out of memory");
    return CAPFILE_ERROR;
}
