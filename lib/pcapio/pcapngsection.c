/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections and interfaces of a pcapng file. Section numbers are those of
 * draft-ietf-opsawg-pcapng.
 */
#include <glib.h>

#include "pcapio/pcapng_format.h"
#include "pcapio/pcapngoptions.h"
#include "pcapio/pcapngreader.h"
#include "pcapio/pcapngtime.h"

/* INTERFACES_MAX: a file that describes more interfaces is malformed. */
enum { INTERFACES_MAX = 1 << 20, TSRESOL_DEFAULT = 6 };

struct pcapng_origin pcapng_origin_of(const struct pcapngfile *ng, const struct pcapng_interface *f)
{
    return (struct pcapng_origin){ng->big_endian, f ? f->tsresol : TSRESOL_DEFAULT,
                                  f ? f->tsoffset : 0};
}

/*
 * Passes D to the callback, with the options after the first HEAD bytes of the block; F: the
 * interface that D is about, or NULL.
 */
static void pass_description(struct pcapngfile *ng, struct capfile_description *d,
                             enum pcapng_block kind, const struct pcapng_block_head *b,
                             uint32_t head, const struct pcapng_interface *f)
{
    struct pcapng_origin from = pcapng_origin_of(ng, f);

    if (!ng->describe)
        return;
    d->options = ng->body + head;
    d->options_len = pcapng_convert_options(ng->body + head, b->body_len - head, kind,
                                            ng->without_private, &from);
    ng->describe(ng->describe_user, d);
}

enum capfile_result pcapng_begin_section(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                         GError **error)
{
    if (b->body_len < 16)
        return pcapng_malformed(ng, "is too short for the header of a section", error);
    if (pcapng_get16(ng, ng->body + 4) != 1)
        return pcapng_malformed(ng, "begins a section of a version other than 1", error);
    ng->in_section = true;
    ng->interface_base += ng->interface_count;
    ng->interface_count = 0;
    pass_description(ng, &(struct capfile_description){.about = CAPFILE_SECTION}, PCAPNG_SECTION, b,
                     16, NULL);
    return CAPFILE_FRAME;
}

/* Reads the options in the LEN bytes at P (section 3.5): if_tsresol and if_tsoffset. */
static enum capfile_result read_interface_options(struct pcapngfile *ng, struct pcapng_interface *f,
                                                  const uint8_t *p, uint32_t len, GError **error)
{
    while (len >= OPTION_HEAD) {
        uint16_t code = pcapng_get16(ng, p), size = pcapng_get16(ng, p + 2);
        uint32_t whole = OPTION_HEAD + ((size + 3u) & ~3u);

        if (code == OPT_END)
            break;
        if (whole > len)
            return pcapng_malformed(ng, "has an option that ends beyond it", error);
        if ((code == IF_TSRESOL && size != 1) || (code == IF_TSOFFSET && size != 8))
            return pcapng_malformed(ng, "has an option of the wrong size", error);
        if (code == IF_TSRESOL)
            f->tsresol = p[OPTION_HEAD];
        if (code == IF_TSOFFSET)
            f->tsoffset = (int64_t)pcapng_get64(ng, p + OPTION_HEAD);
        f->says_filter |= code == IF_FILTER || code == OPT_COMMENT;
        f->has_filter |= code == IF_FILTER;
        p += whole;
        len -= whole;
    }
    return CAPFILE_FRAME;
}

static bool room_for_interface(struct pcapngfile *ng)
{
    uint32_t room = ng->interface_room ? 2 * ng->interface_room : 8;
    struct pcapng_interface *more;

    if (ng->interface_count < ng->interface_room)
        return true;
    more = g_try_renew(struct pcapng_interface, ng->interfaces, room);
    if (!more)
        return false;
    ng->interfaces = more;
    ng->interface_room = room;
    return true;
}

