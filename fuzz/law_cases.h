/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chains of the law of degradation that end with a capture file: how they are written as text,
 * checked, and reduced to few steps and frames.
 */
#ifndef IPOIB_FUZZ_LAW_CASES_H
#define IPOIB_FUZZ_LAW_CASES_H

#include "fuzz/law.h"

/* ---- files */

enum law_form {
    LAW_NO_FILE, /* the frames are checked without a file */
    LAW_PCAP,
    LAW_PCAP_MICROSECONDS,
    LAW_PCAP_BIG_ENDIAN,
    LAW_PCAPNG,
    LAW_PCAPNG_BIG_ENDIAN,
    LAW_ERF,
    LAW_ERF_IN_PCAP,
    LAW_FORMS
};

struct law_file {
    enum law_form form;
    bool gzip;
};

const char *law_form_name(enum law_form form);
/* Returns false if no form has the name. */
bool law_form_called(const char *name, enum law_form *form);

/* No file, which is fastest, or a form that can hold these frames. */
struct law_file law_draw_file(int linktype, const GArray *frames, struct law_random *r);
/* The file's bytes; LAW_NO_FILE: as LAW_PCAPNG. */
GByteArray *law_file_bytes(int linktype, const GArray *frames, struct law_file file);
/* Writes the frames into such a file, reads and checks it. If it cannot be read, exits with 2. */
GHashTable *law_violations_in_file(int linktype, const GArray *frames, struct law_file file);

/*
 * Reads a capture: the frames of the first one's link type. An ERF record's InfiniBand packet is
 * taken out of it. NULL: it has no frame, or cannot be read; then error is set.
 */
struct law_capture *law_read(const char *path, GError **error);

/* ---- cases */

struct law_case {
    const struct law_capture *capture;
    bool *left_out;     /* of each frame of the whole capture: removed before the first change */
    GPtrArray *changes; /* struct law_change */
    struct law_file file;
    bool removes; /* frames are lost, and nothing else happens: it may add no violation to a capture
                     with violations either */
};

void law_case_init(struct law_case *x, const struct law_capture *c);
void law_case_free(struct law_case *x);
/* The frames that remain, into f, which is not initialised yet. */
void law_case_frames(const struct law_case *x, struct law_frames *f);
/* The violations in the case's file; the caller frees the set. */
GHashTable *law_case_violations(const struct law_case *x);

/* The first violation that breaks the law; NULL: none does. It belongs to one of the sets. */
const char *law_case_broken(const struct law_case *x, GHashTable *found);
/* "adds" or "loses": how this violation breaks the law. */
const char *law_case_verb(const struct law_case *x, const char *violation);

/*
 * The case as text: "keep 1-5,7; cut 7:52; as erf gzip". Frames are counted from 1. The caller
 * frees it.
 */
char *law_case_text(const struct law_case *x);
/* Fills an initialised case. Returns false if the text is not understood. */
bool law_case_parse(struct law_case *x, const char *text);

/* Leaves out what the violation, which breaks the law, does not need (fuzz/law_reduce.c). */
void law_reduce(struct law_case *x, const char *violation);

#endif
