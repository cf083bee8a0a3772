/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the reader of pcapng files. Private to the files of the reader. */
#ifndef IPOIB_PCAPIO_PCAPNGREADER_H
#define IPOIB_PCAPIO_PCAPNGREADER_H

#include <stdbool.h>

#include "pcapio/bytes.h"
#include "pcapio/pcapngfile.h"
#include "pcapio/pcapngoptions.h"

struct pcapng_interface {
    int linktype;
    uint32_t snaplen; /* bytes; 0: no limit */
    uint8_t tsresol;
    int64_t tsoffset;         /* seconds */
    bool says_filter;         /* its description has a filter, or a comment that may name one */
    bool has_filter;          /* its description has a filter */
    struct capfile_lost lost; /* of its last statistics */
};

struct pcapngfile {
    FILE *file;
    bool big_endian, in_section;
    uint64_t offset; /* offset in the file of the current block */
    uint8_t *body;   /* body of the current block, and the length after it */
    size_t room;
    struct pcapng_interface *interfaces; /* interfaces of the current section */
    uint32_t interface_count, interface_room;
    uint32_t interface_base; /* number of interfaces in the previous sections */
    uint32_t frames;
    int64_t last_ns;
    struct capfile_lost lost; /* on all interfaces so far, by their statistics; blocks */
    uint16_t drops;           /* of the last packet, if its block is the obsolete one */
    uint8_t *options;         /* of the last packet, in the body of its block */
    uint32_t options_len;
    capfile_describe *describe; /* NULL: no callback */
    void *describe_user;
    bool without_private; /* of options that are copied */
};

/* The head of a block. */
struct pcapng_block_head {
    uint32_t type, len; /* len: of the whole block */
    uint32_t body_len;  /* without type and lengths */
};

static inline uint16_t pcapng_get16(const struct pcapngfile *ng, const uint8_t *p)
{
    return ng->big_endian ? get_be16(p) : get_le16(p);
}

static inline uint32_t pcapng_get32(const struct pcapngfile *ng, const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof(v));
    return ng->big_endian ? be32toh(v) : le32toh(v);
}

static inline uint64_t pcapng_get64(const struct pcapngfile *ng, const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return ng->big_endian ? be64toh(v) : le64toh(v);
}

/* Return CAPFILE_ERROR and set ERROR: why the current block cannot be used (pcapngerror.c). */
enum capfile_result pcapng_malformed(const struct pcapngfile *ng, const char *why, GError **error);
enum capfile_result pcapng_no_memory(GError **error);

/*
 * The next option of the LEN bytes at *P, which is advanced; SIZE: bytes of its value. Returns NULL
 * at the end of the options (pcapngwalk.c).
 */
const uint8_t *pcapng_next_option(const struct pcapngfile *ng, const uint8_t **p, uint32_t *len,
                                  uint16_t *code, uint16_t *size);

/* How the options of an interface are written; F NULL: of no interface (pcapngsection.c). */
struct pcapng_origin pcapng_origin_of(const struct pcapngfile *ng,
                                      const struct pcapng_interface *f);

/* Take a block that is in the body: of a section, an interface, statistics (pcapngsection.c). */
enum capfile_result pcapng_begin_section(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                         GError **error);
enum capfile_result pcapng_add_interface(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                         GError **error);
void pcapng_take_statistics(struct pcapngfile *ng, const struct pcapng_block_head *b);

#endif
