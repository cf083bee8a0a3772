/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture file, read and judged from its begin to its end. */
#ifndef IPOIB_CHECK_JUDGING_H
#define IPOIB_CHECK_JUDGING_H

#include "check/annotation.h"
#include "model/interfaces.h"
#include "report/baseline.h"
#include "report/report.h"
#include "rules/deviation.h"

/* By what captures are judged. */
struct judging {
    const struct selection *selection;
    const struct deviations *known;
    const struct baseline *baseline; /* NULL: none */
    enum interfaces_mode interfaces;
    struct annotation *annotation; /* NULL: none is wanted */
};

/*
 * Judges the capture at path ("-": stdin) by the selected rules; what is wrong with the file is
 * told, and kept in out->trouble. *stop becomes nonzero, from a signal handler, to end it early:
 * then out holds no verdict, and false is returned. out is to be cleared either way (judged_clear).
 */
bool judge_capture(struct judged *out, const char *path, const struct judging *by,
                   const volatile int *stop);

#endif
