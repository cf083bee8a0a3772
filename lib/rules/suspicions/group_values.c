/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rules/suspicions/group_values.h"

bool group_record_value(const struct group *g, enum traffic_value which, uint32_t *value)
{
    const uint32_t values[TRAFFIC_VALUES] = {[TRAFFIC_MLID] = g->mlid,
                                             [TRAFFIC_QKEY] = g->qkey,
                                             [TRAFFIC_SL] = g->sl,
                                             [TRAFFIC_HOP_LIMIT] = g->hop_limit,
                                             [TRAFFIC_TCLASS] = g->tclass};
    *value = values[which];
    return g->state == GROUP_PRESENT && (which != TRAFFIC_MLID || g->mlid);
}
