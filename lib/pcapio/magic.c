/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects file formats from the first bytes. See magic.h. */
#include "pcapio/magic.h"

#include <stddef.h>
#include <string.h>

bool magic_is_pcapng(const uint8_t bytes[MAGIC_LEN])
{
    return memcmp(bytes, "\x0a\x0d\x0d\x0a", MAGIC_LEN) == 0;
}

bool magic_is_pcap(const uint8_t bytes[MAGIC_LEN])
{
    static const uint8_t known[][MAGIC_LEN] = {
        {0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d},
        {0x4d, 0x3c, 0xb2, 0xa1}, {0xa1, 0xb2, 0xcd, 0x34}, {0x34, 0xcd, 0xb2, 0xa1},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (memcmp(bytes, known[i], MAGIC_LEN) == 0)
            return true;
    return false;
}

const struct compression *magic_compression(const uint8_t bytes[MAGIC_LEN])
{
    static const struct {
        uint8_t bytes[MAGIC_LEN], len;
        struct compression what;
    } known[] = {
        {{0x1f, 0x8b, 0x08}, 3, {"gzip", "zcat"}},
        {{0x28, 0xb5, 0x2f, 0xfd}, 4, {"zstd", "zstdcat"}},
        {{0x04, 0x22, 0x4d, 0x18}, 4, {"lz4", "lz4cat"}},
        {{0xfd, '7', 'z', 'X'}, 4, {"xz", "xzcat"}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (memcmp(bytes, known[i].bytes, known[i].len) == 0)
            return &known[i].what;
    return NULL;
}
