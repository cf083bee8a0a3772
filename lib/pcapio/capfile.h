/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads capture files of any link type, frame by frame with Wireshark's frame numbers: classic pcap
 * (by libpcap), pcapng and raw ERF (by this library), also compressed with gzip. The format is
 * detected from the content.
 */
#ifndef IPOIB_PCAPIO_CAPFILE_H
#define IPOIB_PCAPIO_CAPFILE_H

#include <stdbool.h>
#include <stdint.h>

struct capfile;

enum capfile_result { CAPFILE_FRAME, CAPFILE_END, CAPFILE_ERROR };

enum { CAPFILE_ERROR_LEN = 320 }; /* bytes of a message with its terminating 0 */

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
 * Opens PATH ("-": stdin). Returns NULL, with a message in ERROR (without the path), if it cannot
 * be opened or is not a capture file.
 */
struct capfile *capfile_open(const char *path, char error[CAPFILE_ERROR_LEN]);

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
 * Callback for each of these, in the order of the file: an interface before its first frame is
 * returned.
 */
typedef void capfile_describe(void *user, const struct capfile_description *described);
/* Sets the callback. Call it before capfile_next; it has no effect on files of other formats. */
void capfile_on_description(struct capfile *c, capfile_describe *describe, void *user);

/*
 * The packets lost between the last frame and the one before (epb_dropcount; 0: none or unknown).
 * Call it before capfile_options.
 */
uint64_t capfile_dropped(const struct capfile *c);
/*
 * The other options of the last frame that are copied to another pcapng file, as in struct
 * capfile_description; LEN bytes, 0 in other formats. Call it once for a frame.
 */
const uint8_t *capfile_options(struct capfile *c, uint32_t *len);

/*
 * Whether the file is pcapng. Wireshark shows the time of a pcapng file for ERF records; in other
 * files, the time in the record.
 */
bool capfile_is_pcapng(const struct capfile *c);

/* NULL does nothing. */
void capfile_close(struct capfile *c);

/*
 * Reads the next frame. CAPFILE_ERROR: the file is malformed, incomplete or cannot be read (see
 * capfile_error); no frame follows.
 */
enum capfile_result capfile_next(struct capfile *c, struct capfile_frame *out);

/* Returns the error message, without the file name: "is cut short: ...". */
const char *capfile_error(const struct capfile *c);

/* Returns the part of the file that has been read, 0 to 1; negative if its size is unknown. */
double capfile_progress(const struct capfile *c);

#endif
