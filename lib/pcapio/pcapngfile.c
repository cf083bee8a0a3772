/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads pcapng files. See pcapngfile.h. Section numbers are those of draft-ietf-opsawg-pcapng. */
#include "pcapio/pcapngfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pcapio/octets.h"
#include "pcapio/pcapng_format.h"
#include "wire/nanoseconds.h"

/*
 * BLOCK_MAX: bytes, Wireshark's limit of a block. INTERFACES_MAX: a file that describes more
 * interfaces is malformed.
 */
enum {
    BLOCK_MAX = 16 << 20,
    CHUNK = 1 << 16,
    INTERFACES_MAX = 1 << 20,
    BLOCK_HEAD = 8,
    TSRESOL_DEFAULT = 6
};
enum { TSRESOL_BINARY = 0x80 };

struct interface {
    int linktype;
    uint32_t snaplen; /* bytes; 0: no limit */
    uint8_t tsresol;
    int64_t tsoffset; /* seconds */
};

struct pcapngfile {
    FILE *file;
    char *error;
    bool big_endian, in_section;
    uint64_t offset; /* offset in the file of the current block */
    uint8_t *body;   /* body of the current block, and the length after it */
    size_t room;
    struct interface *interfaces; /* interfaces of the current section */
    uint32_t interface_count, interface_room;
    uint32_t interface_base; /* number of interfaces in the previous sections */
    uint32_t frames;
    int64_t last_ns;
    capfile_describe *describe; /* NULL: no callback */
    void *describe_user;
};

static uint16_t get16(const struct pcapngfile *ng, const uint8_t *p)
{
    return ng->big_endian ? get_be16(p) : (uint16_t)(p[1] << 8 | p[0]);
}

static uint32_t get32(const struct pcapngfile *ng, const uint8_t *p)
{
    uint32_t first = get16(ng, p), second = get16(ng, p + 2);

    return ng->big_endian ? first << 16 | second : second << 16 | first;
}

static uint64_t get64(const struct pcapngfile *ng, const uint8_t *p)
{
    uint64_t first = get32(ng, p), second = get32(ng, p + 4);

    return ng->big_endian ? first << 32 | second : second << 32 | first;
}

/* ---- errors */

static enum capfile_result damaged(struct pcapngfile *ng, const char *why)
{
    snprintf(ng->error, CAPFILE_ERROR_LEN, "damaged: the block at octet %" PRIu64 " %s", ng->offset,
             why);
    return CAPFILE_ERROR;
}

/* Reports that the file ended within a block or cannot be read. */
static enum capfile_result cut_short(struct pcapngfile *ng)
{
    if (ferror(ng->file))
        snprintf(ng->error, CAPFILE_ERROR_LEN, "cannot be read: %s", strerror(errno));
    else
        snprintf(ng->error, CAPFILE_ERROR_LEN,
                 "is cut short: it ends within the block at octet %" PRIu64, ng->offset);
    return CAPFILE_ERROR;
}

static enum capfile_result no_memory(struct pcapngfile *ng)
{
    snprintf(ng->error, CAPFILE_ERROR_LEN, "out of memory");
    return CAPFILE_ERROR;
}

/* ---- reading blocks */

