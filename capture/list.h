/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --list: the devices, their ports, and what can be captured there. */
#ifndef CAPTURE_LIST_H
#define CAPTURE_LIST_H

/* NAME: the one device; NULL: all. Returns the exit status: 0, or 1 after a message. */
int list_devices(const char *name);

#endif
