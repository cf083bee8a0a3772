/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises messages of communication management. See share_mad.h. */
#include "capture/share/share_layout.h"
#include "capture/share/share_mad.h"

/*
 * The messages, from the communication IDs to the private data (IBA 12.6 to 12.11). "IDs" stands
 * for both communication IDs. Reserved bits, additional information, and all private data but
 * IPoIB's and SRP's login stay zero.
 */

/* LIDs, GIDs, flow label; rate, traffic class, hop limit, SL, SubnetLocal; timeout */
#define PATH_FIELDS                                                                                \
    KEEP(32), MAP_GID, MAP_GID, KEEP(20), ZERO(6), KEEP(6), KEEP(8), KEEP(8), KEEP(5), ZERO(3),    \
        KEEP(5), ZERO(3)
/* local ID; Service-ID, GUID; Q_Key, QPN, resources to MTU, MaxCMRetries, SRQ, transport */
static const struct field req[] = {KEEP(32),  ZERO(32),    MAP_SERVICE_ID, MAP_GUID,  ZERO(32),
                                   KEEP(192), PATH_FIELDS, PATH_FIELDS,    LAYOUT_END};
/* IDs; message; timeout */
static const struct field mra[] = {KEEP(64), KEEP(2), ZERO(6), KEEP(5), LAYOUT_END};
/* IDs; message; length of the information; reason */
static const struct field rej[] = {KEEP(64), KEEP(2),  ZERO(6),   KEEP(7),
                                   ZERO(1),  KEEP(16), LAYOUT_END};
/* IDs, Q_Key, QPN; EE context; PSN; resources, depth, delay, flow control, RNR, SRQ; GUID */
static const struct field rep[] = {KEEP(64 + 32 + 24), ZERO(8),   KEEP(24), ZERO(8),
                                   KEEP(24),           ZERO(8),   KEEP(28), ZERO(4),
                                   MAP_GUID,           LAYOUT_END};
/* IDs */
static const struct field rtu_or_drep[] = {KEEP(64), LAYOUT_END};
/* IDs, QPN */
static const struct field dreq[] = {KEEP(64 + 24), LAYOUT_END};
/* request ID, P_Key; Service-ID */
static const struct field sidr_req[] = {KEEP(32 + 16), ZERO(16), MAP_SERVICE_ID, LAYOUT_END};
/* request ID, status, length of the information; QPN; Service-ID, Q_Key */
static const struct field sidr_rep[] = {KEEP(32 + 16),  ZERO(16), KEEP(24),  ZERO(8),
                                        MAP_SERVICE_ID, KEEP(32), LAYOUT_END};
/* IDs; QPN, timeout; path, whose fields are those of a REQ but for the rate's place */
static const struct field lap[] = {KEEP(64), ZERO(32), KEEP(29), ZERO(3), ZERO(32), KEEP(32),
                                   MAP_GID,  MAP_GID,  KEEP(20), ZERO(4), KEEP(8),  KEEP(8),
                                   ZERO(2),  KEEP(6),  KEEP(5),  ZERO(3), KEEP(5),  LAYOUT_END};
/* IDs, length of the information, status */
static const struct field apr[] = {KEEP(64 + 16), LAYOUT_END};

/*
 * SRP's login, by which the protocol of a connection is recognised: the length of requests; port
 * identifiers of both sides, each a GUID and an extension (ANSI INCITS 365, SRP)
 */
static const struct field srp_login[] = {ZERO(128), KEEP(32), ZERO(96), MAP_GUID,
                                         MAP_GUID,  MAP_GUID, MAP_GUID, LAYOUT_END};

static const struct cm_layout {
    uint16_t message;
    const struct field *layout;
} layouts[] = {
    {CM_REQ, req},           {CM_MRA, mra},   {CM_REJ, rej},          {CM_REP, rep},
    {CM_RTU, rtu_or_drep},   {CM_DREQ, dreq}, {CM_DREP, rtu_or_drep}, {CM_SIDR_REQ, sidr_req},
    {CM_SIDR_REP, sidr_rep}, {CM_LAP, lap},   {CM_APR, apr},
};

static void share_private(struct part p, const struct mad_payload *mad, bool ipoib)
{
    struct part private = part_sub(p, mad->cm.private_off, mad->cm.private_size);

    if (ipoib)
        part_keep(private, 0, CM_PRIVATE_SIZE);
    else if (cm_private_is_srp(mad->bytes, &mad->cm))
        share_layout(private, srp_login);
    if (ipoib && mad->cm.message == CM_REQ) /* a wrong one, too: its last bytes are a UD QPN */
        part_keep(p, REQ_SERVICE_ID, 8);
}

void share_cm(struct part p, const struct mad_payload *mad, bool ipoib)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
        if (mad->has_header && layouts[i].message == mad->mad.attribute)
            share_layout(part_from(p, MAD_DATA), layouts[i].layout);
    if (mad->result == WIRE_OK)
        share_private(p, mad, ipoib);
}
