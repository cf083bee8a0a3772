/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records in a response of the SA. */
#ifndef IPOIB_HCA_RECORDS_H
#define IPOIB_HCA_RECORDS_H

#include "hca/client.h"

/* Record NUMBER, counted from 0, of SIZE bytes. NULL: there are no more. */
const uint8_t *sa_record(const struct sa_response *a, uint32_t number, uint32_t size);

#endif
