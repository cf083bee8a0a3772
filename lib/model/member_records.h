/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins, leaves and records of groups: the MCMemberRecords in messages of the SA class (IBA
 * 15.2.5.17); only for the files of model/.
 */
#ifndef IPOIB_MODEL_MEMBER_RECORDS_H
#define IPOIB_MODEL_MEMBER_RECORDS_H

#include "model/subnet_state.h"

/* Learn from a message with MCMemberRecords. */
void learn_member_records(const struct delivery *d, const struct sa *sa);

#endif
