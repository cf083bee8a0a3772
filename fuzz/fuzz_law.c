/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the law of degradation (fuzz/law.h). The input is a chain, then a capture as fuzz/frames.h
 * has it. The chain: a byte with the number of steps, then LAW_STEPS steps of a byte for the kind
 * and 4 bytes for the seed.
 *
 * libFuzzer changes the chain only: a frame with changed bytes is no frame that a conformant sender
 * sent, so its capture has no claim to the law. The harness therefore keeps every capture that it
 * has read and checked: a new chain changes neither.
 */
#include <string.h>

#include "fuzz/frames.h"
#include "fuzz/law.h"
#include "fuzz/linktypes.h"
#include "fuzz/must.h"

enum { STEP_OCTETS = 5, CHAIN_OCTETS = 1 + LAW_STEPS * STEP_OCTETS, CAPTURES_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
                                 size_t two_size, uint8_t *out, size_t most, unsigned seed);

static struct law_chain chain_of(const uint8_t *data)
{
    struct law_chain chain = {.n = data[0] % (LAW_STEPS + 1)};
    for (size_t i = 0; i < chain.n; i++) {
        const uint8_t *p = data + 1 + i * STEP_OCTETS;
        chain.steps[i].kind = p[0] % LAW_KINDS;
        memcpy(&chain.steps[i].seed, p + 1, 4);
    }
    return chain;
}

/* Only the frames of the first one's link type, up to a frame that is not complete. */
static struct law_capture *capture_of(const uint8_t *data, size_t size)
{
    struct law_capture *c = NULL;
    struct fuzz_frame f;
    int64_t ns = 0;
    while (fuzz_next_frame(&data, &size, &f)) {
        if (!c)
            c = law_capture_new(linktype_of(f.linktype));
        ns += f.milliseconds * 1000000LL;
        if (linktype_of(f.linktype) == c->linktype)
            law_add(c, &(struct law_frame){.interface = f.interface,
                                           .cap = f.captured,
                                           .wire = f.length,
                                           .ns = ns,
                                           .bytes = f.bytes});
    }
    return c;
}

/* The capture, after law_check(). It remains in the table. NULL: no frames. */
static const struct law_capture *checked_capture(const uint8_t *data, size_t size)
{
    static GHashTable *captures; /* of the bytes of an input after the chain */
    if (!captures)
        captures = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
                                         (GDestroyNotify)law_capture_free);
    GBytes *key = g_bytes_new_static(data, size);
    struct law_capture *c = g_hash_table_lookup(captures, key);
    g_bytes_unref(key);
    if (c || !(c = capture_of(data, size)))
        return c;
    law_check(c);
    if (g_hash_table_size(captures) == CAPTURES_MAX)
        g_hash_table_remove_all(captures);
    g_hash_table_insert(captures, g_bytes_new(data, size), c);
    return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= CHAIN_OCTETS)
        return 0;
    struct law_chain chain = chain_of(data);
    const struct law_capture *c = checked_capture(data + CHAIN_OCTETS, size - CHAIN_OCTETS);
    if (!c)
        return 0;
    law_make_valid(c, &chain);
    char *broken = law_broken_by(c, &chain);
    must_say(!broken, broken);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    (void)seed;
    if (size < CHAIN_OCTETS || most < CHAIN_OCTETS)
        return size;
    uint8_t chain[CHAIN_OCTETS];
    memcpy(chain, data, CHAIN_OCTETS);
    size_t n = LLVMFuzzerMutate(chain, CHAIN_OCTETS, CHAIN_OCTETS);
    memcpy(data, chain, n);
    return size;
}

/* The chain of one, the capture of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size, const uint8_t *two,
                                 size_t two_size, uint8_t *out, size_t most, unsigned seed)
{
    (void)seed;
    if (one_size < CHAIN_OCTETS || two_size < CHAIN_OCTETS || two_size > most)
        return 0;
    memcpy(out, two, two_size);
    memcpy(out, one, CHAIN_OCTETS);
    return two_size;
}
