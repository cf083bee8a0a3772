/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what this plugin was compiled to believe about libwiretap is true of the running one. */
#ifndef IPOIB_WIRETAP_TRUST_H
#define IPOIB_WIRETAP_TRUST_H

#include "plugin/wiretap/compat.h"

/*
 * True if the running Wireshark is of the major and minor version that the plugin was compiled for.
 */
wt_bool trust_version(void);

/*
 * True if `struct wtap` is laid out as compiled. Members are written directly and read back with
 * the library's accessors, then restored: wth is unchanged afterwards. To be called on a wtap that
 * no reader has claimed yet. The first disagreement is reported.
 */
wt_bool trust_reading(wtap *wth);

/*
 * The same for `struct wtap_dumper`, on a wtap_dumper that is being opened for
 * WTAP_ENCAP_INFINIBAND.
 */
wt_bool trust_writing(wtap_dumper *wdh);

#endif
