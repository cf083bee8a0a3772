/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/fact.h"

#include "rules/certainty.h"

/*
 * The tables (model/undone.h) in which a further entry could outdate a fact. Once one of them has
 * refused an entry, the capture does not exclude that any more.
 */
enum {
    TABLES_OF_ALL = UNDONE_SET(ENDPORTS) | UNDONE_SET(INTERFACES) | UNDONE_SET(APART) |
                    UNDONE_SET(MERGES) | UNDONE_SET(TRANSACTIONS),
    TABLES_OF_GROUPS = TABLES_OF_ALL | UNDONE_SET(GROUPS) | UNDONE_SET(MEMBERS),
    TABLES_OF_PORTS = TABLES_OF_ALL | UNDONE_SET(ROUTES),
    TABLES_OF_QPS = TABLES_OF_ALL | UNDONE_SET(QPS),
    TABLES_OF_ADDRESSES = TABLES_OF_QPS | UNDONE_SET(NEIGHBOURS) | UNDONE_SET(STALE_USES),
    TABLES_OF_CONNECTIONS = TABLES_OF_ALL | UNDONE_SET(CONNECTIONS) | UNDONE_SET(FLOWS)
};

static const struct {
    certainty_of *certainty;
    uint32_t tables;
} kinds[FACT_KINDS] = {
#define FACT(name, function, tables, words) [FACT_##name] = {function, tables},
#include "rules/fact_kinds.def"
#undef FACT
};

static const char *why_undone(const struct check_context *s, unsigned kind)
{
    return undone_why(s->f->undone, kinds[kind].tables);
}

struct certainty fact_certainty(const struct check_context *s, const struct fact *f)
{
    const char *why = why_undone(s, f->kind);
    return why ? uncertain(why) : kinds[f->kind].certainty(s, f);
}

bool facts_are_undone(const struct check_context *s, enum rule_number rule)
{
    for (unsigned kind = FACT_NONE + 1; kind < FACT_KINDS; kind++)
        if (rules[rule].rests_on & 1u << kind && why_undone(s, kind))
            return true;
    return false;
}
