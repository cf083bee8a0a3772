/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hides the differences of wiretap's file-reader interface between Wireshark 4.0 and 4.2 (gboolean,
 * packet bytes in a separate Buffer), 4.4 (bool) and 4.6 (bool, packet bytes in the record).
 */
#ifndef IPOIB_WIRETAP_COMPAT_H
#define IPOIB_WIRETAP_COMPAT_H

#include <wireshark.h>
#include <ws_version.h>

#ifdef HAVE_WTAP_MODULE_H
#include <wiretap/file_wrappers.h>
#include <wiretap/wtap_module.h>
#else
#include "plugin/wiretap/layout.h"
#endif

#define WIRESHARK_AT_LEAST(minor)                                                                  \
    (WIRESHARK_VERSION_MAJOR > 4 || WIRESHARK_VERSION_MINOR >= (minor))

#if WIRESHARK_AT_LEAST(4)
typedef bool wt_bool;
#else
typedef gboolean wt_bool;
#endif

/* The parameter between the record and the error number that passes the packet's bytes. */
#if WIRESHARK_AT_LEAST(6)
#define WT_BUFFER_PARAM
#define WT_BUFFER_ARGUMENT
#define WT_BUFFER NULL
#else
#define WT_BUFFER_PARAM    Buffer *buffer,
#define WT_BUFFER_ARGUMENT buffer,
#define WT_BUFFER          buffer
#endif

/* Makes rec a packet record of the encapsulation. */
static inline void wt_setup_packet(wtap_rec *rec, int encap)
{
#if WIRESHARK_AT_LEAST(6)
    wtap_setup_packet_rec(rec, encap);
#else
    rec->rec_type = REC_TYPE_PACKET;
    rec->rec_header.packet_header.pkt_encap = encap;
#endif
    rec->block = wtap_block_create(WTAP_BLOCK_PACKET);
}

/*
 * Reads the packet's bytes to where this version stores them. A short read is WTAP_ERR_SHORT_READ.
 */
static inline wt_bool wt_read_bytes(FILE_T fh, wtap_rec *rec, Buffer *buffer, unsigned count,
                                    int *err, char **err_info)
{
#if WIRESHARK_AT_LEAST(6)
    (void)buffer;
    return wtap_read_bytes_buffer(fh, &rec->data, count, err, err_info);
#else
    (void)rec;
    return wtap_read_packet_bytes(fh, buffer, count, err, err_info);
#endif
}

#endif
