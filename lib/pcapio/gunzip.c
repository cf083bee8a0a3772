/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompresses a stream. See gunzip.h. */
#include "pcapio/gunzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { INPUT_LEN = 1 << 16, GZIP_FORMAT = 16 + MAX_WBITS };

struct gunzip {
    FILE *in;
    z_stream z;
    bool in_member; /* the end of the current gzip member has not been seen */
    bool ended;     /* nothing more will be read */
    const char *fault;
    uint8_t input[INPUT_LEN];
};

struct gunzip *gunzip_open(FILE *in)
{
    struct gunzip *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->in = in;
    if (inflateInit2(&g->z, GZIP_FORMAT) == Z_OK)
        return g;
    free(g);
    return NULL;
}

void gunzip_close(struct gunzip *g)
{
    if (!g)
        return;
    inflateEnd(&g->z);
    free(g);
}

static void end_gunzip(struct gunzip *g, const char *fault)
{
    g->ended = true;
    g->fault = fault;
}

/* Reads more input if there is none left. Returns false at its end. */
static bool refill(struct gunzip *g)
{
    if (g->z.avail_in > 0)
        return true;
    g->z.next_in = g->input;
    g->z.avail_in = (uInt)fread(g->input, 1, sizeof(g->input), g->in);
    if (g->z.avail_in > 0)
        return true;
    end_gunzip(g, ferror(g->in)  ? strerror(errno)
                  : g->in_member ? "the compressed data is truncated"
                                 : NULL);
    return false;
}

/* The end of a member: another one may follow (RFC 1952 section 2.2). */
static void next_member(struct gunzip *g)
{
    g->in_member = false;
    if (inflateReset(&g->z) != Z_OK)
        end_gunzip(g, "the compressed data is corrupt");
}

static ssize_t stream_read(void *cookie, char *out, size_t n)
{
    struct gunzip *g = cookie;
    size_t room = n > INPUT_LEN ? INPUT_LEN : n;

    g->z.next_out = (Bytef *)out;
    g->z.avail_out = (uInt)room;
    while (g->z.avail_out == room && !g->ended && refill(g)) {
        int result;

        g->in_member = true;
        result = inflate(&g->z, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            next_member(g);
        else if (result != Z_OK)
            end_gunzip(g, "the compressed data is corrupt");
    }
    return (ssize_t)(room - g->z.avail_out);
}

FILE *gunzip_stream(struct gunzip *g)
{
    return fopencookie(g, "rb", (cookie_io_functions_t){.read = stream_read});
}

const char *gunzip_fault(const struct gunzip *g)
{
    return g->fault;
}
