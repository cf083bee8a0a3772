/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assignment of capture interfaces to subnets. A capture device, or a card with two ports, may
 * write the two directions of one cable as two interfaces: both see the same subnet. Two interfaces
 * may also see different subnets, in which the same LID belongs to different ports.
 *
 * Each interface starts with a subnet of its own. Evidence (model/evidence.h) joins two interfaces
 * for the rest of the capture: the model then keeps their data under one number. If later evidence
 * contradicts the join, the model discards what it learnt from them: each of them starts again with
 * a new number and is never joined again.
 */
#ifndef IPOIB_MODEL_INTERFACES_H
#define IPOIB_MODEL_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

enum interfaces_mode {
    INTERFACES_AUTO, /* join interfaces by evidence */
    INTERFACES_ONE,  /* user setting: all see the same subnet */
    INTERFACES_EACH, /* user setting: each sees a subnet of its own */
};

/*
 * Limit of interface numbers in a capture. The packets of further interfaces have the number
 * INTERFACE_NONE: the model learns nothing from them.
 */
enum { INTERFACES_MAX = (1 << 16) - 1, INTERFACE_NONE = INTERFACES_MAX };

struct interfaces;

enum interfaces_mode interfaces_mode(const struct interfaces *i);

/*
 * An interface of a capture file. port: the port of an ERF card (erf_port of wire/erf.h); else 0.
 * section: the section of a pcapng file, if number counts within it; else 0. An interface of
 * another section is another interface.
 */
struct capture_interface {
    uint32_t number, port, section;
};

/* The interface as the capture file names it; for output. */
struct capture_interface interfaces_captured(const struct interfaces *i, uint16_t number);

/*
 * What the names of interfaces need besides the number, so that those of different subnets have
 * different names.
 */
struct interface_names {
    bool ports, sections;
};
struct interface_names interfaces_names(const struct interfaces *i);
/* Writes the name of the interface; out has INTERFACE_NAME bytes. Example: "0, ERF port 1". */
enum { INTERFACE_NAME = 64 };
void interfaces_name(const struct interfaces *i, struct interface_names names, uint16_t number,
                     char *out);

/* The number under which the model keeps the interface's subnet; joined interfaces share one. */
uint16_t interfaces_subnet(const struct interfaces *i, uint16_t number);

#endif
