/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of the reader of pcapng files. See pcapngreader.h. */
#include <inttypes.h>

#include "pcapio/pcapngreader.h"

enum capfile_result pcapng_damaged(struct pcapngfile *ng, const char *why)
{
    snprintf(ng->error, CAPFILE_ERROR_LEN, "damaged: the block at offset %" PRIu64 " %s",
             ng->offset, why);
    return CAPFILE_ERROR;
}

enum capfile_result pcapng_no_memory(struct pcapngfile *ng)
{
    snprintf(ng->error, CAPFILE_ERROR_LEN, "out of memory");
    return CAPFILE_ERROR;
}
