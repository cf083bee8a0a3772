/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats addresses as text. See text.h. */
#include "probe/run/text.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "wire/lladdr.h"

void text_lladdr(const uint8_t *lladdr, char out[64])
{
    size_t n = 0;
    for (unsigned i = 0; i < LLADDR_SIZE; i++)
        n += (size_t)snprintf(out + n, 64 - n, "%s%02x", i ? ":" : "", lladdr[i]);
}

void text_ip(bool ipv6, const uint8_t *ip, char out[48])
{
    inet_ntop(ipv6 ? AF_INET6 : AF_INET, ip, out, 48);
}
