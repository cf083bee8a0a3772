/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads classic pcap files of link type 247: the file header, then records, in order or at random.
 *
 * Frames are passed on as InfiniBand records of ERF, in the way of Wireshark's reader for ERF in
 * pcap: the record header is a pseudo-header, and the packet's bytes do not change. The reason is
 * saving: no file format of Wireshark can hold WTAP_ENCAP_INFINIBAND, but pcap and pcapng can hold
 * WTAP_ENCAP_ERF, and a Wireshark without this plugin opens such a file.
 */
#include "plugin/wiretap/pcap247.h"
#include "plugin/wiretap/record.h"
#include "plugin/wiretap/trust.h"

/* How to read the records, from the file header. */
struct pcap247 {
    wt_bool big_endian;
    uint32_t units_per_second; /* of a record's fraction of a second */
};

/* True if the 4 bytes are a pcap magic number; then sets *file. */
static wt_bool know_magic(const uint8_t *magic, struct pcap247 *file)
{
    uint32_t little = get32(magic, FALSE), big = get32(magic, TRUE);

    file->big_endian = big == PCAP_MAGIC_USEC || big == PCAP_MAGIC_NSEC;
    file->units_per_second = little == PCAP_MAGIC_NSEC || big == PCAP_MAGIC_NSEC ? 1000000000
                                                                                 : 1000000;
    return file->big_endian || little == PCAP_MAGIC_USEC || little == PCAP_MAGIC_NSEC;
}

/*
 * Handles a failed read of the header. A file that is too short for the header is not ours; other
 * errors (bad gzip) are final.
 */
static wtap_open_return_val header_unread(int *err, char **err_info)
{
    if (*err != WTAP_ERR_SHORT_READ)
        return WTAP_OPEN_ERROR;
    *err = 0;
    g_free(*err_info);
    *err_info = NULL;
    return WTAP_OPEN_NOT_MINE;
}

/* Reads one record from fh's position. At the end of the file it returns FALSE with *err 0. */
static wt_bool read_record(wtap *wth, FILE_T fh, wtap_rec *rec, Buffer *buffer, int *err,
                           char **err_info)
{
    const struct pcap247 *file = wth->priv;
    int64_t offset = file_tell(fh);
    uint8_t header[PCAP_RECORD_HEADER];

    if (!wtap_read_bytes_or_eof(fh, header, sizeof header, err, err_info))
        return FALSE;

    uint32_t fraction = get32(header + PCAP_FRACTION, file->big_endian);
    uint32_t caplen = get32(header + PCAP_CAPLEN, file->big_endian);
    uint32_t len = get32(header + PCAP_LEN, file->big_endian);

    /*
     * A corrupt length would make the reader take the rest of the file as one packet. Report it
     * instead.
     */
    if (caplen > WTAP_MAX_PACKET_SIZE_STANDARD || len > INT32_MAX) {
        *err = WTAP_ERR_BAD_FILE;
        *err_info = g_strdup_printf(
            "pcap: the record at offset %" G_GINT64_FORMAT " has %u captured bytes of a "
            "packet of %u; more than %u captured or %d in all is not a packet",
            (gint64)offset, caplen, len, WTAP_MAX_PACKET_SIZE_STANDARD, INT32_MAX);
        return FALSE;
    }

    wt_setup_packet(rec, WTAP_ENCAP_ERF);
    rec->presence_flags = WTAP_HAS_TS | WTAP_HAS_CAP_LEN;
    /* Some writers store more than a second in the fraction. The timestamp is the sum of both. */
    rec->ts.secs = (time_t)get32(header + PCAP_SECONDS, file->big_endian) +
                   fraction / file->units_per_second;
    rec->ts.nsecs = (int)(fraction % file->units_per_second *
                          (1000000000 / file->units_per_second));
    rec->rec_header.packet_header.caplen = caplen;
    rec->rec_header.packet_header.len = len;
    set_erf_header(rec);
    return wt_read_bytes(fh, rec, buffer, caplen, err, err_info);
}

static wt_bool pcap247_read(wtap *wth, wtap_rec *rec, WT_BUFFER_PARAM int *err, char **err_info,
                            gint64 *offset)
{
    *offset = file_tell(wth->fh);
    return read_record(wth, wth->fh, rec, WT_BUFFER, err, err_info);
}

static wt_bool pcap247_seek_read(wtap *wth, gint64 offset, wtap_rec *rec, WT_BUFFER_PARAM int *err,
                                 char **err_info)
{
    if (file_seek(wth->random_fh, offset, SEEK_SET, err) == -1)
        return FALSE;
    if (read_record(wth, wth->random_fh, rec, WT_BUFFER, err, err_info))
        return TRUE;
    if (*err == 0) /* the file was truncated after the first read */
        *err = WTAP_ERR_SHORT_READ;
    return FALSE;
}

/*
 * Makes the file ours. Its type is that of Wireshark's own pcap reader, which can write. So
 * Wireshark's "Save" works, and writes ERF.
 */
static wtap_open_return_val claim(wtap *wth, const struct pcap247 *file, uint32_t snaplen)
{
    wt_bool usec = file->units_per_second == 1000000;

    wth->priv = g_memdup2(file, sizeof *file);
    wth->subtype_read = pcap247_read;
    wth->subtype_seek_read = pcap247_seek_read;
    wth->file_type_subtype = usec ? wtap_pcap_file_type_subtype()
                                  : wtap_pcap_nsec_file_type_subtype();
    wth->file_encap = WTAP_ENCAP_ERF;
    wth->file_tsprec = usec ? WTAP_TSPREC_USEC : WTAP_TSPREC_NSEC;
    wth->snapshot_length = snaplen;
    /* The file describes one interface, only by link type, snapshot length and time resolution. */
    wtap_add_generated_idb(wth);
    return WTAP_OPEN_MINE;
}

/*
 * The core rewinds the file before each open routine, so a routine that rejects it need not. Only 4
 * bytes are read of a file that is not pcap.
 */
wtap_open_return_val pcap247_open(wtap *wth, int *err, char **err_info)
{
    uint8_t header[PCAP_FILE_HEADER];
    struct pcap247 file;

    if (!trust_reading(wth))
        return WTAP_OPEN_NOT_MINE;
    if (!wtap_read_bytes(wth->fh, header, PCAP_MAJOR, err, err_info))
        return header_unread(err, err_info);
    if (!know_magic(header, &file))
        return WTAP_OPEN_NOT_MINE;
    if (!wtap_read_bytes(wth->fh, header + PCAP_MAJOR, sizeof header - PCAP_MAJOR, err, err_info))
        return header_unread(err, err_info);

    /* Leave reserved bits in the link type to Wireshark's own reader, which reports them. */
    uint32_t linktype = get32(header + PCAP_LINKTYPE, file.big_endian);
    if ((linktype & PCAP_LINKTYPE_MASK) != LINKTYPE_INFINIBAND ||
        (linktype & PCAP_LINKTYPE_RESERVED) != 0)
        return WTAP_OPEN_NOT_MINE;

    unsigned major = get16(header + PCAP_MAJOR, file.big_endian);
    unsigned minor = get16(header + PCAP_MINOR, file.big_endian);
    if (major != PCAP_VERSION_MAJOR || minor != PCAP_VERSION_MINOR) {
        *err = WTAP_ERR_UNSUPPORTED;
        *err_info = g_strdup_printf(
            "pcap: version %u.%u of a file of link type 247 (InfiniBand) is not 2.4", major, minor);
        return WTAP_OPEN_ERROR;
    }
    return claim(wth, &file, get32(header + PCAP_SNAPLEN, file.big_endian));
}
