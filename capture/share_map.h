/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of a shared capture: each is mapped to one other, by a random key of this run that
 * is never written. Two addresses with the same first n bits are mapped to two with the same first
 * n bits (Xu, Fan, Ammar, Moon: Prefix-preserving IP address anonymization, 2002). What says of an
 * address what it is stays: multicast and its scope, link-local, private and loopback prefixes, the
 * IPoIB signature and P_Key of a MGID, groups of well-known numbers.
 *
 * An interface identifier is mapped as the GUID that it is made of, whose universal bit stays, and
 * its low 24 bits on their own, since solicited-node groups have these and no more (RFC 4291
 * §2.7.1).
 */
#ifndef CAPTURE_SHARE_MAP_H
#define CAPTURE_SHARE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share_map;

/* NULL after a message: there are no random numbers, or no memory. */
struct share_map *share_map_new(void);
void share_map_free(struct share_map *m);

/* Each replaces what is at P, big-endian. */
void share_ipv4(struct share_map *m, uint8_t p[4]);
void share_ipv6(struct share_map *m, uint8_t p[16]);
void share_gid(struct share_map *m, uint8_t p[16]); /* a MGID too */
void share_prefix(struct share_map *m, uint8_t p[8]);
void share_guid(struct share_map *m, uint8_t p[8]);
void share_lladdr(struct share_map *m, uint8_t p[20]);

/* Octets without a structure: the same ones become the same others. */
void share_octets(struct share_map *m, uint8_t *p, size_t n);

/* A name of N octets, filled with zeros: "name-" and eight digits, the same for the same name. */
void share_name(struct share_map *m, uint8_t *p, size_t n);

#endif
