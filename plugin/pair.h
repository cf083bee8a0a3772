/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests and their responses. */
#ifndef IPOIB_PLUGIN_PAIR_H
#define IPOIB_PLUGIN_PAIR_H

#include <epan/packet.h>

#include "model/port.h"

enum pair_kind {
    PAIR_ARP,
    PAIR_RARP,
    PAIR_ND,
    PAIR_SA,
    PAIR_CM_SETUP,
    PAIR_CM_READY,
    PAIR_CM_END,
    PAIR_CM_PATH,
    PAIR_SIDR
};

struct pair_key {
    uint16_t subnet; /* number that the model assigns: packet.at.interface */
    uint8_t kind;
    uint8_t length;
    uint8_t octets[44];
};

/* link: result of frame_link() */
struct pair_key pair_key_on(uint8_t kind, uint32_t link);
void pair_key_add(struct pair_key *k, const void *p, size_t n);
/* Adds the port without its subnet, which the key already has. */
void pair_key_add_port(struct pair_key *k, struct port port);
/*
 * what: a number of the caller's choice; the dissector of the response gets it from
 * pair_answers_what().
 */
void pair_request(packet_info *pinfo, const struct pair_key *k, uint32_t what);
void pair_response(packet_info *pinfo, const struct pair_key *k);
bool pair_is_known(packet_info *pinfo);
uint32_t pair_answers_what(packet_info *pinfo);
/* Adds ipoib.response_in, ipoib.response_to and ipoib.time of this frame. */
void pair_show(packet_info *pinfo, proto_tree *tree, tvbuff_t *tvb);

void pair_register(void);

#endif
