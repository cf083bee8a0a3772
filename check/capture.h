/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a capture file and checks all of its frames. */
#ifndef IPOIB_CHECK_CAPTURE_H
#define IPOIB_CHECK_CAPTURE_H

#include "check/annotation.h"
#include "model/interfaces.h"
#include "report/baseline.h"
#include "report/report.h"
#include "rules/deviation.h"

/* Settings for the checks. */
struct check_settings {
    const struct rule_selection *selection;
    const struct deviations *known;
    const struct baseline *baseline; /* NULL: none */
    enum interfaces_mode interfaces;
    struct annotation *annotation; /* NULL: no annotated capture is written */
};

/*
 * Checks the capture at path ("-": stdin) against the selected rules. Returns false and sets ERROR,
 * which names the file, if it cannot be read to its end: then out has the verdict up to there, and
 * the reason in out->trouble. A signal handler sets *stop to nonzero to end the run early: then the
 * function returns false too, and out has no valid verdict. Call checked_clear(out) in each case.
 */
bool check_capture(struct checked *out, const char *path, const struct check_settings *by,
                   const volatile int *stop, GError **error);

#endif
