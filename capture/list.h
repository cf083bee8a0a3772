/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --list: prints the devices, their ports, and which modes can capture there. */
#ifndef CAPTURE_LIST_H
#define CAPTURE_LIST_H

/* NAME: only this device; NULL: all. Returns the exit status: 0, or 1 after a message. */
int list_devices(const char *name, const char *library);

#endif
