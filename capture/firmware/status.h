/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the firmware of an adapter cannot be reached, or refuses a command, and what to do. */
#ifndef CAPTURE_FIRMWARE_STATUS_H
#define CAPTURE_FIRMWARE_STATUS_H

#include <glib.h>
#include <stdbool.h>

/* Set ERROR to the cause and the advice. Return false. */
bool status_fail_open(int number, GError **error);      /* mopen() failed with this errno */
bool status_fail_access(GError **error);                /* a register cannot be read or written */
bool status_fail_command(int status, GError **error);   /* icmd_send_command() returned this */
bool status_fail_hardware(unsigned id, GError **error); /* HARDWARE_ID of no known adapter */

/*
 * Whether icmd_send_command() returned an error after which the command was surely not carried out.
 * After the other errors nobody knows.
 */
bool status_is_refusal(int status);

#endif
