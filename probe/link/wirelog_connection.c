/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs connections as frames: their messages, and setup and end as far as they are known. See
 * wirelog.h.
 */
#include "probe/link/wirelog.h"

#include "probe/link/cm_message.h"
#include "probe/link/transport.h"

/* Opcodes of SEND for RC (IBA 9.2.1, table 38); UC adds 0x20. */
enum { SEND_FIRST = 0, SEND_MIDDLE = 1, SEND_LAST = 2, SEND_ONLY = 4, UC_ABOVE_RC = 0x20 };
enum { PEER_ID = 0x80000000u }; /* the peer's communication IDs: a range that ours do not use */

static struct log_gsi gsi_of(const struct cm_connection *c, uint16_t lid, int64_t ns)
{
    return (struct log_gsi){
        .lid = c->peer_lid ? c->peer_lid : lid, .pkey = c->req.pkey, .sl = c->sl, .ns = ns};
}

static void log_cm(struct wirelog *w, const struct transport *t, const struct log_gsi *g,
                   enum cm_message m, const struct cm_fields *f, enum log_direction direction)
{
    uint8_t mad[MAD_SIZE];
    cm_message_make(mad, m, f);
    wirelog_gsi(w, t, g, mad, direction);
}

static void log_req(struct wirelog *w, const struct transport *t, const struct cm_connection *c,
                    uint16_t lid)
{
    struct log_gsi g = gsi_of(c, lid, c->req_ns);
    struct cm_fields f = {.local_id = c->number,
                          .service_id = c->req.service_id,
                          .qpn = c->qpn,
                          .psn = c->peer_psn, /* the first PSN that the peer sends (IBA 12.6.5) */
                          .uc = c->req.uc,
                          .pkey = c->req.pkey,
                          .local_lid = t->facts.lid,
                          .remote_lid = g.lid,
                          .path_mtu = c->path_mtu ? c->path_mtu : t->facts.mtu,
                          .sl = c->sl,
                          .ack_timeout = c->ack_timeout,
                          .retry_count = c->retry_count,
                          .local_gid = t->facts.gid,
                          .remote_gid = c->req.gid,
                          .private_data = c->req.private_data,
                          .private_size = c->req.private_size};
    log_cm(w, t, &g, CM_REQ, &f, LOG_SENT);
}

void wirelog_connect(struct wirelog *w, const struct transport *t, struct cm_connection *c,
                     uint16_t lid)
{
    struct log_gsi g = gsi_of(c, lid, 0);
    uint32_t number = c->number = wirelog_number(w);
    struct cm_fields answer = {.local_id = PEER_ID | number,
                               .remote_id = number,
                               .qpn = c->peer_qpn,
                               .psn = c->psn, /* the first PSN that we send */
                               .reason = c->reason,
                               .private_data = c->private_data,
                               .private_size = c->private_size};
    if (c->result == CONNECT_NOT_SENT)
        return;
    log_req(w, t, c, lid);
    if (c->result == CONNECT_NO_RESPONSE)
        return;
    log_cm(w, t, &g, c->result == CONNECT_ACCEPTED ? CM_REP : CM_REJ, &answer, LOG_OF_TARGET);
    if (c->result == CONNECT_ACCEPTED)
        log_cm(w, t, &g, CM_RTU,
               &(struct cm_fields){.local_id = number, .remote_id = PEER_ID | number}, LOG_SENT);
}

void wirelog_disconnect(struct wirelog *w, const struct transport *t, const struct cm_connection *c,
                        bool by_peer, bool answered)
{
    struct log_gsi g = gsi_of(c, 0, 0);
    struct cm_fields ours = {.local_id = c->number,
                             .remote_id = PEER_ID | c->number,
                             .remote_qpn = c->peer_qpn},
                     its = {.local_id = PEER_ID | c->number,
                            .remote_id = c->number,
                            .remote_qpn = c->qpn};
    log_cm(w, t, &g, CM_DREQ, by_peer ? &its : &ours, by_peer ? LOG_OF_TARGET : LOG_SENT);
    if (answered)
        log_cm(w, t, &g, CM_DREP, by_peer ? &ours : &its, by_peer ? LOG_SENT : LOG_OF_TARGET);
}

void wirelog_message(struct wirelog *w, const struct transport *t, struct cm_connection *c,
                     struct view bytes, enum log_direction direction)
{
    bool sent = direction == LOG_SENT;
    uint32_t *psn = sent ? &c->psn : &c->peer_psn, part = ib_mtu_bytes(c->path_mtu), at = 0;
    struct ud_heads h = {.slid = sent ? t->facts.lid : c->peer_lid,
                         .dlid = sent ? c->peer_lid : t->facts.lid,
                         .pkey = c->req.pkey,
                         .sl = c->sl,
                         .dqpn = sent ? c->peer_qpn : c->qpn,
                         .connected = true};
    part = part ? part : 256;
    do {
        uint32_t n = bytes.cap - at < part ? bytes.cap - at : part;
        bool first = at == 0, last = at + n == bytes.cap;
        h.opcode = first ? (last ? SEND_ONLY : SEND_FIRST) : last ? SEND_LAST : SEND_MIDDLE;
        h.opcode += c->req.uc ? UC_ABOVE_RC : 0;
        h.psn = *psn & PSN_MASK;
        *psn = *psn + 1;
        wirelog_frame(w, &h, 0, bytes.p + at, n, direction);
        at += n;
    } while (at < bytes.cap);
}
