/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/fact.h"

#include "rules/certainty.h"

static certainty_of *const functions[FACT_KINDS] = {
#define FACT(name, function, words) [FACT_##name] = (function),
#include "rules/fact_kinds.def"
#undef FACT
};

struct certainty fact_certainty(const struct check_context *s, const struct fact *f)
{
    return functions[f->kind](s, f);
}
