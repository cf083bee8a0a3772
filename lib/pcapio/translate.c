/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts one packet between ERF and InfiniBand. See translate.h. */
#include "pcapio/translate.h"

#include <string.h>

#include "pcapio/erf.h"

enum { COPY_MAX = 262144 }; /* bytes; libpcap refuses longer packets */

static bool time_fits(const struct capture_record *p)
{
    return p->sec >= 0 && p->sec <= UINT32_MAX;
}

/*
 * Whether two times differ by at most a microsecond: the same time in a file with a coarser unit
 * than the ERF record.
 */
static bool within_a_microsecond(int64_t sec_a, uint32_t ns_a, int64_t sec_b, uint32_t ns_b)
{
    int64_t seconds = sec_a - sec_b;
    int64_t ns;

    if (seconds < -1 || seconds > 1)
        return false;
    ns = seconds * 1000000000 + (int64_t)ns_a - (int64_t)ns_b;
    return ns >= -1000 && ns <= 1000;
}

/*
 * Whether the record's time is the time of the packet. A record in a capture file has two times,
 * its own and the file's. They are equal within the file's unit, and the record's is finer, with
 * two exceptions:
 *
 * ibdump's files: the record's time is inexact (erf_ibdump_time) and the file's is right.
 *
 * Edited files: Wireshark shows the record's time for pcap and the file's time for pcapng.
 */
static bool record_time_holds(const struct translation *way, const struct capture_record *in,
                              uint64_t time, bool *ibdump)
{
    int64_t sec;
    uint32_t ns;

    *ibdump = false;
    erf_split(time, &sec, &ns);
    if (way->from_raw || (sec == in->sec && ns / 1000 == in->ns / 1000))
        return true;
    if (time_fits(in) && time == erf_ibdump_time((uint32_t)in->sec, in->ns / 1000)) {
        *ibdump = true;
        return false;
    }
    return !way->container_time_wins || within_a_microsecond(sec, ns, in->sec, in->ns);
}

/* Copies an ERF record: its headers and type are kept, and no padding is added. */
static enum translation_result copy_record(const struct translation *way,
                                           const struct capture_record *in,
                                           const struct erf_record *rec, bool own_time,
                                           struct capture_record *out)
{
    out->head_len = ERF_HEADER_LEN;
    memcpy(out->head, in->data, ERF_HEADER_LEN);
    out->data = in->data + ERF_HEADER_LEN;
    out->data_len = rec->size - ERF_HEADER_LEN;
    out->wirelen = rec->head + rec->wlen;
    if (out->wirelen < rec->size)
        out->wirelen = rec->size; /* with padding */
    erf_set_rlen(out->head, rec->size);
    if (!own_time && time_fits(in))
        erf_set_time(out->head, erf_time((uint32_t)in->sec, in->ns));
    if (way->to_raw && rec->caplen == 0 && rec->type != ERF_TYPE_PAD)
        return EMPTY;
    return CARRIED;
}

/* Extracts the frame from an InfiniBand record. */
static enum translation_result unwrap(const struct capture_record *in, const struct erf_record *rec,
                                      struct capture_record *out, struct remarks *note)
{
    if (rec->type == ERF_TYPE_PAD || rec->type == ERF_TYPE_META)
        return NO_PACKET;
    if (rec->type != ERF_TYPE_INFINIBAND)
        return NOT_INFINIBAND;
    note->lost_headers = rec->extensions > 0;
    out->data = in->data + rec->head;
    out->data_len = rec->caplen;
    out->wirelen = rec->wlen;
    return CARRIED;
}

static enum translation_result from_erf(const struct translation *way,
                                        const struct capture_record *in, struct capture_record *out,
                                        struct remarks *note)
{
    struct erf_record rec;
    enum translation_result result;
    bool own_time;

    if (!erf_parse(in->data, in->data_len, &rec))
        return MALFORMED;
    own_time = record_time_holds(way, in, rec.time, &note->ibdump_time);
    if (own_time)
        erf_split(rec.time, &out->sec, &out->ns);
    note->erf_type = rec.type;
    note->bytes = rec.caplen;
    if (rec.type == ERF_TYPE_INFINIBAND)
        note->lost = rec.lctr;
    if (out->dropped < note->lost) /* a pcapng file with ERF records has the number in both */
        out->dropped = note->lost;

    result = way->to == LINKTYPE_ERF ? copy_record(way, in, &rec, own_time, out)
                                     : unwrap(in, &rec, out, note);
    return result == CARRIED && !time_fits(out) ? BAD_TIME : result;
}

/* Makes an InfiniBand record of a frame. */
static enum translation_result wrap(const struct translation *way, const struct capture_record *in,
                                    struct capture_record *out)
{
    if (in->data_len > ERF_MAX_LEN - ERF_HEADER_LEN || in->wirelen > UINT16_MAX)
        return TOO_LONG;
    if (way->to_raw && in->data_len == 0)
        return EMPTY;
    out->head_len = ERF_HEADER_LEN;
    erf_put_header(out->head, erf_time((uint32_t)in->sec, in->ns), in->data_len, in->wirelen);
    out->wirelen = ERF_HEADER_LEN + in->wirelen;
    return CARRIED;
}

static bool is_infiniband(uint32_t linktype)
{
    return linktype == LINKTYPE_ERF || linktype == LINKTYPE_INFINIBAND;
}

bool can_become(uint32_t from, uint32_t to)
{
    return from == to || (is_infiniband(from) && is_infiniband(to));
}

uint32_t translation_target(const struct translation *way, uint32_t from)
{
    bool stays = way->keeps_others && !is_infiniband(from) && linktype_is_known(from);

    return stays ? from : way->to;
}

enum translation_result translate(const struct translation *way, const struct capture_record *in,
                                  struct capture_record *out, struct remarks *note)
{
    uint32_t to = translation_target(way, in->linktype);

    memset(note, 0, sizeof(*note));
    *out = *in;
    out->linktype = to;
    if (!can_become(in->linktype, to))
        return OTHER_LINKTYPE;
    if (in->linktype == LINKTYPE_ERF)
        return from_erf(way, in, out, note);
    note->bytes = in->data_len;
    if (!time_fits(in))
        return BAD_TIME;
    if (in->linktype != to)
        return wrap(way, in, out);
    return in->data_len > COPY_MAX ? TOO_LONG : CARRIED;
}
