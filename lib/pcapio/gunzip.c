/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decompresses a stream. See gunzip.h. */
#include "pcapio/gunzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "pcapio/error.h"

enum { INPUT_LEN = 1 << 16, GZIP_FORMAT = 16 + MAX_WBITS };

struct gunzip {
    FILE *in;
    z_stream z;
    bool in_member; /* the end of the current gzip member has not been seen */
    bool ended;     /* nothing more will be read */
    GError *error;  /* why it ended too early; NULL if it did not */
    uint8_t input[INPUT_LEN];
};

struct gunzip *gunzip_open(FILE *in)
{
    struct gunzip *g = g_new0(struct gunzip, 1);

    g->in = in;
    if (inflateInit2(&g->z, GZIP_FORMAT) == Z_OK)
        return g;
    g_free(g);
    return NULL;
}

void gunzip_close(struct gunzip *g)
{
    if (!g)
        return;
    inflateEnd(&g->z);
    g_clear_error(&g->error);
    g_free(g);
}

static void fail_gunzip(struct gunzip *g, enum pcapio_error code, const char *why)
{
    g->ended = true;
    g_set_error_literal(&g->error, PCAPIO_ERROR, (gint)code, why);
}

static void fail_corrupt(struct gunzip *g)
{
    fail_gunzip(g, PCAPIO_ERROR_MALFORMED, "the compressed data is corrupt");
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
    g->ended = true;
    if (ferror(g->in))
        fail_gunzip(g, PCAPIO_ERROR_SYSTEM, strerror(errno));
    else if (g->in_member)
        fail_gunzip(g, PCAPIO_ERROR_TRUNCATED, "the compressed data is truncated");
    return false;
}

/* The end of a member: another one may follow (RFC 1952 section 2.2). */
static void next_member(struct gunzip *g)
{
    g->in_member = false;
    if (inflateReset(&g->z) != Z_OK)
        fail_corrupt(g);
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
            fail_corrupt(g);
    }
    return (ssize_t)(room - g->z.avail_out);
}

FILE *gunzip_stream(struct gunzip *g)
{
    return fopencookie(g, "rb", (cookie_io_functions_t){.read = stream_read});
}

const GError *gunzip_error(const struct gunzip *g)
{
    return g->error;
}
