/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address map of a shared capture. Each address is mapped to one other address by a key
 * (share_key.h): the same key gives the same mapping in every run. An identity is mapped by what it
 * is, not by where it is found, so it has one replacement everywhere. Prefixes and the bits that
 * define the kind of an address are kept (share_permutation.h); so are the IPoIB signature and
 * P_Key of a MGID, and groups with well-known numbers.
 *
 * The first 3 bytes of a GUID, the next 2 and the last 3 are mapped one after the other: an
 * interface identifier that is derived from the GUID differs in the universal bit, which is kept; a
 * MAC address of it has the first and the last 3 bytes (iPXE, RoCE); a solicited-node group
 * contains the last 3 (RFC 4291 section 2.7.1). GUID 0 means none and stays 0.
 */
#ifndef CAPTURE_SHARE_MAP_H
#define CAPTURE_SHARE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/share/share_permutation.h"

/* Each of these maps the big-endian address at P in place. */
void share_ipv4(struct share_map *m, uint8_t p[4]);
void share_ipv6(struct share_map *m, uint8_t p[16]);
/*
 * The same for the address of a group: also of one that is no multicast address, the bits that a
 * MGID contains are mapped as those of a MGID.
 */
void share_group4(struct share_map *m, uint8_t p[4]);
void share_group6(struct share_map *m, uint8_t p[16]);
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
/* Keeps one that contains a port or a QPN. Others are mapped as GUIDs: SRP's are. */
void share_service_id(struct share_map *m, uint8_t p[8]);
void share_lladdr(struct share_map *m, uint8_t p[20]);
/* Keeps the first 3 bytes of a group's address, and the broadcast address. */
void share_mac(struct share_map *m, uint8_t p[6]);

/* Maps N bytes without structure; the same input gives the same output. */
void share_bytes(struct share_map *m, uint8_t *p, size_t n);

/*
 * Maps a zero-padded name of N bytes to "name-" and eight hexadecimal digits; the same name gives
 * the same result.
 */
void share_name(struct share_map *m, uint8_t *p, size_t n);

#endif
