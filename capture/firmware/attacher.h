/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attacher: the helper process of a capture with the firmware's sniffer. It loads mstflint's
 * library, so no code of others runs in the capture. It attaches the port's sniffer to the
 * capture's queue pair, and detaches it when the capture asks for it or has ended, however it
 * ended. A port whose sniffer stays attached would send its packets to a queue pair that is gone,
 * or to another program's that gets the same number: so the attacher holds the capture's device
 * open until it has detached, and the kernel keeps the queue pair. Only the end of the socket ends
 * the attacher; a service manager sends SIGTERM to all processes at once.
 */
#ifndef CAPTURE_FIRMWARE_ATTACHER_H
#define CAPTURE_FIRMWARE_ATTACHER_H

#include <stdint.h>

/* --- from the attacher to the capture */

enum attachment_event {
    ATTACHER_READY, /* the adapter is open, and can have a sniffer; it got no command */
    ATTACHER_DONE,  /* the order was carried out */
    /* it was not, and nothing is attached to the queue pair; or the adapter cannot be opened */
    ATTACHER_REFUSED,
    ATTACHER_LEFT, /* the sniffer cannot be detached, or may be attached after a failure */
    ATTACHER_NOTE, /* something else to say */
};

struct attacher_report {
    enum attachment_event event;
    char text[500]; /* a message */
};

/* --- from the capture to the attacher; the end of the socket detaches too */

struct attacher_order {
    uint32_t qpn; /* attach the sniffer to this queue pair; 0: detach it */
};

#define ATTACHER_COMMAND "attach-sniffer"
/*
 * Runs the attacher. argv: the command, PCI address, port, "both", "tx" or "rx", path of the
 * library ("": where packages have it), inode of the RDMA device's folder in sysfs. Returns the
 * exit status.
 */
int attacher_main(int argc, char **argv);

#endif
