/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The subnet administrator by libibumad, for probe/verbs.c. */
#ifndef IPOIB_PROBE_VERBS_H
#define IPOIB_PROBE_VERBS_H

#include "probe/transport.h"

struct umad_sa;

/* 0, or an errno. */
int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port);
void umad_sa_close(struct umad_sa *sa);

/* As the transport's ask; error: size octets for what went wrong. */
enum transport_result umad_sa_ask(struct umad_sa *sa, const struct sa_question *q, int ms,
                                  const volatile int *stop, struct sa_answer *a, char *error, size_t size);

#endif
