/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What explains a suspicion that rests on a result. */
#ifndef IPOIB_RULES_SUSPICIONS_EXPLAINED_H
#define IPOIB_RULES_SUSPICIONS_EXPLAINED_H

#include "rules/suspicions/suspicions.h"

/*
 * "unless ...": what a packet that was not captured may have said about the fact. NULL: no
 * suspicion rests on facts of that kind.
 */
const char *suspicion_unless(enum fact_kind kind);

/* Has a later packet explained it by now, or may it have? */
bool suspicion_is_explained(const struct check_context *s, const struct suspicion *one);

#endif
