/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and their responses. */
#ifndef IPOIB_PLUGIN_TRANSACTION_H
#define IPOIB_PLUGIN_TRANSACTION_H

#include <epan/packet.h>

#include "model/port.h"

enum transaction_kind {
    TRANSACTION_ARP,
    TRANSACTION_RARP,
    TRANSACTION_ND,
    TRANSACTION_SA,
    TRANSACTION_CM_SETUP,
    TRANSACTION_CM_READY,
    TRANSACTION_CM_END,
    TRANSACTION_CM_PATH,
    TRANSACTION_SIDR
};

struct transaction_key {
    uint16_t subnet; /* number that the model assigns: packet.at.interface */
    uint8_t kind;
    uint8_t length;
    uint8_t bytes[44]; /* length of them are in use */
};

/* For hash tables. Read only the bytes in use. */
guint transaction_key_hash(gconstpointer key);
gboolean transaction_key_equal(gconstpointer a, gconstpointer b);

/* link: result of frame_link() */
struct transaction_key transaction_key_on(uint8_t kind, uint32_t link);
void transaction_key_add(struct transaction_key *k, const void *p, size_t n);
/* Adds the port without its subnet, which the key already has. */
void transaction_key_add_port(struct transaction_key *k, struct port port);
/*
 * transaction_request(), transaction_response(): first pass only.
 * what: a number of the caller's choice; the dissector of the response gets it from
 * transaction_request_value().
 */
void transaction_request(packet_info *pinfo, const struct transaction_key *k, uint8_t what);
void transaction_response(packet_info *pinfo, const struct transaction_key *k);
uint8_t transaction_request_value(packet_info *pinfo);
/* Adds ipoib.response_in, ipoib.response_to and ipoib.time of this frame. */
void transaction_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb);

void transaction_register(void);

#endif
