/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises notices. See share_attributes.h. */
#include "capture/share/share_attributes.h"
#include "wire/sa.h"

/* generic or not, type, producer or vendor, trap or device, LID of the issuer, count */
static const struct field notice_layout[] = {KEEP(80), LAYOUT_END};

/*
 * Details (IBA 14.2.5.1): 6 reserved bytes, GID; LID; 2 reserved bytes, LID; 2 reserved bytes, two
 * LIDs
 */
static const struct field details_gid[] = {ZERO(48), MAP_GID, LAYOUT_END};
static const struct field details_lid[] = {KEEP(16), LAYOUT_END};
static const struct field details_reserved_lid[] = {ZERO(16), KEEP(16), LAYOUT_END};
static const struct field details_two_lids[] = {ZERO(16), KEEP(32), LAYOUT_END};
static const struct field no_details[] = {LAYOUT_END};

/* Only a generic notice has one of these traps; of a vendor's, the number is that of a device. */
static const struct field *details_of(uint16_t trap)
{
    switch (trap) {
    case TRAP_GID_IN_SERVICE:
    case TRAP_GID_OUT_OF_SERVICE:
    case TRAP_GROUP_CREATED:
    case TRAP_GROUP_DELETED:
        return details_gid;
    case 128: /* state of a link */
        return details_lid;
    case 129: /* integrity of a link, overruns of buffers, watchdog of flow control */
    case 130:
    case 131:
    case 144: /* capability mask, system image GUID */
    case 145:
    case 256: /* bad M_Key */
        return details_reserved_lid;
    case 257: /* bad P_Key, bad Q_Key, bad P_Key at a switch */
    case 258:
    case 259:
        return details_two_lids;
    default:
        return no_details;
    }
}

void share_notice(struct part p)
{
    enum { GENERIC = 0x80 };

    share_layout(p, notice_layout);
    if (part_has(p, 0, NOTICE_DETAILS) && p.from[NOTICE_GENERIC_TYPE] & GENERIC)
        share_layout(part_from(p, NOTICE_DETAILS), details_of(be16(p.from + NOTICE_TRAP)));
    part_map(p, GID, NOTICE_ISSUER_GID, GID_SIZE);
}
