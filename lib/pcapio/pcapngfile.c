/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads pcapng files. See pcapngfile.h. Section numbers are those of draft-ietf-opsawg-pcapng. */
#include "pcapio/pcapngfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "pcapio/error.h"
#include "pcapio/pcapng_format.h"
#include "pcapio/pcapngoptions.h"
#include "pcapio/pcapngreader.h"
#include "pcapio/pcapngtime.h"

/* BLOCK_MAX: bytes, Wireshark's limit of a block. */
enum { BLOCK_MAX = 16 << 20, CHUNK = 1 << 16, BLOCK_HEAD = 8 };

/* ---- errors */

/* Reports that the file ended within a block or cannot be read. */
static enum capfile_result truncated_block(const struct pcapngfile *ng, GError **error)
{
    if (ferror(ng->file))
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_SYSTEM, "cannot be read: %s",
                    strerror(errno));
    else
        g_set_error(error, PCAPIO_ERROR, PCAPIO_ERROR_TRUNCATED,
                    "is cut short: it ends within the block at offset %" PRIu64, ng->offset);
    return CAPFILE_ERROR;
}

/* ---- reading blocks */

static bool grow_block(struct pcapngfile *ng, size_t n)
{
    uint8_t *larger;

    if (n <= ng->room)
        return true;
    larger = g_try_realloc(ng->body, n);
    if (!larger)
        return false;
    ng->body = larger;
    ng->room = n;
    return true;
}

static bool skip(struct pcapngfile *ng, uint32_t n)
{
    while (n > 0) {
        uint32_t part = n < CHUNK ? n : CHUNK;

        if (fread(ng->body, 1, part, ng->file) != part)
            return false;
        n -= part;
    }
    return true;
}

/*
 * Reads type and length of the next block (section 3.1). In a Section Header Block, the byte order
 * follows after them (section 4.1), so the first four bytes of its body are read here too and
 * stored at the start of the body.
 */
static enum capfile_result read_head(struct pcapngfile *ng, struct pcapng_block_head *b,
                                     GError **error)
{
    uint8_t head[BLOCK_HEAD];
    size_t got = fread(head, 1, sizeof(head), ng->file);

    if (got == 0 && !ferror(ng->file))
        return CAPFILE_END;
    if (got < sizeof(head))
        return truncated_block(ng, error);
    b->type = pcapng_get32(ng, head);
    if (b->type == BLOCK_SHB) {
        if (fread(ng->body, 1, 4, ng->file) != 4)
            return truncated_block(ng, error);
        ng->big_endian = get_be16(ng->body) == PCAPNG_BYTE_ORDER >> 16;
        if (pcapng_get32(ng, ng->body) != PCAPNG_BYTE_ORDER)
            return pcapng_malformed(ng, "begins a section of unknown byte order", error);
    } else if (!ng->in_section) {
        return pcapng_malformed(ng, "begins no section", error);
    }
    b->len = pcapng_get32(ng, head + 4);
    if (b->len < BLOCK_OVERHEAD || b->len % 4 != 0)
        return pcapng_malformed(ng, "has an impossible length", error);
    b->body_len = b->len - BLOCK_OVERHEAD;
    return CAPFILE_FRAME;
}

/* Reads the body of a block and checks the length after it. */
static enum capfile_result read_body(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                     GError **error)
{
    uint32_t have = b->type == BLOCK_SHB ? 4 : 0, rest = b->len - BLOCK_HEAD - have;

    if (b->len > BLOCK_MAX)
        return pcapng_malformed(ng, "is longer than 16 MiB", error);
    if (!grow_block(ng, b->len))
        return pcapng_no_memory(error);
    if (fread(ng->body + have, 1, rest, ng->file) != rest)
        return truncated_block(ng, error);
    if (pcapng_get32(ng, ng->body + b->body_len) != b->len)
        return pcapng_malformed(ng, "has two different lengths", error);
    return CAPFILE_FRAME;
}

static enum capfile_result skip_body(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                     GError **error)
{
    uint8_t end[4];

    if (!skip(ng, b->body_len) || fread(end, 1, sizeof(end), ng->file) != sizeof(end))
        return truncated_block(ng, error);
    return pcapng_get32(ng, end) == b->len
               ? CAPFILE_FRAME
               : pcapng_malformed(ng, "has two different lengths", error);
}

