/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Extcap interface (extcap(4)): Wireshark lists the ports of RDMA devices among its interfaces, and
 * starts and stops captures on them. The capture is written as pcapng into Wireshark's FIFO.
 */
#ifndef CAPTURE_EXTCAP_H
#define CAPTURE_EXTCAP_H

#include <stdbool.h>

/* Whether Wireshark started the program, by its arguments (--extcap-..., --capture). */
bool extcap_is_requested(int argc, char **argv);

/* Runs the extcap request. Returns the exit status: 0, 1 or 2. */
int extcap_main(int argc, char **argv);

#endif
