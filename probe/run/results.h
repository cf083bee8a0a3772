/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of the checks of one target: findings, with what was sent and received, for the reports
 * of lib/report.
 */
#ifndef IPOIB_PROBE_RESULTS_H
#define IPOIB_PROBE_RESULTS_H

#include "report/report.h"
#include "rules/deviation.h"

/* For tables of checks or stages: the rules that an entry reports, and their number. */
#define RULES(...)                                                                                 \
    .rules = {__VA_ARGS__},                                                                        \
    .n_rules = sizeof((enum rule_number[]){__VA_ARGS__}) / sizeof(enum rule_number)

struct options;
struct latencies; /* probe/run/times.h */

struct results {
    struct checked *checked;
    const struct deviations *known;
    const char *check; /* the check that runs now */
    char sent[VERDICT_TEXT], received[VERDICT_TEXT];
    enum outcome worst; /* worst outcome of this check, for the comments of its packets */
    bool any;
    GPtrArray *held; /* struct held: findings that are not yet added; NULL: findings are not held */
    uint16_t lid;    /* sender of the packet being checked; 0: unknown */
    uint32_t qpn;
};

/* Call at the start of a check. */
void results_begin(struct results *r, const char *check);
void results_sent(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Sets what was sent and received for the following findings, as complete texts. */
void results_show(struct results *r, const char *sent, const char *received);
void results_received(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Adds a result for a rule. A failure that is in the list of known deviations becomes a deviation.
 */
void results_add(struct results *r, enum rule_number rule, enum outcome outcome,
                 const char *expected, const char *actual);
/* The same for a result of a connection; service_id: as in struct failure. */
void results_add_connection(struct results *r, enum rule_number rule, enum outcome outcome,
                            const char *expected, const char *actual, const char *service_id);
/* A failure about a number, whose name is that of the checks' findings: "packet life time". */
void results_add_number(struct results *r, enum rule_number rule, const char *expected,
                        const char *actual, const char *name, uint64_t value);
/* The same for a result that does not depend on which station the peer is: it is never held. */
void results_add_sure(struct results *r, enum rule_number rule, enum outcome outcome,
                      const char *expected, const char *actual);

/*
 * Holds findings until it is known which station they are about. results_release() adds them.
 * doubt: why failed or undecided results are inconclusive; NULL: no doubt.
 */
void results_hold(struct results *r);
void results_release(struct results *r, const char *doubt);
/* Drops held findings about packets of senders that keep() rejects. */
typedef bool results_keep(void *user, uint16_t lid, uint32_t qpn);
void results_drop(struct results *r, results_keep *keep, void *user);
/* True if a finding with that outcome is held that doubt would make inconclusive. */
bool results_holds(const struct results *r, enum outcome outcome);
/* Number of findings with that rule and outcome, including held ones. */
uint64_t results_count(const struct results *r, enum rule_number rule, enum outcome outcome);

/* Notes that the check could not run, or not for this rule. */
void results_skip(struct results *r, enum rule_number rule, const char *why);

/*
 * A finding of the packet checks about a packet of the peer (checker_report). Inconclusive findings
 * are ignored.
 */
void results_checked(void *user, uint32_t frame, const struct finding *f);

/*
 * Adds a stage of the fabric diagnosis. outcome: as in words.h, including VERDICT_SKIPPED. advice:
 * what to do next, or "".
 */
void results_stage(struct results *r, const char *id, int outcome, const char *advice,
                   const char *format, ...) G_GNUC_PRINTF(5, 6);

/* Sets the advice of the last stage. */
void results_advise(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Removes stages that --only does not select. also: the one that ended a diagnosis, which is kept;
 * "": none ended it. NULL: those without a result are kept.
 */
void results_keep_selected(struct results *r, const struct options *o, const char *also);

/* Something of the last stage was not done, so it is inconclusive, unless it failed. */
void results_withhold_stage(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Replaces the text of an earlier stage, by its position. */
void results_set_stage(struct results *r, unsigned at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The times as a report has them. */
struct checked_times results_times(const struct latencies *t);

/* "pass", "fail" ...: the worst outcome since results_begin(). */
const char *results_outcome(const struct results *r);

#endif
