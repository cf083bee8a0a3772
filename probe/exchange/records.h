/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the SA knows of the peer's port. */
#ifndef IPOIB_PROBE_RECORDS_H
#define IPOIB_PROBE_RECORDS_H

#include "hca/client.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* SA Get PathRecord from this port to the GID; what came is whole, or no SA_TOLD. */
enum sa_result ask_path(struct target *t, const uint8_t *gid, struct sa_answer *a);
/* The GUID of the port that the peer's answers come from, by the SA. False: the SA does not say. */
bool ask_port_guid(struct target *t, uint8_t guid[8]);

#endif
