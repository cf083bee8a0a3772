/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic pcap files of link type 247, as libpcap's RDMA capture writes them: the format, and the
 * interface of this plugin's reader.
 *
 * The format is draft-ietf-opsawg-pcap: a header of 24 bytes, then records of a 16-byte header and
 * the packet. All numbers are in the writer's byte order, which the magic number shows.
 */
#ifndef IPOIB_WIRETAP_PCAP247_H
#define IPOIB_WIRETAP_PCAP247_H

#include <stdint.h>
#include <string.h>

#include "plugin/wiretap/compat.h"
#include "wire/linktype.h"

#define PCAP_MAGIC_USEC 0xa1b2c3d4u /* timestamps in seconds and microseconds */
#define PCAP_MAGIC_NSEC 0xa1b23c4du /* timestamps in seconds and nanoseconds */

#define PCAP_FILE_HEADER   24
#define PCAP_RECORD_HEADER 16

/* Offsets into the file header. */
enum { PCAP_MAGIC = 0, PCAP_MAJOR = 4, PCAP_MINOR = 6, PCAP_SNAPLEN = 16, PCAP_LINKTYPE = 20 };

/* Offsets into a record's header. */
enum { PCAP_SECONDS = 0, PCAP_FRACTION = 4, PCAP_CAPLEN = 8, PCAP_LEN = 12 };

/*
 * The link type is the lower 16 bits of its word. The next 10 bits are reserved and 0. The upper 6
 * bits give the length of a frame check sequence; they do not apply to InfiniBand, where the packet
 * itself shows which CRCs it has.
 */
#define PCAP_LINKTYPE_MASK     0x0000ffffu
#define PCAP_LINKTYPE_RESERVED 0x03ff0000u

/* The only version of the format that writers of link type 247 use. */
#define PCAP_VERSION_MAJOR 2
#define PCAP_VERSION_MINOR 4

/* reader.c: open routine of the file reader. Accepts only pcap files of link type 247. */
wtap_open_return_val pcap247_open(wtap *wth, int *err, char **err_info);

#endif
