/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SA's response times. */
#ifndef IPOIB_PROBE_SA_TIMES_H
#define IPOIB_PROBE_SA_TIMES_H

#include "probe/run/run.h"
#include "probe/run/target.h"

/* Keeps them for the reports for programs. */
void sa_times_keep(struct target *t);
/* "the SA: 12 answers in 0.20/0.31/0.90 ms"; NULL: it was not queried. Free with g_free(). */
char *sa_times_text(const struct run *r);

#endif
