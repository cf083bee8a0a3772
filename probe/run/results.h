/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comes of the checks of one target: findings with what was sent and what came, for the
 * reports of lib/report.
 */
#ifndef IPOIB_PROBE_RESULTS_H
#define IPOIB_PROBE_RESULTS_H

#include "report/report.h"
#include "rules/deviation.h"

/*
 * In a table of checks or stages: the rules that one reports, and how many.
 */
#define RULES(...)                                                                                 \
    .rules = {__VA_ARGS__},                                                                        \
    .n_rules = sizeof((enum rule_number[]){__VA_ARGS__}) / sizeof(enum rule_number)

struct results {
    struct judged *judged;
    const struct deviations *known;
    const char *check; /* that runs now */
    char sent[VERDICT_TEXT], came[VERDICT_TEXT];
    enum outcome worst; /* of this check, for the packets' comments */
    bool any;
    GPtrArray *held; /* struct held: findings that are not yet added; NULL: none is held */
    uint16_t lid;    /* the sender of the packet that is judged; 0: not known */
    uint32_t qpn;
};

/* A check begins. */
void results_begin(struct results *r, const char *check);
void results_sent(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* What was sent and what came for the findings that follow, in whole texts. */
void results_show(struct results *r, const char *sent, const char *came);
void results_came(struct results *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* What it found of a rule. A failure that the list of deviations names becomes one. */
void results_add(struct results *r, enum rule_number rule, enum outcome outcome,
                 const char *expected, const char *actual);
/* The same of what does not rest on who the peer is: it is never held. */
void results_add_sure(struct results *r, enum rule_number rule, enum outcome outcome,
                      const char *expected, const char *actual);

/*
 * Findings are held from now on, until it is known whose they are. results_release adds them;
 * doubt: why what failed, or was not decided, is inconclusive; NULL: nothing is in doubt.
 */
void results_hold(struct results *r);
void results_release(struct results *r, const char *doubt);
/* Drops what rests on packets of senders that are not to be kept. */
typedef bool results_keep(void *user, uint16_t lid, uint32_t qpn);
void results_drop(struct results *r, results_keep *keep, void *user);
/* Is one of that outcome held that may be doubted? */
bool results_holds(const struct results *r, enum outcome outcome);
/* How many there are of that rule and outcome, held ones too. */
uint64_t results_count(const struct results *r, enum rule_number rule, enum outcome outcome);

/* It could not run, or not for this rule. */
void results_skip(struct results *r, enum rule_number rule, const char *why);

/*
 * A finding of the judge in a packet of the peer's (judge_report). What it could not decide is
 * nothing to a probe.
 */
void results_judged(void *user, uint32_t frame, const struct finding *f);

/*
 * A stage of the fabric's diagnosis. outcome as words.h has them, VERDICT_SKIPPED too; advice: what
 * to do next, or "".
 */
void results_stage(struct results *r, const char *id, int outcome, const char *advice,
                   const char *format, ...) G_GNUC_PRINTF(5, 6);

/* "pass", "fail" ...: the worst since results_begin. */
const char *results_outcome(const struct results *r);

#endif
