/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to a peer. Requests for a link-layer address leave no entry in the peer's neighbour
 * cache: an ARP request with sender 0.0.0.0 (RFC 5227 §2.1.1), or a Neighbor Solicitation from the
 * unspecified address (RFC 4862 §5.4.2). The response to the latter goes to all nodes. Echo
 * requests come from the probe's own address (echo_request.h).
 */
#ifndef IPOIB_PROBE_REQUEST_H
#define IPOIB_PROBE_REQUEST_H

#include "probe/link/transport.h"
#include "probe/run/target.h"

struct request {
    /* Bytes of the IP datagram of an echo request; 0: a request for a link-layer address. */
    uint32_t echo;
    uint32_t fragment; /* of an echo request over IPv4: bytes of the payload of its fragments */
    uint32_t length;   /* pads a request for a link-layer address to that many bytes of datagram */
    bool search;       /* it may be too large: not counted */
    bool multicast;    /* to the broadcast or solicited-node group; false: unicast to the peer */
    bool grh;          /* unicast only: multicast always has one */
    uint16_t reserved;
    uint8_t flags;      /* in the probe's link-layer address; for IPv6 only if named is set */
    uint32_t qkey;      /* 0: the link's */
    const uint8_t *ip;  /* the requested IP address; NULL: the target's */
    uint8_t ip_version; /* of ip: 4 or 6 */
    bool any;           /* accept a response from any station, not only from the peer */
    bool foreign;       /* accept no response from a port of this host */
    /*
     * IPv6: send from the probe's own address with the link-layer address option; the response is
     * unicast
     */
    bool named;
    uint16_t padding; /* value of that option's padding */
    bool second_qp;   /* unicast only: sent from the second queue pair, in the name of the first */
    bool other_partition; /* the same from the queue pair in another partition, if it is open */
    bool alone;           /* its response is evidence: wait for a second of silence first */
};

struct response {
    uint8_t lladdr[LLADDR_SIZE];
    uint32_t qpn, to_qpn;
    uint16_t lid;
    uint8_t sl;
    bool grh;
    double ms;
    uint32_t n;
    uint8_t bytes[UD_SIZE]; /* starting at the encapsulation header */
};

enum { TRIES = 3 };

/*
 * A pending request: the requested address, the time it was sent, and where to store the response.
 */
struct pending_request {
    const struct request *q;
    bool ipv6;
    const uint8_t *ip;
    struct response *a;
    gint64 sent, received;    /* of the last try, and of the response */
    unsigned tries;           /* that were sent */
    uint16_t first, sequence; /* of the tries of an echo request */
    uint16_t replied;         /* of the one that was replied to */
};
/* Stores that this packet is the response. */
void request_store_response(const struct target *t, struct pending_request *x,
                            const struct ud_from *from);
/* True if the packet is the response (packet_match; user: struct pending_request). */
bool request_take_response(struct target *t, const struct ud_from *from, void *user);
uint32_t request_make(const struct target *t, const struct pending_request *x,
                      const uint8_t *lladdr, uint8_t *out);

/* Describes the request for a link-layer address. */
void request_text(const struct target *t, const struct request *q, char *out, size_t size);
/* Describes the response. */
void response_text(const struct response *a, char *out, size_t size);
/* True if the request is for an IPv6 address. */
bool request_is_ipv6(const struct target *t, const struct request *q);

#endif
