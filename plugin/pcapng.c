/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/pcapng.h"
#include "plugin/protocol.h"

#include <epan/expert.h>

static expert_field ei_ipoib_cannot_save = EI_INIT;

/* Number of the frame with the note; 0: none yet. */
static uint32_t noted;

void pcapng_note(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    if (!noted && !pinfo->fd->visited)
        noted = pinfo->num;
    if (noted != pinfo->num)
        return;
    /* Wireshark lists an expert item under the current protocol. */
    const char *before = pinfo->current_proto;
    pinfo->current_proto = "IPoIB";
    proto_tree_add_expert(tree, pinfo, &ei_ipoib_cannot_save, tvb, 0, 0);
    pinfo->current_proto = before;
}

static void forget(void)
{
    noted = 0;
}

void pcapng_register(void)
{
    static ei_register_info ei[] = {
        {&ei_ipoib_cannot_save,
         {"ipoib.cannot_save", PI_PROTOCOL, PI_NOTE,
          "To save, export or merge its packets, convert this file with 'ipoib-capture convert IN "
          "OUT': Wireshark cannot write pcapng of link type 247",
          EXPFILL}},
    };
    expert_register_field_array(expert_register_protocol(proto_ipoib), ei, array_length(ei));
    register_init_routine(forget);
}
