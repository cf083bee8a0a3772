/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses IP addresses given by the user. See address.h. */
#include "probe/run/address.h"

#include <arpa/inet.h>
#include <string.h>

bool address_read(const char *text, bool *ipv6, bool *mapped, uint8_t ip[16])
{
    static const uint8_t mapped_prefix[12] = {[10] = 0xff, [11] = 0xff};
    memset(ip, 0, 16);
    *ipv6 = inet_pton(AF_INET6, text, ip) == 1;
    *mapped = *ipv6 && memcmp(ip, mapped_prefix, sizeof mapped_prefix) == 0;
    if (*mapped) {
        memmove(ip, ip + sizeof mapped_prefix, 4);
        memset(ip + 4, 0, 12);
        *ipv6 = false;
    }
    return *ipv6 || *mapped || inet_pton(AF_INET, text, ip) == 1;
}

static const char *ipv4_is_no_host(const uint8_t *ip)
{
    static const uint8_t unspecified[4], broadcast[4] = {255, 255, 255, 255};
    return memcmp(ip, unspecified, 4) == 0 ? "the unspecified address"
           : memcmp(ip, broadcast, 4) == 0 ? "the broadcast address"
           : ip[0] == 0                    ? "an address of \"this network\" (RFC 1122 §3.2.1.3)"
           : ip[0] == 127                  ? "a loopback address, which never leaves this host"
           : ip[0] >= 240                  ? "a reserved address (RFC 1112 §4)"
           : ip[0] >= 224                  ? "a multicast address"
                                           : NULL;
}

const char *address_is_no_host(bool ipv6, const uint8_t *ip)
{
    static const uint8_t unspecified[16], loopback[16] = {[15] = 1};
    if (!ipv6)
        return ipv4_is_no_host(ip);
    return memcmp(ip, unspecified, 16) == 0 ? "the unspecified address"
           : memcmp(ip, loopback, 16) == 0  ? "the loopback address, which never leaves this host"
           : ip[0] == 0xff                  ? "a multicast address"
                                            : NULL;
}