static bool make_room(struct pcapngfile *ng, size_t n)
{
    uint8_t *larger;

    if (n <= ng->room)
        return true;
    n = n < CHUNK ? CHUNK : n;
    larger = realloc(ng->body, n);
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

/* The head of a block. */
struct block {
    uint32_t type, len; /* len: of the whole block */
    uint32_t body_len;  /* without type and lengths */
};

/*
 * Reads type and length of the next block (section 3.1). In a Section Header Block, the byte order
 * follows after them (section 4.1), so the first four bytes of its body are read here too and
 * stored at the start of the body.
 */
static enum capfile_result read_head(struct pcapngfile *ng, struct block *b)
{
    uint8_t head[BLOCK_HEAD];
    size_t got = fread(head, 1, sizeof(head), ng->file);

    if (got == 0 && !ferror(ng->file))
        return CAPFILE_END;
    if (got < sizeof(head))
        return cut_short(ng);
    b->type = get32(ng, head);
    if (b->type == BLOCK_SHB) {
        if (fread(ng->body, 1, 4, ng->file) != 4)
            return cut_short(ng);
        ng->big_endian = get_be16(ng->body) == PCAPNG_BYTE_ORDER >> 16;
        if (get32(ng, ng->body) != PCAPNG_BYTE_ORDER)
            return damaged(ng, "begins a section of unknown byte order");
    } else if (!ng->in_section) {
        return damaged(ng, "begins no section");
    }
    b->len = get32(ng, head + 4);
    if (b->len < BLOCK_OVERHEAD || b->len % 4 != 0)
        return damaged(ng, "has an impossible length");
    b->body_len = b->len - BLOCK_OVERHEAD;
    return CAPFILE_FRAME;
}

/* Reads the body of a block and checks the length after it. */
static enum capfile_result read_body(struct pcapngfile *ng, const struct block *b)
{
    uint32_t have = b->type == BLOCK_SHB ? 4 : 0, rest = b->len - BLOCK_HEAD - have;

    if (b->len > BLOCK_MAX)
        return damaged(ng, "is longer than 16 MiB");
    if (!make_room(ng, b->len))
        return no_memory(ng);
    if (fread(ng->body + have, 1, rest, ng->file) != rest)
        return cut_short(ng);
    if (get32(ng, ng->body + b->body_len) != b->len)
        return damaged(ng, "has two different lengths");
    return CAPFILE_FRAME;
}

static enum capfile_result skip_body(struct pcapngfile *ng, const struct block *b)
{
    uint8_t end[4];

    if (!skip(ng, b->body_len) || fread(end, 1, sizeof(end), ng->file) != sizeof(end))
        return cut_short(ng);
    return get32(ng, end) == b->len ? CAPFILE_FRAME : damaged(ng, "has two different lengths");
}

/* ---- sections and interfaces */

static enum capfile_result begin_section(struct pcapngfile *ng, const struct block *b)
{
    if (b->body_len < 16)
        return damaged(ng, "is too short for the header of a section");
    if (get16(ng, ng->body + 4) != 1)
        return damaged(ng, "begins a section of a version other than 1");
    ng->in_section = true;
    ng->interface_base += ng->interface_count;
    ng->interface_count = 0;
    return CAPFILE_FRAME;
}

/* Reads the options in the LEN bytes at P (section 3.5): if_tsresol and if_tsoffset. */
static enum capfile_result read_options(struct pcapngfile *ng, struct interface *f,
                                        const uint8_t *p, uint32_t len)
{
    while (len >= OPTION_HEAD) {
        uint16_t code = get16(ng, p), size = get16(ng, p + 2);
        uint32_t whole = OPTION_HEAD + ((size + 3u) & ~3u);

        if (code == OPT_END)
            break;
        if (whole > len)
            return damaged(ng, "has an option that ends beyond it");
        if ((code == IF_TSRESOL && size != 1) || (code == IF_TSOFFSET && size != 8))
            return damaged(ng, "has an option of the wrong size");
        if (code == IF_TSRESOL)
            f->tsresol = p[OPTION_HEAD];
        if (code == IF_TSOFFSET)
            f->tsoffset = (int64_t)get64(ng, p + OPTION_HEAD);
        p += whole;
        len -= whole;
    }
    return CAPFILE_FRAME;
}

enum { TEXT_MAX = 256 }; /* bytes of a name for the callback, with its terminating 0 */

/*
 * Returns the text option WANTED in the LEN bytes at P, or NULL. read_options has already checked
 * the options.
 */
static const char *text_option(const struct pcapngfile *ng, uint16_t wanted, const uint8_t *p,
                               uint32_t len, char text[TEXT_MAX])
{
    while (len >= OPTION_HEAD) {
        uint16_t code = get16(ng, p), size = get16(ng, p + 2);
        uint32_t whole = OPTION_HEAD + ((size + 3u) & ~3u);

        if (code == OPT_END)
            break;
        if (code == wanted) {
            snprintf(text, TEXT_MAX, "%.*s", (int)size, (const char *)p + OPTION_HEAD);
            return text;
        }
        p += whole;
        len -= whole;
    }
    return NULL;
}

static void describe_interface(const struct pcapngfile *ng, const struct interface *f,
                               const uint8_t *p, uint32_t len)
{
    char name[TEXT_MAX], description[TEXT_MAX];

    if (ng->describe)
        ng->describe(ng->describe_user,
                     &(struct capfile_interface){
                         .linktype = f->linktype,
                         .snaplen = f->snaplen,
                         .name = text_option(ng, IF_NAME, p, len, name),
                         .description = text_option(ng, IF_DESCRIPTION, p, len, description)});
}

static bool room_for_interface(struct pcapngfile *ng)
{
    uint32_t room = ng->interface_room ? 2 * ng->interface_room : 8;
    struct interface *more;

    if (ng->interface_count < ng->interface_room)
        return true;
    more = realloc(ng->interfaces, room * sizeof(*more));
    if (!more)
        return false;
    ng->interfaces = more;
    ng->interface_room = room;
    return true;
}

static enum capfile_result add_interface(struct pcapngfile *ng, const struct block *b)
{
    struct interface *f;

    if (b->body_len < 8)
        return damaged(ng, "is too short for an interface's description");
    if (ng->interface_base + ng->interface_count >= INTERFACES_MAX)
        return damaged(ng, "describes one interface more than 1,048,576");
    if (!room_for_interface(ng))
        return no_memory(ng);
    f = &ng->interfaces[ng->interface_count++];
    *f = (struct interface){get16(ng, ng->body), get32(ng, ng->body + 4), TSRESOL_DEFAULT, 0};
    enum capfile_result result = read_options(ng, f, ng->body + 8, b->body_len - 8);
    if (result == CAPFILE_FRAME)
        describe_interface(ng, f, ng->body + 8, b->body_len - 8);
    return result;
}

/* ---- times */

static uint64_t power_of_ten(unsigned n)
{
    uint64_t v = 1;

    while (n-- > 0)
        v *= 10;
    return v;
}

/* Returns the seconds in TICKS, in units of 10^-N s; NS: the remaining nanoseconds. */
static uint64_t split_decimal(uint64_t ticks, unsigned n, uint32_t *ns)
{
    const unsigned nine = 9, most = 19; /* 10^19 is the largest power of ten in 64 bits */

    if (n > most) {
        *ns = n - nine > most ? 0 : (uint32_t)(ticks / power_of_ten(n - nine));
        return 0;
    }
    uint64_t rest = ticks % power_of_ten(n);
    *ns = (uint32_t)(n <= nine ? rest * power_of_ten(nine - n) : rest / power_of_ten(n - nine));
    return ticks / power_of_ten(n);
}

/*
 * Like split_decimal, in units of 2^-N s. 32 bits of the fraction are enough, because they are
 * finer than a nanosecond.
 */
static uint64_t split_binary(uint64_t ticks, unsigned n, uint32_t *ns)
{
    uint64_t seconds = n < 64 ? ticks >> n : 0,
             rest = n < 64 ? ticks & ((UINT64_C(1) << n) - 1) : ticks;

    if (n > 32) {
        rest = n - 32 < 64 ? rest >> (n - 32) : 0;
        n = 32;
    }
    *ns = (uint32_t)(rest * (uint64_t)NANOSECONDS >> n);
    return seconds;
}

int64_t pcapng_ns(uint64_t ticks, uint8_t tsresol, int64_t offset)
{
    unsigned n = tsresol & ~TSRESOL_BINARY & 0xff;
    uint32_t ns;
    uint64_t of_ticks = tsresol & TSRESOL_BINARY ? split_binary(ticks, n, &ns)
                                                 : split_decimal(ticks, n, &ns);
    int64_t seconds;

    if (__builtin_add_overflow(of_ticks, offset, &seconds))
        return INT64_MAX; /* overflow: the seconds of the ticks are not negative */
    return nanoseconds_of(seconds, ns);
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
static struct packet_head packet_head(const struct pcapngfile *ng, const struct block *b)
{
    const uint8_t *p = ng->body;

    return (struct packet_head){
        .interface = b->type == BLOCK_EPB ? get32(ng, p) : get16(ng, p),
        .ticks = (uint64_t)get32(ng, p + 4) << 32 | get32(ng, p + 8),
        .caplen = get32(ng, p + 12),
        .wirelen = get32(ng, p + 16),
        .head = 20,
        .has_time = true,
    };
}

/*
 * Simple Packet Block (section 4.4): belongs to the first interface, whose snapshot length
 * determines the captured length.
 */
static struct packet_head simple_head(const struct pcapngfile *ng, const struct block *b)
{
    uint32_t wirelen = get32(ng, ng->body), room = b->body_len - 4;
    uint32_t snaplen = ng->interface_count && ng->interfaces[0].snaplen ? ng->interfaces[0].snaplen
                                                                        : UINT32_MAX;
    uint32_t caplen = wirelen < snaplen ? wirelen : snaplen;

    return (struct packet_head){
        .caplen = caplen < room ? caplen : room, .wirelen = wirelen, .head = 4};
}

static enum capfile_result take_packet(struct pcapngfile *ng, const struct block *b,
                                       struct capfile_frame *out)
{
    uint32_t least = b->type == BLOCK_SPB ? 4 : 20;
    struct packet_head h;

    if (b->body_len < least)
        return damaged(ng, "is too short for a packet's header");
    h = b->type == BLOCK_SPB ? simple_head(ng, b) : packet_head(ng, b);
    if (h.interface >= ng->interface_count)
        return damaged(ng, "is of an interface that is not described");
    if (h.caplen > b->body_len - h.head)
        return damaged(ng, "has a packet that ends beyond it");

    const struct interface *f = &ng->interfaces[h.interface];
    if (h.has_time)
        ng->last_ns = pcapng_ns(h.ticks, f->tsresol, f->tsoffset);
    *out = (struct capfile_frame){
        .number = ++ng->frames,
        .interface = ng->interface_base + h.interface,
        .linktype = f->linktype,
        .ns = ng->last_ns,
        .caplen = h.caplen,
        .wirelen = h.wirelen < h.caplen ? h.caplen : h.wirelen,
        .octets = ng->body + h.head,
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
static enum capfile_result take_other(struct pcapngfile *ng, const struct block *b)
{
    if (b->type != BLOCK_SHB && b->type != BLOCK_IDB) {
        ng->frames += has_a_number(b->type);
        return skip_body(ng, b);
    }
    enum capfile_result result = read_body(ng, b);
    if (result != CAPFILE_FRAME)
        return result;
    return b->type == BLOCK_SHB ? begin_section(ng, b) : add_interface(ng, b);
}

enum capfile_result pcapngfile_next(struct pcapngfile *ng, struct capfile_frame *out)
{
    enum capfile_result result;
    struct block b;

    do {
        result = read_head(ng, &b);
        if (result != CAPFILE_FRAME)
            return result;
        result = is_packet(b.type) ? read_body(ng, &b) : take_other(ng, &b);
        if (result == CAPFILE_FRAME && is_packet(b.type))
            result = take_packet(ng, &b, out);
        ng->offset += b.len;
    } while (result == CAPFILE_FRAME && !is_packet(b.type));
    return result;
}

struct pcapngfile *pcapngfile_open(FILE *file, char error[CAPFILE_ERROR_LEN])
{
    struct pcapngfile *ng = calloc(1, sizeof(*ng));

    if (ng) {
        ng->file = file;
        ng->error = error;
    }
    if (ng && make_room(ng, CHUNK))
        return ng;
    snprintf(error, CAPFILE_ERROR_LEN, "out of memory");
    free(ng);
    return NULL;
}

void pcapngfile_on_interface(struct pcapngfile *ng, capfile_describe *describe, void *user)
{
    ng->describe = describe;
    ng->describe_user = user;
}

void pcapngfile_close(struct pcapngfile *ng)
{
    if (!ng)
        return;
    free(ng->body);
    free(ng->interfaces);
    free(ng);
}
