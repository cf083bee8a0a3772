/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the results of the run. Each target's part of the report is written, and its memory
 * freed, as soon as the target is finished.
 */
#ifndef IPOIB_PROBE_COLLECT_H
#define IPOIB_PROBE_COLLECT_H

#include "probe/run/options.h"
#include "probe/run/watched.h"

struct collection;

/* Returns NULL and sets ERROR if there is no temporary file for the report. */
struct collection *collection_new(const struct options *o, const char *version, GError **error);
void collection_free(struct collection *c);

/*
 * Prints a line of the text report before the part of its target. With a report in a file, only
 * the lines of a watched peer are printed.
 */
void collection_say(struct collection *c, const char *line);
/* The same line as JSON Lines, or its numbers in the metrics. */
void collection_show(struct collection *c, const struct watch_line *l);
/*
 * Adds a finished target; takes ownership of *j. With text output to stdout, the part is printed
 * immediately. collection_deliver() returns an error of writing.
 */
void collection_add(struct collection *c, struct checked *j);
/*
 * The same, but the report waits for the next target or for collection_release(), so that more can
 * be added to what is held.
 */
void collection_hold(struct collection *c, struct checked *j);
/* The target that is held; NULL: none. */
struct checked *collection_held(struct collection *c);
void collection_release(struct collection *c);
/*
 * Writes the whole report to its destination. Returns false and sets ERROR to the first error of
 * writing, of a part too.
 */
bool collection_deliver(struct collection *c, GError **error);
/* Prints the report to standard output, after its file could not be written. */
void collection_print(struct collection *c);
int collection_exit_status(const struct collection *c);

#endif
