/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address map of a shared capture. Each address is mapped to one other address by a key
 * (share_key.h): the same key gives the same mapping in every run. The mapping preserves prefixes:
 * two addresses with the same first n bits are mapped to two with the same first n bits (Xu, Fan,
 * Ammar, Moon: Prefix-preserving IP address anonymization, 2002). Bits that define the kind of an
 * address are kept: multicast and its scope, link-local, private and loopback prefixes, broadcast
 * of a /16 or /24 network, IPoIB signature and P_Key of a MGID, groups with well-known numbers.
 *
 * An interface identifier is mapped like the GUID that it is derived from; its universal bit is
 * kept. The low 24 bits are mapped separately, because a solicited-node group contains only these
 * (RFC 4291 section 2.7.1).
 */
#ifndef CAPTURE_SHARE_MAP_H
#define CAPTURE_SHARE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/share/share_key.h"

struct share_map;

struct share_map *share_map_new(const struct share_key *key);
void share_map_free(struct share_map *m);

/* Each of these maps the big-endian address at P in place. */
void share_ipv4(struct share_map *m, uint8_t p[4]);
void share_ipv6(struct share_map *m, uint8_t p[16]);
void share_gid(struct share_map *m, uint8_t p[16]); /* also for a MGID */
/*
 * The halves of a GID that lies in two packets. FIRST: the first half before it was mapped. Both
 * together do what share_gid() does.
 */
enum { GID_HALF = 8 }; /* bytes */
void share_gid_first(struct share_map *m, uint8_t p[GID_HALF]);
void share_gid_second(struct share_map *m, const uint8_t first[GID_HALF], uint8_t p[GID_HALF]);
void share_prefix(struct share_map *m, uint8_t p[8]);
void share_guid(struct share_map *m, uint8_t p[8]);
void share_lladdr(struct share_map *m, uint8_t p[20]);
/* Keeps the manufacturer, and the broadcast address. */
void share_mac(struct share_map *m, uint8_t p[6]);
/*
 * The MAC address of a DHCP client. One that iPXE made of the sender's port GUID follows from the
 * replaced GUID; others are mapped as by share_mac(). share_map_port(): the sender's GUID, from the
 * GRH of the frame; zeros: not known.
 */
enum { GUID_SIZE = 8 }; /* bytes */
void share_map_port(struct share_map *m, const uint8_t guid[GUID_SIZE]);
void share_client_mac(struct share_map *m, uint8_t p[6]);

/* Maps N bytes without structure; the same input gives the same output. */
void share_bytes(struct share_map *m, uint8_t *p, size_t n);

/*
 * Maps a zero-padded name of N bytes to "name-" and eight hexadecimal digits; the same name gives
 * the same result.
 */
void share_name(struct share_map *m, uint8_t *p, size_t n);

#endif
