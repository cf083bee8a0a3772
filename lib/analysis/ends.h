/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two ends of a connection in events. Private to analysis/. */
#ifndef IPOIB_ANALYSIS_ENDS_H
#define IPOIB_ANALYSIS_ENDS_H

#include "analysis/watch.h"

/* With the LID in the current packet of the connection, which may be an old one of the port. */
struct sender sender_of_side(const struct watch *w, const struct connection *c, bool requester);

/* With the LID of packets from it or to it, which may be an old one. lid 0: they have none. */
struct sender sender_of_side_at(const struct watch *w, const struct connection *c, bool requester,
                                uint16_t lid);

/* Key of an event between the ends of a connection, whoever requested it. number: 32 bits. */
struct event_key key_of_ends(const struct watch *w, enum event_kind kind,
                             const struct connection *c, uint64_t number);

/* "GID fe80::1, LID 2": the same of the other end. Returns text. */
const char *end_text(const struct watch *w, const struct connection *c, bool requester,
                     char text[SENDER_TEXT_SIZE]);

#endif