/* ---- packets */

/* Fields of a packet block. */
struct packet_head {
    uint32_t interface, caplen, wirelen, head; /* head: bytes before the packet data */
    uint64_t ticks;
    bool has_time;
};

/*
 * Enhanced Packet Block (section 4.3) and obsolete Packet Block (appendix A). The latter has a
 * 16-bit interface and a drop count in the same 4 bytes.
 */
static struct packet_head packet_head(const struct pcapngfile *ng,
                                      const struct pcapng_block_head *b)
{
    const uint8_t *p = ng->body;

    return (struct packet_head){
        .interface = b->type == BLOCK_EPB ? pcapng_get32(ng, p) : pcapng_get16(ng, p),
        .ticks = (uint64_t)pcapng_get32(ng, p + 4) << 32 | pcapng_get32(ng, p + 8),
        .caplen = pcapng_get32(ng, p + 12),
        .wirelen = pcapng_get32(ng, p + 16),
        .head = 20,
        .has_time = true,
    };
}

/*
 * Simple Packet Block (section 4.4): belongs to the first interface, whose snapshot length
 * determines the captured length.
 */
static struct packet_head simple_head(const struct pcapngfile *ng,
                                      const struct pcapng_block_head *b)
{
    uint32_t wirelen = pcapng_get32(ng, ng->body), room = b->body_len - 4;
    uint32_t snaplen = ng->interface_count && ng->interfaces[0].snaplen ? ng->interfaces[0].snaplen
                                                                        : UINT32_MAX;
    uint32_t caplen = wirelen < snaplen ? wirelen : snaplen;

    return (struct packet_head){
        .caplen = caplen < room ? caplen : room, .wirelen = wirelen, .head = 4};
}

/* Remembers where the options of a packet are, after its padded data. */
static void note_options(struct pcapngfile *ng, const struct pcapng_block_head *b,
                         const struct packet_head *h)
{
    uint64_t from = (uint64_t)h->head + (((uint64_t)h->caplen + 3) & ~UINT64_C(3));
    bool has = b->type == BLOCK_EPB && from < b->body_len;

    ng->options = has ? ng->body + from : NULL;
    ng->options_len = has ? b->body_len - (uint32_t)from : 0;
}

static enum capfile_result take_packet(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                       struct capfile_frame *out, GError **error)
{
    uint32_t least = b->type == BLOCK_SPB ? 4 : 20;
    struct packet_head h;

    if (b->body_len < least)
        return pcapng_malformed(ng, "is too short for a packet's header", error);
    h = b->type == BLOCK_SPB ? simple_head(ng, b) : packet_head(ng, b);
    if (h.interface >= ng->interface_count)
        return pcapng_malformed(ng, "is of an interface that is not described", error);
    if (h.caplen > b->body_len - h.head)
        return pcapng_malformed(ng, "has a packet that ends beyond it", error);

    const struct pcapng_interface *f = &ng->interfaces[h.interface];
    if (h.has_time)
        ng->last_ns = pcapng_ns(h.ticks, f->tsresol, f->tsoffset);
    note_options(ng, b, &h);
    *out = (struct capfile_frame){
        .number = ++ng->frames,
        .interface = ng->interface_base + h.interface,
        .linktype = f->linktype,
        .ns = ng->last_ns,
        .caplen = h.caplen,
        .wirelen = h.wirelen < h.caplen ? h.caplen : h.wirelen,
        .bytes = ng->body + h.head,
    };
    return CAPFILE_FRAME;
}

/*
 * Blocks without a packet to which Wireshark gives a frame number: sections 4.6 and 11.1, and
 * sysdig's.
 */
static bool has_a_number(uint32_t type)
{
    static const uint32_t types[] = {BLOCK_JOURNAL, BLOCK_CUSTOM, BLOCK_CUSTOM_UNCOPIED,
                                     0x204,         0x208,        0x216,
                                     0x217,         0x221,        0x222};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i] == type)
            return true;
    return false;
}

static bool is_packet(uint32_t type)
{
    return type == BLOCK_EPB || type == BLOCK_SPB || type == BLOCK_PB;
}

