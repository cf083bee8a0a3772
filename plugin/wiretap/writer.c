/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes classic pcap files of link type 247, so that a file that was opened can be filtered,
 * sliced, merged and saved. No format of Wireshark's own can hold WTAP_ENCAP_INFINIBAND packets.
 * This one can hold no others.
 */
#include "plugin/wiretap/pcap247.h"
#include "plugin/wiretap/trust.h"

int pcap247_can_write_encap(int encap)
{
    if (encap == WTAP_ENCAP_PER_PACKET)
        return WTAP_ERR_ENCAP_PER_PACKET_UNSUPPORTED;
    return encap == WTAP_ENCAP_INFINIBAND ? 0 : WTAP_ERR_UNWRITABLE_ENCAP;
}

/* pcap is written in the byte order of the writing machine. */
static void put16(uint8_t *p, uint16_t value)
{
    memcpy(p, &value, sizeof value);
}

static void put32(uint8_t *p, uint32_t value)
{
    memcpy(p, &value, sizeof value);
}

static wt_bool unwritable_time(const wtap_rec *rec, int *err, char **err_info)
{
    *err = WTAP_ERR_UNWRITABLE_REC_DATA;
    *err_info = g_strdup_printf("pcap247: %" G_GINT64_FORMAT
                                " seconds since 1970 do not fit in 32 bits",
                                (gint64)rec->ts.secs);
    return FALSE;
}

static wt_bool write_packet(wtap_dumper *wdh, const wtap_rec *rec, const uint8_t *octets, int *err)
{
    const wtap_packet_header *packet = &rec->rec_header.packet_header;
    uint8_t header[PCAP_RECORD_HEADER];

    put32(header + PCAP_SECONDS, (uint32_t)rec->ts.secs);
    put32(header + PCAP_FRACTION, (uint32_t)rec->ts.nsecs);
    put32(header + PCAP_CAPLEN, packet->caplen);
    put32(header + PCAP_LEN, packet->len);
    return wt_write(wdh, header, sizeof header, err) && wt_write(wdh, octets, packet->caplen, err);
}

static wt_bool write_record(wtap_dumper *wdh, const wtap_rec *rec, WT_OCTETS_PARAM int *err,
                            char **err_info)
{
    const wtap_packet_header *packet = &rec->rec_header.packet_header;

    if (rec->rec_type != REC_TYPE_PACKET)
        *err = WTAP_ERR_UNWRITABLE_REC_TYPE;
    else if (packet->pkt_encap != WTAP_ENCAP_INFINIBAND)
        *err = WTAP_ERR_ENCAP_PER_PACKET_UNSUPPORTED;
    else if (packet->caplen > WTAP_MAX_PACKET_SIZE_STANDARD)
        *err = WTAP_ERR_PACKET_TOO_LARGE;
    else if (rec->ts.secs < 0 || rec->ts.secs > (time_t)UINT32_MAX)
        return unwritable_time(rec, err, err_info);
    else
        return write_packet(wdh, rec, WT_OCTETS(rec), err);
    return FALSE;
}

/* The file always has nanosecond timestamps, which also represent microseconds exactly. */
wt_bool pcap247_dump_open(wtap_dumper *wdh, int *err, char **err_info)
{
    uint8_t header[PCAP_FILE_HEADER] = {0};

    if (!trust_writing(wdh)) {
        *err = WTAP_ERR_INTERNAL;
        *err_info = g_strdup(
            "pcap247: this Wireshark's file writing is not what the plugin was built for");
        return FALSE;
    }
    put32(header + PCAP_MAGIC, PCAP_MAGIC_NSEC);
    put16(header + PCAP_MAJOR, PCAP_VERSION_MAJOR);
    put16(header + PCAP_MINOR, PCAP_VERSION_MINOR);
    put32(header + PCAP_SNAPLEN,
          wdh->snaplen ? (uint32_t)wdh->snaplen : WTAP_MAX_PACKET_SIZE_STANDARD);
    put32(header + PCAP_LINKTYPE, LINKTYPE_INFINIBAND);
    wdh->subtype_write = write_record;
    return wt_write(wdh, header, sizeof header, err);
}
