/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MADs of subnet administration, and their records. */
#ifndef IPOIB_PLUGIN_SA_H
#define IPOIB_PLUGIN_SA_H

#include "plugin/frame.h"

void sa_dissect(struct frame *f, packet_info *pinfo, proto_tree *tree);
/* Adds one record of the MAD sa at offset o of tvb. The sa_record_size() bytes must be captured. */
struct sa;
void sa_record_add(proto_tree *tree, packet_info *pinfo, tvbuff_t *tvb, int o, const struct sa *sa);

void sa_register(void);
/* "2048"; "code 6 (Omni-Path: 8192)" for a code that the IBA does not have. */
char *sa_mtu_text(wmem_allocator_t *scope, uint8_t code);
void sa_record_register(void);

#endif
