/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of a conversion. See tally.h. */
#include "capture/tally.h"

#include <inttypes.h>
#include <stddef.h>

#include "cli/say.h"

void convert_tally_add(struct convert_tally *tally, enum translation_result result,
                       const struct capture_record *from, const struct remarks *note)
{
    tally->results[result]++;
    tally->lost_before += note->lost;
    if (result == NOT_INFINIBAND)
        tally->types[note->erf_type]++;
    if (result == OTHER_LINKTYPE)
        tally->linktype = from->linktype;
    if (result != CARRIED)
        return;
    if (tally->results[CARRIED] == 1)
        tally->interface = from->interface;
    tally->several |= from->interface != tally->interface;
    tally->lost_headers += note->lost_headers;
    tally->ibdump_times += note->ibdump_time;
}

void convert_tally_written(struct convert_tally *tally, uint64_t packets, uint64_t bytes)
{
    tally->unwritten = tally->results[CARRIED] - packets;
    tally->results[CARRIED] = packets;
    tally->bytes = bytes;
}

uint64_t convert_tally_drops(const struct convert_tally *tally)
{
    uint64_t drops = tally->unwritten;

    for (int v = 0; v < TRANSLATION_RESULTS; v++)
        if (v != CARRIED && v != NO_PACKET)
            drops += tally->results[v];
    return drops;
}

/* Prints "NAME: 3 packets TEXT" if COUNT is not 0. */
static void print_count(const char *name, uint64_t count, const char *what, const char *text)
{
    if (count > 0)
        say("%s: %" PRIu64 " %s%s %s", name, count, what, count == 1 ? "" : "s", text);
}

void convert_tally_remark(const struct convert_tally *tally, const char *input, uint32_t to,
                          bool pcapng)
{
    static const char *const left_out[TRANSLATION_RESULTS] = {
        [NOT_IPOIB] = "left out: without InfiniBand and IPoIB, so they cannot be anonymised",
        [MALFORMED] = "left out: no ERF record",
        [TOO_LONG] = "left out: too long for an ERF record, or above 262,144 bytes",
        [EMPTY] = "left out: no byte of it was captured, and a raw ERF file cannot say that",
        [BAD_TIME] = "left out: the time is before 1970 or after 2106",
    };

    for (int type = 0; type <= ERF_TYPE_MASK; type++)
        if (tally->types[type] > 0)
            say("%s: %" PRIu64 " record%s left out: ERF type %d is not InfiniBand (21)", input,
                tally->types[type], tally->types[type] == 1 ? "" : "s", type);
    if (tally->results[OTHER_LINKTYPE] > 0)
        say("%s: %" PRIu64 " packet%s left out: of link type %u, which cannot be written as %u",
            input, tally->results[OTHER_LINKTYPE], tally->results[OTHER_LINKTYPE] == 1 ? "" : "s",
            tally->linktype, to);
    for (int v = 0; v < TRANSLATION_RESULTS; v++)
        if (left_out[v])
            print_count(input, tally->results[v], "packet", left_out[v]);
    if (tally->several && !pcapng)
        say("%s: the packets of several interfaces are now those of one, so ipoib-check can have "
            "other findings; name an OUT that ends with .pcapng to keep the interfaces",
            input);
    print_count(input, tally->unwritten, "packet", "read, but not written");
    print_count(input, tally->results[NO_PACKET], "ERF record",
                "without a packet (padding, provenance) not copied");
    print_count(input, tally->lost_headers, "packet",
                "copied without ERF extension headers, which link type 247 cannot carry");
    print_count(input, tally->ibdump_times, "packet",
                "had ibdump's inexact ERF time; the file's own time was taken");
    print_count(
        input, tally->lost_before, "packet",
        to == LINKTYPE_ERF || pcapng
            ? "had been lost by the capture itself (the loss counters are kept)"
            : "had been lost by the capture itself (loss counters, which this output cannot carry)");
}

void convert_tally_summary(const struct convert_tally *tally)
{
    say("%" PRIu64 " packets, %" PRIu64 " octets, %" PRIu64 " drops", tally->results[CARRIED],
        tally->bytes, convert_tally_drops(tally));
}
