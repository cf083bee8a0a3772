/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classic pcap files of link type 247, as of libpcap's RDMA capture: the format, and this plugin's
 * parts.
 *
 * The format is draft-ietf-opsawg-pcap: a header of 24 octets, then records of a 16-octet header
 * and the packet. All numbers are in the writer's byte order, which the magic number tells.
 */
#ifndef IPOIB_WIRETAP_PCAP247_H
#define IPOIB_WIRETAP_PCAP247_H

#include <stdint.h>
#include <string.h>

#include "plugin/wiretap/compat.h"
#include "wire/linktype.h"

#define PCAP_MAGIC_USEC 0xa1b2c3d4u /* times in seconds and microseconds */
#define PCAP_MAGIC_NSEC 0xa1b23c4du /* times in seconds and nanoseconds */

#define PCAP_FILE_HEADER   24
#define PCAP_RECORD_HEADER 16

/* Offsets into the file header. */
enum { PCAP_MAGIC = 0, PCAP_MAJOR = 4, PCAP_MINOR = 6, PCAP_SNAPLEN = 16, PCAP_LINKTYPE = 20 };

/* Offsets into a record's header. */
enum { PCAP_SECONDS = 0, PCAP_FRACTION = 4, PCAP_CAPLEN = 8, PCAP_LEN = 12 };

/*
 * The link type is the lower 16 bits of its word. The next ten are reserved and 0; the upper six
 * tell the length of a frame check sequence, which says nothing about InfiniBand (the packet itself
 * tells its CRCs).
 */
#define PCAP_LINKTYPE_MASK     0x0000ffffu
#define PCAP_LINKTYPE_RESERVED 0x03ff0000u

/* The one version of the format that a writer of link type 247 can have had. */
#define PCAP_VERSION_MAJOR 2
#define PCAP_VERSION_MINOR 4

/* The number that the core gave our file type, -1 before. */
extern int pcap247_file_type;

/* reader.c: a file reader's open routine. Takes pcap files of link type 247 and no others. */
wtap_open_return_val pcap247_open(wtap *wth, int *err, char **err_info);

/* writer.c: 0 for WTAP_ENCAP_INFINIBAND, else a WTAP_ERR_. */
int pcap247_can_write_encap(int encap);
/* writer.c: begin a file. FALSE with *err set on failure. */
wt_bool pcap247_dump_open(wtap_dumper *wdh, int *err, char **err_info);

#endif
