/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the SA knows about the peer's port. */
#ifndef IPOIB_PROBE_RECORDS_H
#define IPOIB_PROBE_RECORDS_H

#include "hca/client.h"
#include "probe/run/run.h"
#include "probe/run/target.h"

/* SA Get PathRecord from this port to the GID. SA_SUCCESS only if the record is complete. */
enum sa_result records_get_path(struct target *t, const uint8_t *gid, struct sa_response *a);
/*
 * The GUID of the port that the peer responds from, according to the SA. Returns NULL, or why the
 * SA does not return it; valid until the next query.
 */
const char *records_get_port_guid(struct target *t, uint8_t guid[8]);

/* Buffer size for a node's name, in bytes with the final NUL. */
enum { NODE_NAME_SIZE = 65 };
/*
 * The NodeDescription of the peer's node, which Linux hosts begin with their name. Returns false if
 * the SA does not return it.
 */
bool records_get_node_name(struct target *t, char name[NODE_NAME_SIZE]);
/*
 * The same of the node at that LID, for a report: " ('node04 mlx5_0')"; "": it is not known. Free
 * with g_free().
 */
char *records_name_text(struct target *t, uint16_t lid);

/* According to the SA, the port that the peer responds from has the GUID that the peer announces.
 */
bool records_is_port_at_lid(struct target *t);

/* A port of an end node, and what its cable leads to. */
struct cable {
    uint8_t port;
    uint16_t to_lid; /* of a switch, or of the other node */
    uint8_t to_port;
};
/* The cable of the port with that LID. Returns false if the SA does not say. */
bool records_get_cable(struct target *t, uint16_t lid, struct cable *c);
/*
 * The same of that port of a node; of a switch, all ports have its LID. none: the SA says that the
 * port has no link.
 */
bool records_get_cable_of(struct target *t, uint16_t lid, uint8_t port, struct cable *c,
                          bool *none);
/* LID of the switch that the port with that LID is connected to; 0: the SA does not say. */
uint16_t records_get_switch_lid(struct target *t, uint16_t lid);

#endif
