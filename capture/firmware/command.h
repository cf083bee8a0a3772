/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware command SET_PORT_SNIFFER of mlx5 adapters: the port copies every packet that it
 * sends, or receives, to a UD queue pair of the host. ibdump sends the same command. The formats
 * are those of mstflint (tools_layouts/icmd_layouts.c, ibdump/ibdump.c, May 2026). No field is
 * documented elsewhere.
 */
#ifndef CAPTURE_FIRMWARE_COMMAND_H
#define CAPTURE_FIRMWARE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SNIFFER_OPCODE = 0xc002,
    SNIFFER_COMMAND_LEN = 16,
    HARDWARE_ID = 0xf0014, /* address in the adapter's configuration registers (CR space) */
};
#define UNLOCK_WORD UINT32_C(0xbadc0ffe)

struct adapter_kind {
    uint16_t hardware_id;
    const char *name;
    uint32_t unlock; /* address in CR space of the word that must be written before the command */
};

/*
 * The kind of adapter whose HARDWARE_ID register is VALUE. NULL: none that is known, so nothing may
 * be written to it.
 */
const struct adapter_kind *adapter_kind(uint32_t value);

struct sniffer_command {
    bool received; /* the packets that the port receives; false: those that it sends */
    bool attach;   /* false: detach */
    uint8_t port;
    uint32_t qpn;
};

void sniffer_command_put(uint8_t out[SNIFFER_COMMAND_LEN], const struct sniffer_command *command);

#endif
