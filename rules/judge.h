/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture judged frame by frame: each goes through the carrier, the decoder and the model of the fabric to the
 * checks that concern it. Frames of other protocols, and of other protocols' connections, are never judged.
 */
#ifndef IPOIB_RULES_JUDGE_H
#define IPOIB_RULES_JUDGE_H

#include "rules/check.h"

struct judge;

/* What a check found in frame number frame (from 1); offsets count from the InfiniBand packet's begin. */
typedef void judge_report(void *user, uint32_t frame, const struct finding *f);

struct judge *judge_new(judge_report *report, void *user);
void judge_free(struct judge *j);

/* The next frame of the capture, of the given link type (LINKTYPE_* of wire/carrier.h). */
void judge_frame(struct judge *j, int linktype, struct view frame);

#endif
