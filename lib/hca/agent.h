/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the performance management agent, which every port has (IBA 16.1), whether the port is
 * alive. */
#ifndef IPOIB_HCA_AGENT_H
#define IPOIB_HCA_AGENT_H

#include <stdint.h>

enum agent_answer {
    AGENT_ANSWERS,
    AGENT_SILENT,
    AGENT_NOT_ASKED, /* the request could not be sent, or *stop was set */
};

/*
 * PerformanceGet(ClassPortInfo) from that port to queue pair 1 of the LID, twice within ms
 * milliseconds. Needs the same privileges as queries of the SA.
 */
enum agent_answer agent_ask(const char *device, unsigned port, uint16_t lid, uint8_t sl, int ms,
                            const volatile int *stop);

#endif
