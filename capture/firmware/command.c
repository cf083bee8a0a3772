/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The firmware command SET_PORT_SNIFFER. See command.h. */
#include "capture/firmware/command.h"

#include <stddef.h>
#include <string.h>

enum { UNLOCK = 0x23f0, UNLOCK_NEWER = 0x1a023f0 };

const struct adapter_kind *adapter_kind(uint32_t value)
{
    static const struct adapter_kind known[] = {
        {0x209, "ConnectX-4", UNLOCK},       {0x20b, "ConnectX-4 Lx", UNLOCK},
        {0x20d, "ConnectX-5", UNLOCK},       {0x20f, "ConnectX-6", UNLOCK},
        {0x212, "ConnectX-6 Dx", UNLOCK},    {0x214, "BlueField-2", UNLOCK},
        {0x218, "ConnectX-7", UNLOCK},       {0x21c, "BlueField-3", UNLOCK},
        {0x21e, "ConnectX-8", UNLOCK_NEWER}, {0x224, "ConnectX-9", UNLOCK_NEWER},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].hardware_id == (value & 0xffff))
            return &known[i];
    return NULL;
}

static void put_be32(uint8_t *out, uint32_t value)
{
    out[0] = (uint8_t)(value >> 24);
    out[1] = (uint8_t)(value >> 16);
    out[2] = (uint8_t)(value >> 8);
    out[3] = (uint8_t)value;
}

/* Four words; bit 0 is the lowest. Word 0 is the function (gvmi): 0, the adapter's own. */
void sniffer_command_put(uint8_t out[SNIFFER_COMMAND_LEN], const struct sniffer_command *command)
{
    memset(out, 0, SNIFFER_COMMAND_LEN);
    put_be32(out + 4, (command->attach ? 1u << 16 : 0) | (command->received ? 1u : 0));
    put_be32(out + 8, (uint32_t)command->port << 24);
    put_be32(out + 12, command->qpn & 0xffffff);
}
