/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the keeper of the groups (keeper.h) and the capture tell each other, over a socket of whole
 * messages.
 */
#ifndef CAPTURE_GROUPNEWS_H
#define CAPTURE_GROUPNEWS_H

#include <arpa/inet.h>

#include "hca/mcgroup.h"

enum groupnews_kind {
    GROUPNEWS_GROUP,  /* frames sent to this group reach the port from now on */
    GROUPNEWS_GONE,   /* the group is no more */
    GROUPNEWS_LOOKED, /* all groups that the subnet administrator has now were told */
    GROUPNEWS_FAILED, /* it cannot be asked at all */
};

struct groupnews {
    enum groupnews_kind kind;
    struct mc_group group;
    int error; /* of GROUPNEWS_FAILED */
};

/* A group's name in what both tell the user. */
static inline const char *mgid_text(const uint8_t *mgid, char text[INET6_ADDRSTRLEN])
{
    return inet_ntop(AF_INET6, mgid, text, INET6_ADDRSTRLEN);
}

/*
 * The capture's one word to the keeper: the port or the SM is not what it was, all groups are to be
 * joined again.
 */
#define GROUPNEWS_AGAIN "again"

#endif
