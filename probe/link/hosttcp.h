/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP of this host's kernel, where ping says nothing. */
#ifndef IPOIB_PROBE_HOSTTCP_H
#define IPOIB_PROBE_HOSTTCP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the host answers a SYN to a port where usually nobody listens, within ms milliseconds: a
 * RST (RFC 9293 §3.10.7.1) shows that packets of both directions arrive.
 */
bool host_tcp_answers(bool ipv6, const uint8_t *ip, const char *interface, int ms);

#endif
