/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As Wireshark calls it (extcap(4)): the ports of RDMA devices are among its interfaces, and it
 * starts and ends captures on them, which come to it as pcapng through a FIFO.
 */
#ifndef CAPTURE_EXTCAP_H
#define CAPTURE_EXTCAP_H

#include <stdbool.h>

/* Whether the arguments are Wireshark's. */
bool extcap_is_asked(int argc, char **argv);

/* Returns the exit status. */
int extcap_main(int argc, char **argv);

#endif
