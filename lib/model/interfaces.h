/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which interfaces of a capture see the same subnet. A tap, or a card with two ports, writes the
 * two directions of one cable as two interfaces: what is learnt on one holds on the other. Two
 * interfaces may also be on two subnets, where the same LID is another port.
 *
 * Each interface starts as one of its own. Evidence (model/evidence.h) joins two, for the rest of
 * the capture: what the model knows is kept under one number from then on. If evidence contradicts
 * that later, nothing that was learnt of them holds: each of them starts again, and stays on its
 * own.
 */
#ifndef IPOIB_MODEL_INTERFACES_H
#define IPOIB_MODEL_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

enum interfaces_mode {
    INTERFACES_AUTO, /* by evidence */
    INTERFACES_ONE,  /* all of them see one subnet: the user says so */
    INTERFACES_EACH, /* each of them sees a subnet of its own: the user says so */
};

/* As many numbers are given to the interfaces of a capture; what is on more is not judged. */
enum { INTERFACES_MAX = 1 << 16 };

struct interfaces;

enum interfaces_mode interfaces_mode(const struct interfaces *i);

/*
 * The interface of a capture file, and of an ERF card its port (erf_port of wire/erf.h; 0
 * elsewhere).
 */
struct capture_interface {
    uint32_t number, port;
};

/* The number of the capture file's interface; for show. */
uint32_t interfaces_captured(const struct interfaces *i, uint16_t number);

/* The number under which the model knows what the interface sees: one for all that are joined. */
uint16_t interfaces_subnet(const struct interfaces *i, uint16_t number);

#endif
