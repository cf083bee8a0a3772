/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-check --annotate: the capture once more, as pcapng, with each finding as a comment of its
 * packet and the verdict as the section's comment, for people whose Wireshark has no plugin. Frames
 * of LINKTYPE_INFINIBAND (247) become ERF records, which Wireshark opens; others stay as they are.
 */
#ifndef IPOIB_CHECK_ANNOTATION_H
#define IPOIB_CHECK_ANNOTATION_H

#include <stdbool.h>

#include "pcapio/capfile.h"
#include "report/report.h"

struct annotation;

/* NULL after a message: there is no room for a temporary file. */
struct annotation *annotation_new(void);
void annotation_free(struct annotation *a);

/* The file whose frames follow: its interfaces are kept. */
void annotation_begin(struct annotation *a, struct capfile *file);
/* What was found in the next frame; what passed or is inconclusive makes no comment. */
void annotation_finding(struct annotation *a, const struct finding *f);
void annotation_frame(struct annotation *a, const struct capfile_frame *frame);

/* Writes the file, with the verdict on the report's first capture. False after a message. */
bool annotation_save(struct annotation *a, const struct report *r, const char *path);

#endif
