/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the SA (subnet administration). */
#ifndef IPOIB_PROBE_SA_H
#define IPOIB_PROBE_SA_H

#include "hca/client.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* Asks, and logs both ways. The records are in a->records, to be cleared by sa_answer_clear. */
enum sa_result sa_ask(struct target *t, const struct sa_question *q, struct sa_answer *a);
void sa_answer_clear(struct sa_answer *a);
/* Why nothing was told: of SA_SILENT, SA_BUSY and SA_BROKEN, in words. */
const char *sa_silence_text(const struct target *t, enum sa_result result);
/* What is kept of answers during a sweep. */
void sa_forget(struct run *r);

#endif
