/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report while the run goes on: each target's part is written when it is ready, and its memory
 * given back.
 */
#ifndef IPOIB_PROBE_COLLECT_H
#define IPOIB_PROBE_COLLECT_H

#include "probe/run/options.h"

struct collection;

struct collection *collection_new(const struct options *o, const char *version);
void collection_free(struct collection *c);

/*
 * A target is ready: *j is the collection's from now on. Text that goes to stdout is there at once.
 */
void collect(struct collection *c, struct judged *j);
/* The whole report, where it belongs. False after a message. */
bool collection_deliver(struct collection *c);
int collection_exit_status(const struct collection *c);

#endif
