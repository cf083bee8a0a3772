/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the performance management agent, which every port has (IBA 16.1). */
#ifndef IPOIB_HCA_AGENT_H
#define IPOIB_HCA_AGENT_H

#include <stdint.h>

enum agent_answer {
    AGENT_ANSWERS,
    AGENT_SILENT,    /* or it does not show its counters */
    AGENT_NOT_ASKED, /* the request could not be sent, or *stop was set */
};

/* The attributes begin at this octet of a MAD of that class (IBA 16.1.1), and end with it. */
enum { AGENT_DATA = 64, AGENT_DATA_SIZE = 192 };

struct agent_request {
    uint16_t lid;
    uint8_t sl;
    uint8_t
        of_port; /* PortCounters (IBA 16.1.3.5) of that port; 0: ClassPortInfo, which all have */
    uint8_t data[AGENT_DATA_SIZE]; /* the attribute, if it answers */
};

/*
 * PerformanceGet() from that port to queue pair 1 of the LID, twice within ms milliseconds. Needs
 * the same privileges as queries of the SA.
 */
enum agent_answer agent_ask(const char *device, unsigned port, struct agent_request *q, int ms,
                            const volatile int *stop);

#endif
