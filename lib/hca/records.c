/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records in a response of the SA. See records.h. */
#include "hca/records.h"

/*
 * Bytes from one record to the next. Records start at multiples of 8 bytes; an AttributeOffset that
 * is smaller than a record cannot be right.
 */
static uint32_t distance(const struct sa_response *a, uint32_t size)
{
    return a->stride >= size ? a->stride : (size + 7) / 8 * 8;
}

const uint8_t *sa_record(const struct sa_response *a, uint32_t number, uint32_t size)
{
    uint64_t at = (uint64_t)number * distance(a, size);

    return at + size <= a->records->len ? a->records->data + at : NULL;
}
