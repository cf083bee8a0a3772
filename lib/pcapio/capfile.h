/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of capture files: of any link type, frame by frame with Wireshark's frame numbers,
 * from a file, a pipe or a file that is still written. Formats: classic pcap (by libpcap), pcapng
 * and raw ERF (by this library), also compressed with gzip. The format is detected from the
 * content.
 */
#ifndef IPOIB_PCAPIO_CAPFILE_H
#define IPOIB_PCAPIO_CAPFILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct capfile;

enum capfile_result { CAPFILE_FRAME, CAPFILE_END, CAPFILE_ERROR };

struct capfile_frame {
    uint32_t number;    /* frame number as in Wireshark, from 1 */
    uint32_t interface; /* interface number in the whole file, from 0: the numbers of a pcapng
                           file's second section follow those of the first */
    int linktype;       /* LINKTYPE_* */
    int64_t ns; /* ns since 1970; if the file contains no time, that of the previous frame, or 0 */
    uint32_t caplen;      /* bytes captured */
    uint32_t wirelen;     /* bytes on the wire, at least caplen */
    const uint8_t *bytes; /* valid until the next call */
};

/*
 * Opens PATH ("-": stdin). Returns NULL and sets ERROR (pcapio/error.h) if it cannot be opened or
 * is not a capture file.
 */
struct capfile *capfile_open(const char *path, GError **error);

/*
 * What a pcapng file says besides its packets: a section, an interface, or statistics of an
 * interface. options: those of the block that are copied to another file, as they are stored in a
 * little-endian file with times in ns, without end mark; valid during the callback.
 */
enum capfile_about { CAPFILE_SECTION, CAPFILE_INTERFACE, CAPFILE_STATISTICS };
struct capfile_description {
    enum capfile_about about;
    uint32_t interface; /* number in the whole file */
    int linktype;       /* of an interface */
    uint32_t snaplen;   /* of an interface, bytes; 0: no limit */
    int64_t ns;         /* of statistics, since 1970 */
    const uint8_t *options;
    uint32_t options_len; /* bytes */
};

/*
 * Callback for each description, in the order of the file. An interface is described before its
 * first frame is returned.
 */
typedef void capfile_describe(void *user, const struct capfile_description *described);

/*
 * Settings, to be made before the first capfile_next. They have no effect on files of other
 * formats.
 */

/* Sets the callback. */
void capfile_on_description(struct capfile *c, capfile_describe *describe, void *user);
/* As WITHOUT_PRIVATE of pcapng_convert_options(), for all options of a pcapng file. */
void capfile_leave_private_out(struct capfile *c);
/*
 * Returns the padding records (type 48) of a raw ERF file too. Wireshark does not number them; the
 * frame numbers are then those of the records.
 */
void capfile_keep_padding(struct capfile *c);

/* Packets that the capture says it lost, by who lost them. */
struct capfile_lost {
    /* so far, by the interfaces and by the system (Interface Statistics Blocks of pcapng) */
    uint64_t interface, system;
    /*
     * so far, received but not accepted (isb_ifrecv, isb_filteraccept): by a filter that the
     * interface's description has; without a reason
     */
    uint64_t filtered, unaccepted;
    uint64_t blocks;  /* blocks of unknown type so far, which may have packets */
    uint64_t filters; /* interfaces so far whose description has a filter (if_filter) */
    /* between the last frame and the one before (epb_dropcount or the drops count
       of an obsolete Packet Block; loss counter of an ERF record) */
    uint64_t before, record;
};
/* Call it before capfile_options. F: the last frame; NULL: none. */
struct capfile_lost capfile_lost(const struct capfile *c, const struct capfile_frame *f);
/* Does the capture mark the frame as received with errors (epb_flags, flags of an ERF record)? */
bool capfile_is_marked(const struct capfile *c, const struct capfile_frame *f);

/* The flags of the frame's ERF record (ERF_FLAG_*); 0: it is none. */
uint8_t capfile_erf_flags(const struct capfile_frame *f);

/*
 * The packets lost between the last frame and the one before (0: none or unknown).
 * Call it before capfile_options.
 */
uint64_t capfile_dropped(const struct capfile *c);
/*
 * The other options of the last frame that are copied to another pcapng file, as in struct
 * capfile_description; LEN bytes, 0 in other formats. Call it once for a frame.
 */
const uint8_t *capfile_options(struct capfile *c, uint32_t *len);

bool capfile_is_pcapng(const struct capfile *c);
bool capfile_is_raw_erf(const struct capfile *c);

/*
 * The time of a frame that Wireshark shows, ns since 1970: that of the file, but for an ERF record
 * in a classic pcap file that of the record.
 */
int64_t capfile_time(const struct capfile *c, const struct capfile_frame *f);

/*
 * The link type and the snapshot length (bytes) of all frames. Returns false if the file is pcapng,
 * in which each interface has its own.
 */
bool capfile_header(const struct capfile *c, uint32_t *linktype, uint32_t *snaplen);

/* The descriptor of the opened file. */
int capfile_fd(const struct capfile *c);

/* NULL does nothing. */
void capfile_close(struct capfile *c);

/*
 * Reads the next frame. CAPFILE_ERROR: the file is malformed or truncated, or it cannot be read; no
 * frame follows. Sets ERROR; the text continues the file's name: "is cut short: ...".
 */
enum capfile_result capfile_next(struct capfile *c, struct capfile_frame *out, GError **error);

/* Returns the part of the file that has been read, 0 to 1; negative if its size is unknown. */
double capfile_progress(const struct capfile *c);

#endif
