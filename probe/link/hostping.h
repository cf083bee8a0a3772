/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Echo requests of this host's kernel, with its own address, route and neighbour table. */
#ifndef IPOIB_PROBE_HOSTPING_H
#define IPOIB_PROBE_HOSTPING_H

#include <stdbool.h>
#include <stdint.h>

struct ping_request;

/*
 * For echo requests with that number of octets of data, through the interface. Returns NULL with
 * errno if there is no socket. Needs CAP_NET_RAW unless the kernel permits this group ping sockets
 * (net.ipv4.ping_group_range).
 */
struct ping_request *host_ping_open(bool ipv6, const uint8_t *ip, const char *interface,
                                    uint32_t data);
/* Sends it, or sends it again. Returns false with errno if it could not be sent. */
bool host_ping_request(const struct ping_request *p);
/* True if a reply has arrived since the last call. */
bool host_ping_has_reply(const struct ping_request *p);
/*
 * Sends one echo request (RFC 792, RFC 4443). Returns NULL with errno if it could not be sent.
 */
struct ping_request *host_ping_send(bool ipv6, const uint8_t *ip, const char *interface);
/* The same through that interface, whatever the routes say: with it named, none is needed. */
struct ping_request *host_ping_send_through(bool ipv6, const uint8_t *ip, const char *interface);
/*
 * The same to the link-local address of the port with that GID, as RFC 4391 §8 makes it of the
 * GUID; an administrator may have removed it.
 */
struct ping_request *host_ping_send_to_port(const uint8_t *gid, const char *interface);
void host_ping_port_address(const uint8_t *gid, uint8_t ip[16]);
/* True if the reply has arrived. Frees the request. */
bool host_ping_end(struct ping_request *p);

struct host_ping {
    bool permitted; /* false: error says why there is no socket */
    bool sent;      /* false: error has the reason, an errno */
    bool answered;  /* within the time */
    int error;
    double ms; /* round-trip time, if answered */
};

/*
 * Sends up to four echo requests with that number of octets of data, and waits up to ms
 * milliseconds for the reply to each. The kernel fragments as for other programs. Ends early if
 * *stop is set.
 */
struct host_ping host_ping(bool ipv6, const uint8_t *ip, const char *interface, uint32_t data,
                           int ms, const volatile int *stop);

enum { PINGS_LOST_ENOUGH = 3 };
/*
 * Sends n echo requests, one after the other, and waits up to ms milliseconds for the reply to
 * each. Returns how many had no reply; ends with the third, or if *stop is set.
 */
unsigned host_ping_count_lost(bool ipv6, const uint8_t *ip, const char *interface, unsigned n,
                              int ms, const volatile int *stop);

#endif
