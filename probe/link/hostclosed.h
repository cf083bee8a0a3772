/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of this host's kernel to a port where usually nobody listens; for what ping cannot tell.
 */
#ifndef IPOIB_PROBE_HOSTCLOSED_H
#define IPOIB_PROBE_HOSTCLOSED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the host answers a SYN within ms milliseconds: a RST (RFC 9293 §3.10.7.1) shows that
 * packets of both directions arrive.
 */
bool host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms);
/*
 * True if the host refuses a UDP datagram with that number of octets of data within ms
 * milliseconds. The ICMP error has at most 576 bytes (RFC 1812 §4.3.2.3), with IPv6 1280 (RFC 4443
 * §3.1), so it shows that a larger datagram arrives there. A host sends few of these errors a
 * second.
 */
bool host_udp_is_refused(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data,
                         int ms);

#endif
