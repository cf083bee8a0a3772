/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises Neighbour Discovery messages. */
#ifndef CAPTURE_SHARE_ND_H
#define CAPTURE_SHARE_ND_H

#include "capture/share/share_part.h"
#include "wire/view.h"

/* As share_icmpv6(); P: a message of the types ND_RS to ND_REDIRECT. */
void share_nd(struct part p, struct view v, bool of_interface);

#endif
