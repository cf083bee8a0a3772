/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sniffer a port uses. */
#ifndef CAPTURE_CHOICE_H
#define CAPTURE_CHOICE_H

#include <glib.h>

#include "capture/live_options.h"
#include "hca/device.h"

/* The sniffer for WANTED: SNIFFER_AUTO chooses one of the others by the port. */
enum sniffer_kind choice_of_sniffer(const struct device *device, enum sniffer_kind wanted);

/* As in --sniffer. */
const char *choice_name(enum sniffer_kind sniffer);

/*
 * Tests the sniffer that the port uses by default; delivers nothing. LIBRARY: mstflint's, or NULL.
 * Returns false and sets ERROR, which does not name the port, if it cannot be used.
 */
bool choice_try(struct device *device, const char *library, GError **error);

/* Whether a subnet manager runs on the port. */
bool choice_has_sm(const struct device *device);

#endif
