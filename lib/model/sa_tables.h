/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in the SA's responses to GetTable, which come in RMPP segments (IBA 13.6, 15.2.1.1); only
 * for the files of model/.
 */
#ifndef IPOIB_MODEL_SA_TABLES_H
#define IPOIB_MODEL_SA_TABLES_H

#include "model/subnet.h"
#include "wire/sa.h"

struct sa_tables;

/* Free with g_free(). */
struct sa_tables *sa_tables_new(void);

/* split: where the record lies if it is not in the packet as a whole; else NULL. */
typedef void sa_table_record(void *user, const uint8_t *record, const struct split_record *split);

/*
 * Call on_record for each record that ends in this segment, of which the first `size` bytes were
 * captured; without RMPP, for the first record: nothing says how many there are. A record that
 * begins in the previous segment is read if that one was the last segment captured of the same
 * response. A missing segment shows nothing, neither records nor their absence. Returns true if the
 * response ends with this segment and every one was captured.
 */
bool sa_tables_read(struct sa_tables *all, const struct port *requester, const struct sa *sa,
                    uint32_t size, sa_table_record *on_record, void *user);

/* Two interfaces turned out to see one subnet: forget the records that have not ended. */
void sa_tables_merge(struct sa_tables *all);

#endif
