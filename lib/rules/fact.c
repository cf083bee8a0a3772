/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/fact.h"

#include "rules/standing.h"

static standing_of *const standings[FACT_KINDS] = {
#define FACT(name, function, words) [FACT_##name] = (function),
#include "rules/fact_kinds.def"
#undef FACT
};

struct standing fact_standing(const struct check_context *s, const struct fact *f)
{
    return standings[f->kind](s, f);
}
