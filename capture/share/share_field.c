/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields that are mapped or cleared. See share_field.h. */
#include "capture/share/share_field.h"

#include <string.h>

#include "wire/payload.h"

uint32_t field_size(const struct field *f)
{
    return f->kind == GID ? GID_SIZE : f->kind == GUID || f->kind == PREFIX ? 8 : f->n;
}

void share_field(struct share_map *m, struct span s, const struct field *f)
{
    uint32_t n = field_size(f);
    uint8_t *p = span_field(s, f->off, n);

    if (!p)
        return;
    switch (f->kind) {
    case GID:
        share_gid(m, p);
        break;
    case GUID:
        share_guid(m, p);
        break;
    case PREFIX:
        share_prefix(m, p);
        break;
    case NAME:
        share_name(m, p, n);
        break;
    case CLEAR:
        memset(p, 0, n);
        break;
    case END:
        break;
    }
}

void share_fields(struct share_map *m, struct span s, const struct field *f)
{
    for (; f && f->kind != END; f++)
        share_field(m, s, f);
}

/* Around the GID are reserved bytes. */
static const struct field trap_of_gid[] = {
    {CLEAR, NOTICE_DETAILS, NOTICE_DETAILS_GID - NOTICE_DETAILS},
    {GID, NOTICE_DETAILS_GID, 0},
    {CLEAR, NOTICE_DETAILS_GID + 16, NOTICE_ISSUER_GID - NOTICE_DETAILS_GID - 16},
    {GID, NOTICE_ISSUER_GID, 0},
    {END, 0, 0}};
/* The details of other traps start with LIDs; a GUID or M_Key can follow (IBA 14.2.5.1). */
static const struct field other_trap[] = {
    {CLEAR, NOTICE_DETAILS + 6, 48}, {GID, NOTICE_ISSUER_GID, 0}, {END, 0, 0}};

const struct field *notice_fields(struct span s)
{
    const uint8_t *p = span_field(s, NOTICE_TRAP, 2);

    return p && trap_has_gid(be16(p)) ? trap_of_gid : other_trap;
}
