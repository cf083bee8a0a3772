/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a group's datagrams that are compared. */
#ifndef IPOIB_RULES_GROUP_VALUES_H
#define IPOIB_RULES_GROUP_VALUES_H

#include "model/group.h"

enum traffic_value {
    TRAFFIC_MLID,
    TRAFFIC_QKEY,
    TRAFFIC_SL,
    TRAFFIC_HOP_LIMIT,
    TRAFFIC_TCLASS,
    TRAFFIC_VALUES
};

/* The value in the SA's record of the group; false: the record was not captured. */
bool group_record_value(const struct group *g, enum traffic_value which, uint32_t *value);

#endif
