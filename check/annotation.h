/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ipoib-check --annotate: writes the capture as pcapng, with each finding and event as a comment of
 * its packet and the verdict as the section's comment, for users whose Wireshark has no plugin.
 * Frames of LINKTYPE_INFINIBAND (247) become ERF records, which Wireshark opens; other frames stay
 * as they are.
 */
#ifndef IPOIB_CHECK_ANNOTATION_H
#define IPOIB_CHECK_ANNOTATION_H

#include <glib.h>
#include <stdbool.h>

#include "analysis/event.h"
#include "pcapio/capfile.h"
#include "report/report.h"

struct annotation;

/* Returns NULL and sets ERROR if the temporary file cannot be created. */
struct annotation *annotation_new(GError **error);
void annotation_free(struct annotation *a);

/* Call before the frames of the file; its interfaces are copied. */
void annotation_begin(struct annotation *a, struct capfile *file);
/* Adds a comment to the next frame. Passes and inconclusive results make no comment. */
void annotation_finding(struct annotation *a, const struct finding *f);
/* The same for an event in it. */
void annotation_event(struct annotation *a, const struct link_event *e);
void annotation_frame(struct annotation *a, const struct capfile_frame *frame);

/*
 * Writes the file, with the verdict on the report's first capture. Writes nothing if this capture
 * was not opened: PATH may be the capture, in the place of OUT by mistake. Returns false and sets
 * ERROR if this fails, or if a function above could not write the temporary file.
 */
bool annotation_save(struct annotation *a, const struct report *r, const char *path,
                     GError **error);

#endif
