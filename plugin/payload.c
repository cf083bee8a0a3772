/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Payloads that Wireshark's InfiniBand dissector hands over: datagrams and parts of messages. */
#include "plugin/payload.h"
#include "plugin/encap.h"
#include "plugin/frame.h"
#include "plugin/message.h"
#include "plugin/protocol.h"
#include "plugin/competing.h"

#include <epan/exceptions.h>
#include <epan/show_exception.h>

static dissector_handle_t payload_handle;

/*
 * Shows an exception of the datagram here, so that the built-in dissector continues with the CRCs
 * after it.
 */
static int payload_dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    struct frame *f = data;
    f->done = true;
    TRY
    {
        if (f->p.classification.class == PAYLOAD_IPOIB)
            encap_dissect(tvb, pinfo, tree, f);
        else
            message_dissect(tvb, f, pinfo, tree);
    }
    CATCH_NONFATAL_ERRORS
    {
        show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
    }
    ENDTRY;
    return (int)tvb_captured_length(tvb);
}

void payload_call(struct frame *f, packet_info *pinfo, proto_tree *tree)
{
    call_dissector_with_data(payload_handle, frame_payload(f), pinfo, tree, f);
}

/* The buffer that the built-in dissector hands over, or a new one if it has other bytes. */
static tvbuff_t *payload_tvb(const struct frame *f, tvbuff_t *handed)
{
    const struct view *ours = &f->p.ib.payload;
    struct view v = tvb_view(handed);
    bool same = ours->cap == ours->len && v.p == ours->p && v.cap == ours->cap &&
                v.len == ours->len;
    return same ? handed : frame_payload(f);
}

/*
 * Heuristic dissector that the built-in dissector calls for payloads. entry.c has classified the
 * frame before.
 */
static ws_bool heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    struct frame *f = frame_current(pinfo);
    competing_restore();
    if (!f || f->done ||
        (f->p.classification.class != PAYLOAD_IPOIB &&
         f->p.classification.class != PAYLOAD_FRAGMENT))
        /* Accept an empty payload: a built-in heuristic reports it as malformed. */
        return tvb_reported_length(tvb) == 0;
    col_clear(pinfo->cinfo, COL_INFO);
    payload_dissect(payload_tvb(f, tvb), pinfo, tree, f);
    return TRUE;
}

/*
 * Disables the built-in heuristic "EtherType over IB". It accepts any payload that starts like an
 * Ethertype, for example RDMA WRITE data or the middle of a message. With this plugin it is not
 * needed; users can enable it again. It stays disabled even if "ipoib" is disabled: Wireshark reads
 * the user's settings later, and then the plugin could not tell its own change from the user's.
 */
static void retire_builtin_guess(void)
{
    heur_dtbl_entry_t *guess = find_heur_dissector_by_unique_short_name("eth_over_ib");
    if (!guess)
        return;
    guess->enabled = FALSE;
#if WS_AT_LEAST(4, 2)
    guess->enabled_by_default = FALSE;
#endif
}

void payload_handoff(void)
{
    payload_handle = create_dissector_handle(payload_dissect, proto_ipoib);
    heur_dissector_add("infiniband.payload", heuristic, "IP over InfiniBand", "ipoib_infiniband",
                       proto_ipoib, HEURISTIC_ENABLE);
    retire_builtin_guess();
}
