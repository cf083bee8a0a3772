/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between the group keeper (keeper.h) and the capture, over a SOCK_SEQPACKET socket. */
#ifndef CAPTURE_GROUPEVENT_H
#define CAPTURE_GROUPEVENT_H

#include <arpa/inet.h>

#include "hca/mcgroup.h"

enum groupevent_kind {
    GROUPEVENT_JOINED,  /* group joined or changed: frames sent to it reach the port */
    GROUPEVENT_DELETED, /* the group was deleted */
    GROUPEVENT_POLLED,  /* the whole table of groups has been reported */
    GROUPEVENT_FAILED,  /* the SA cannot be queried at all */
};

struct groupevent {
    enum groupevent_kind kind;
    struct mc_group group;
    int error; /* errno value of GROUPEVENT_FAILED */
};

/* A group's name in user messages: the MGID as an IPv6 address. */
static inline const char *mgid_text(const uint8_t *mgid, char text[INET6_ADDRSTRLEN])
{
    return inet_ntop(AF_INET6, mgid, text, INET6_ADDRSTRLEN);
}

/*
 * The only message from the capture to the keeper: the port or the SM changed, join all groups
 * again.
 */
#define GROUPEVENT_REJOIN "again"

#endif
