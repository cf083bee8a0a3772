/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaves a multicast group without harm to the host. The SA keeps memberships by port GID and MGID
 * (IBA 15.2.5.17), not by program: a Delete also removes JoinState bits of the host's interface.
 * The kernel is not notified, and the interface receives no packet of the group until it is set
 * down and up.
 */
#ifndef IPOIB_PROBE_LEAVE_H
#define IPOIB_PROBE_LEAVE_H

#include "hca/client.h"
#include "probe/link/sa.h"
#include "probe/link/transport.h"
#include "probe/run/run.h"

/* The JoinState bits that the probe added to a port's membership of a group. */
struct joined {
    uint8_t mgid[16];
    uint8_t added; /* bits that the port did not have before */
    bool made;     /* the group did not exist before */
};

/* Sends a request to the SA; the caller clears the response. */
typedef enum sa_result sa_query_function(void *user, const struct sa_query *q,
                                         struct sa_response *a);

/* The port, the function that queries the SA, and the SM_Key for queries about other members. */
struct leaver {
    const struct port_facts *port;
    uint64_t sm_key;
    sa_query_function *query;
    void *user;
};

enum leaving {
    LEFT,
    LEAVE_FAILED,       /* the SA refused it, did not respond, or was busy: struct left */
    LEAVE_IN_USE,       /* no Delete was sent: an interface may depend on the membership */
    LEAVE_REJOINED,     /* an interface came up in the meantime and lost its membership */
    LEAVE_NOT_REJOINED, /* the same, and the SA refused the join or did not respond */
};

/* What the SA did with the last request that changes the membership. */
struct left {
    enum sa_result result;
    uint16_t status;
    char *interface; /* its name for the last three values of enum leaving, else NULL; g_free() */
};

/*
 * Deletes the added bits at the SA, unless an interface of the host that is up may use the same
 * bits. A Delete that the SA refuses as invalid counts as done if the port is no member then.
 */
enum leaving leave_group(const struct leaver *l, const struct joined *m, struct left *left);

#endif