/* Handles all blocks except packets. */
static enum capfile_result take_other(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                      GError **error)
{
    bool statistics = b->type == BLOCK_ISB && b->len <= BLOCK_MAX;

    if (b->type != BLOCK_SHB && b->type != BLOCK_IDB && !statistics) {
        ng->frames += has_a_number(b->type);
        return skip_body(ng, b, error);
    }
    enum capfile_result result = read_body(ng, b, error);
    if (result != CAPFILE_FRAME)
        return result;
    if (!statistics)
        return b->type == BLOCK_SHB ? pcapng_begin_section(ng, b, error)
                                    : pcapng_add_interface(ng, b, error);
    pcapng_take_statistics(ng, b);
    return CAPFILE_FRAME;
}

enum capfile_result pcapngfile_next(struct pcapngfile *ng, struct capfile_frame *out,
                                    GError **error)
{
    enum capfile_result result;
    struct pcapng_block_head b = {0};

    do {
        result = read_head(ng, &b, error);
        if (result != CAPFILE_FRAME)
            return result;
        result = is_packet(b.type) ? read_body(ng, &b, error) : take_other(ng, &b, error);
        if (result == CAPFILE_FRAME && is_packet(b.type))
            result = take_packet(ng, &b, out, error);
        ng->offset += b.len;
    } while (result == CAPFILE_FRAME && !is_packet(b.type));
    return result;
}

struct pcapngfile *pcapngfile_open(FILE *file)
{
    struct pcapngfile *ng = g_new0(struct pcapngfile, 1);

    ng->file = file;
    ng->body = g_malloc(CHUNK);
    ng->room = CHUNK;
    return ng;
}

void pcapngfile_on_description(struct pcapngfile *ng, capfile_describe *describe, void *user)
{
    ng->describe = describe;
    ng->describe_user = user;
}

void pcapngfile_leave_private_out(struct pcapngfile *ng)
{
    ng->without_private = true;
}

const uint8_t *pcapng_next_option(const struct pcapngfile *ng, const uint8_t **p, uint32_t *len,
                                  uint16_t *code, uint16_t *size)
{
    const uint8_t *value;
    uint32_t whole;

    if (*len < OPTION_HEAD)
        return NULL;
    *code = pcapng_get16(ng, *p);
    *size = pcapng_get16(ng, *p + 2);
    whole = OPTION_HEAD + ((*size + 3u) & ~3u);
    if (*code == OPT_END || whole > *len)
        return NULL;
    value = *p + OPTION_HEAD;
    *p += whole;
    *len -= whole;
    return value;
}

const uint8_t *pcapngfile_options(struct pcapngfile *ng, uint32_t *len)
{
    const struct pcapng_origin from = pcapng_origin_of(ng, NULL);

    *len = ng->options ? pcapng_convert_options(ng->options, ng->options_len, PCAPNG_PACKET,
                                                ng->without_private, &from)
                       : 0;
    return ng->options;
}

uint64_t pcapngfile_dropped(const struct pcapngfile *ng)
{
    const uint8_t *p = ng->options, *value;
    uint32_t len = ng->options_len;
    uint16_t code, size;

    while ((value = pcapng_next_option(ng, &p, &len, &code, &size)) != NULL)
        if (code == EPB_DROPCOUNT && size == 8)
            return pcapng_get64(ng, value);
    return 0;
}

bool pcapngfile_is_marked(const struct pcapngfile *ng)
{
    const uint8_t *p = ng->options, *value;
    uint32_t len = ng->options_len;
    uint16_t code, size;

    while ((value = pcapng_next_option(ng, &p, &len, &code, &size)) != NULL)
        if (code == EPB_FLAGS && size == 4)
            return pcapng_get32(ng, value) & EPB_FLAGS_ERRORS;
    return false;
}

void pcapngfile_lost(const struct pcapngfile *ng, uint64_t *interface, uint64_t *system)
{
    *interface = ng->ifdrop;
    *system = ng->osdrop;
}

void pcapngfile_close(struct pcapngfile *ng)
{
    if (!ng)
        return;
    g_free(ng->body);
    g_free(ng->interfaces);
    g_free(ng);
}
