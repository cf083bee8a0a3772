/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a probe, connected to each other, for unit tests. */
#ifndef IPOIB_TESTS_PROBE_FIXTURE_H
#define IPOIB_TESTS_PROBE_FIXTURE_H

#include "probe/exchange/peer.h"
#include "probe/link/link.h"
#include "report/report.h"

struct probe_fixture {
    struct run run;
    struct probe_link link;
    struct peer peer;
    struct target target;
};

/* Frees the results of a target whose name is a literal. */
static inline void probe_fixture_forget(struct checked *j)
{
    j->name = NULL;
    checked_clear(j);
}

/* The verdict, and what the last line says: the reason if there is none. */
static inline enum verdict_status probe_fixture_verdict(const struct checked *j)
{
    const struct report r = {.probed = true};
    return checked_summary(&r, j).status;
}

static inline const char *probe_fixture_reason(const struct checked *j)
{
    const struct report r = {.probed = true};
    return checked_why_not(&r, j);
}

static inline struct target *
probe_fixture_make(struct probe_fixture *s, const struct options *options, struct results *results)
{
    *s = (struct probe_fixture){.run.options = options};
    s->target = (struct target){
        .run = &s->run, .link = &s->link, .peer = &s->peer, .results = results};
    return &s->target;
}

#endif
