/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading capture files of any link type, frame by frame as Wireshark numbers them: classic pcap
 * (by libpcap), pcapng and raw ERF (by our own), each also compressed by gzip; told apart by
 * content.
 */
#ifndef IPOIB_PCAPIO_CAPFILE_H
#define IPOIB_PCAPIO_CAPFILE_H

#include <stdbool.h>
#include <stdint.h>

struct capfile;

enum capfile_result { CAPFILE_FRAME, CAPFILE_END, CAPFILE_ERROR };

enum { CAPFILE_ERROR_LEN = 320 }; /* octets of a message, its end included */

struct capfile_frame {
    uint32_t number;    /* from 1, as Wireshark counts */
    uint32_t interface; /* from 0, of the whole file: those of a pcapng file's second section follow
                           the first's */
    int linktype;       /* LINKTYPE_* */
    int64_t ns;       /* since 1970; where the file does not say, that of the frame before, or 0 */
    uint32_t caplen;  /* octets that are there */
    uint32_t wirelen; /* octets on the wire, never less */
    const uint8_t *octets; /* valid until the next call */
};

/*
 * Opens PATH ("-": stdin). Returns NULL, with a message in ERROR (without the path), if it is no
 * capture file.
 */
struct capfile *capfile_open(const char *path, char error[CAPFILE_ERROR_LEN]);

/* An interface as a pcapng file describes it. Texts are of the file, NULL where it has none. */
struct capfile_interface {
    int linktype;
    uint32_t snaplen; /* octets; 0: no limit */
    const char *name, *description;
};

/*
 * Who is told of each interface, in the order of their numbers, before the first frame of it is
 * returned. Only pcapng files describe any.
 */
typedef void capfile_describe(void *user, const struct capfile_interface *described);
void capfile_on_interface(struct capfile *c, capfile_describe *describe, void *user);

/* Is it a pcapng file? Wireshark shows its times; of ERF records in others the record's. */
bool capfile_is_pcapng(const struct capfile *c);

/* NULL does nothing. */
void capfile_close(struct capfile *c);

/*
 * The next frame. CAPFILE_ERROR: the file is damaged, cut short or cannot be read (capfile_error
 * says); nothing follows.
 */
enum capfile_result capfile_next(struct capfile *c, struct capfile_frame *out);

/* What is wrong with the file, without its name: "is cut short: ...". */
const char *capfile_error(const struct capfile *c);

/* How much of the file has been read, 0 to 1; negative where its size is not known. */
double capfile_progress(const struct capfile *c);

#endif
