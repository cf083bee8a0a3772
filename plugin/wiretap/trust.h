/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks whether the running libwiretap matches the version and the layout that this plugin was
 * compiled for.
 */
#ifndef IPOIB_WIRETAP_TRUST_H
#define IPOIB_WIRETAP_TRUST_H

#include "plugin/wiretap/compat.h"

/*
 * True if the running Wireshark has the major and minor version that the plugin was compiled for.
 */
wt_bool trust_version(void);

/*
 * True if the layout of `struct wtap` is as compiled. Writes members directly, reads them back with
 * the library's accessors and restores them, so wth is unchanged afterwards. Call it on a wtap that
 * no reader has claimed yet. Logs the first mismatch.
 */
wt_bool trust_reading(wtap *wth);

/*
 * The same for the members that describe sections and interfaces, and for the functions of a
 * reader. Call it on a wtap that a reader of pcapng has claimed.
 */
wt_bool trust_interfaces(wtap *wth);

#endif
