/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of fact (fact_kinds.def), and what the findings of a rule rest on. */
#ifndef IPOIB_RULES_FACT_KINDS_H
#define IPOIB_RULES_FACT_KINDS_H

enum fact_kind {
    FACT_NONE,
#define FACT(name, function, tables, words) FACT_##name,
#include "rules/fact_kinds.def"
#undef FACT
    FACT_KINDS,
};

/*
 * What the findings of a rule rest on: a set. A finding of one frame is found without any other
 * frame of the capture. Only failures cite facts; a note does not claim that no frame is missing.
 */
enum rests_on {
    ON_NOTHING = 0, /* no findings in a capture */
    ON_ONE_FRAME = 1 << FACT_NONE,
#define FACT(name, function, tables, words) ON_##name = 1 << FACT_##name,
#include "rules/fact_kinds.def"
#undef FACT
    ON_EXCHANGE = 1 << FACT_KINDS,    /* a message and its exchange: a REQ, a request */
    ON_MODEL = 1 << (FACT_KINDS + 1), /* a note: what earlier frames of any kind show */
};

#endif
