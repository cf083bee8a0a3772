/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcapng files with interfaces of link type 247, which Wireshark's reader opens as an unknown
 * encapsulation. It reads the files; this plugin adds the link type.
 */
#ifndef IPOIB_WIRETAP_PCAPNG247_H
#define IPOIB_WIRETAP_PCAPNG247_H

#include "plugin/wiretap/compat.h"

/* Finds Wireshark's reader. Call it first; returns false if there is none. */
wt_bool pcapng247_find_reader(void);

/* Open routine: accepts every pcapng file. */
wtap_open_return_val pcapng247_open(wtap *wth, int *err, char **err_info);

#endif