enum capfile_result pcapng_add_interface(struct pcapngfile *ng, const struct pcapng_block_head *b,
                                         GError **error)
{
    struct pcapng_interface *f;

    if (b->body_len < 8)
        return pcapng_malformed(ng, "is too short for an interface's description", error);
    if (ng->interface_base + ng->interface_count >= INTERFACES_MAX)
        return pcapng_malformed(ng, "describes one interface more than 1,048,576", error);
    if (!room_for_interface(ng))
        return pcapng_no_memory(error);
    f = &ng->interfaces[ng->interface_count++];
    *f = (struct pcapng_interface){.linktype = pcapng_get16(ng, ng->body),
                                   .snaplen = pcapng_get32(ng, ng->body + 4),
                                   .tsresol = TSRESOL_DEFAULT};
    enum capfile_result result = read_interface_options(ng, f, ng->body + 8, b->body_len - 8,
                                                        error);
    if (result != CAPFILE_FRAME)
        return result;
    ng->lost.filters += f->has_filter;
    struct capfile_description d = {.about = CAPFILE_INTERFACE,
                                    .interface = ng->interface_base + ng->interface_count - 1,
                                    .linktype = f->linktype,
                                    .snaplen = f->snaplen};
    pass_description(ng, &d, PCAPNG_INTERFACE, b, 8, f);
    return CAPFILE_FRAME;
}

/* LOST: of the interface's last statistics. SUM: of all interfaces. Statistics only grow. */
static void note_lost(uint64_t *lost, uint64_t *sum, uint64_t now)
{
    uint64_t more = now > *lost ? now - *lost : 0;

    *sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
    *lost += more;
}

/* Numbers of statistics; isb_ifrecv has the lost packets too. */
struct statistics {
    uint64_t received, dropped, accepted, lost;
    bool has_accepted;
};

static uint64_t left_out(const struct statistics *s)
{
    uint64_t rest = s->received > s->dropped ? s->received - s->dropped : 0;

    return s->has_accepted && rest > s->accepted ? rest - s->accepted : 0;
}

/* Reads the LEN bytes of options at P of statistics. */
static struct statistics read_statistics(const struct pcapngfile *ng, const uint8_t *p,
                                         uint32_t len)
{
    struct statistics s = {0};
    const uint8_t *value;
    uint16_t code, size;

    while ((value = pcapng_next_option(ng, &p, &len, &code, &size)) != NULL) {
        uint64_t *to = code == ISB_IFRECV         ? &s.received
                       : code == ISB_IFDROP       ? &s.dropped
                       : code == ISB_FILTERACCEPT ? &s.accepted
                       : code == ISB_OSDROP       ? &s.lost
                                                  : NULL;

        if (!to || size != 8)
            continue;
        *to = pcapng_get64(ng, value);
        s.has_accepted |= code == ISB_FILTERACCEPT;
    }
    return s;
}

static void take_lost(struct pcapngfile *ng, struct pcapng_interface *f, const struct statistics *s)
{
    struct capfile_lost *of = &f->lost, *all = &ng->lost;

    note_lost(&of->interface, &all->interface, s->dropped);
    note_lost(&of->system, &all->system, s->lost);
    if (f->says_filter)
        note_lost(&of->filtered, &all->filtered, left_out(s));
    else
        note_lost(&of->unaccepted, &all->unaccepted, left_out(s));
}

/* Describes an Interface Statistics Block (section 4.6). Ignores one without a valid interface. */
void pcapng_take_statistics(struct pcapngfile *ng, const struct pcapng_block_head *b)
{
    uint32_t number = b->body_len >= 12 ? pcapng_get32(ng, ng->body) : UINT32_MAX;

    if (number >= ng->interface_count)
        return;
    struct pcapng_interface *f = &ng->interfaces[number];
    const struct statistics s = read_statistics(ng, ng->body + 12, b->body_len - 12);
    take_lost(ng, f, &s);
    uint64_t ticks = (uint64_t)pcapng_get32(ng, ng->body + 4) << 32 |
                     pcapng_get32(ng, ng->body + 8);
    struct capfile_description d = {.about = CAPFILE_STATISTICS,
                                    .interface = ng->interface_base + number,
                                    .ns = pcapng_ns(ticks, f->tsresol, f->tsoffset)};
    pass_description(ng, &d, PCAPNG_STATISTICS, b, 12, f);
}
