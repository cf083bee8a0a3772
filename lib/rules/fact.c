/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/fact.h"

#include "rules/certainty.h"

static certainty_of *const functions[FACT_KINDS] = {
#define FACT(name, function, words) [FACT_##name] = (function),
#include "rules/fact_kinds.def"
#undef FACT
};

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

static const uint32_t tables[FACT_KINDS] = {
    [FACT_MEMBERSHIP] = TABLES_OF_GROUPS,
    [FACT_NO_MEMBERSHIP] = TABLES_OF_GROUPS,
    [FACT_JOINED_BEFORE] = TABLES_OF_GROUPS,
    [FACT_NO_JOIN] = TABLES_OF_GROUPS,
    [FACT_JOIN_STATE] = TABLES_OF_GROUPS,
    [FACT_NO_OTHER_LINK] = TABLES_OF_GROUPS,
    [FACT_SUBSCRIPTIONS] = TABLES_OF_ALL,
    [FACT_PARAMETERS] = TABLES_OF_GROUPS | TABLES_OF_QPS,
    [FACT_MLID] = TABLES_OF_GROUPS,
    [FACT_GROUP_ABSENT] = TABLES_OF_GROUPS,
    [FACT_NO_BROADCAST] = TABLES_OF_GROUPS | TABLES_OF_QPS,
    [FACT_CREATED_WITH] = TABLES_OF_GROUPS,
    [FACT_GROUP_MTU] = TABLES_OF_GROUPS,
    [FACT_PORT_MTU] = TABLES_OF_PORTS,
    [FACT_PKEYS] = TABLES_OF_PORTS,
    [FACT_GIDS] = TABLES_OF_PORTS | TABLES_OF_QPS,
    [FACT_INTERFACE] = TABLES_OF_QPS,
    [FACT_NEIGHBOUR] = TABLES_OF_ADDRESSES | TABLES_OF_GROUPS,
    [FACT_NEW_ADDRESS] = TABLES_OF_ADDRESSES | TABLES_OF_GROUPS,
    [FACT_UD_QPNS] = TABLES_OF_QPS | TABLES_OF_CONNECTIONS,
    [FACT_REQUEST] = TABLES_OF_ADDRESSES,
    [FACT_SOLICITATION] = TABLES_OF_ADDRESSES | TABLES_OF_GROUPS,
    [FACT_OPEN] = TABLES_OF_CONNECTIONS,
    [FACT_EARLY_DATA] = TABLES_OF_CONNECTIONS,
    [FACT_REFUSED] = TABLES_OF_CONNECTIONS,
    [FACT_ENDED] = TABLES_OF_CONNECTIONS,
    [FACT_CROSSING] = TABLES_OF_CONNECTIONS,
    [FACT_RECEIVE_MTUS] = TABLES_OF_CONNECTIONS,
};

/* A kind that the list above lacks depends on all tables. */
static const char *why_undone(const struct check_context *s, unsigned kind)
{
    return undone_why(s->f->undone, tables[kind] ? tables[kind] : UINT32_MAX);
}

struct certainty fact_certainty(const struct check_context *s, const struct fact *f)
{
    const char *why = why_undone(s, f->kind);
    return why ? uncertain(why) : functions[f->kind](s, f);
}

bool facts_are_undone(const struct check_context *s, enum rule_number rule)
{
    for (unsigned kind = FACT_NONE + 1; kind < FACT_KINDS; kind++)
        if (rules[rule].rests_on & 1u << kind && why_undone(s, kind))
            return true;
    return false;
}
