/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a probe, connected to each other, for unit tests. */
#ifndef IPOIB_TESTS_PROBE_FIXTURE_H
#define IPOIB_TESTS_PROBE_FIXTURE_H

#include "probe/exchange/peer.h"
#include "probe/link/link.h"

struct probe_fixture {
    struct run run;
    struct probe_link link;
    struct peer peer;
    struct target target;
};

static inline struct target *
probe_fixture_make(struct probe_fixture *s, const struct options *options, struct results *results)
{
    *s = (struct probe_fixture){.run.options = options};
    s->target = (struct target){
        .run = &s->run, .link = &s->link, .peer = &s->peer, .results = results};
    return &s->target;
}

#endif
