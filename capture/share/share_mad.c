/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Anonymises management datagrams. See share_mad.h. */
#include "capture/share/share_mad.h"

#include "capture/share/share_layout.h"

/* version to status; transaction; attribute; modifier (IBA 13.4.3) */
static const struct field mad_layout[] = {KEEP(48), ZERO(16), KEEP(80),
                                          ZERO(16), KEEP(32), LAYOUT_END};
/* The modifier of another class may be anything. */
static const struct field other_layout[] = {KEEP(48), ZERO(16), KEEP(80), LAYOUT_END};

void share_mad(struct part p, const struct mad_payload *mad, bool ipoib,
               const struct split_record *split)
{
    p = part_sub(p, 0, MAD_SIZE);
    share_layout(p, mad->kind == MAD_KIND_OTHER ? other_layout : mad_layout);
    switch (mad->kind) {
    case MAD_KIND_SMP:
        share_smp(p, mad);
        break;
    case MAD_KIND_SA:
        share_sa(p, mad, split);
        break;
    case MAD_KIND_CM:
        share_cm(p, mad, ipoib);
        break;
    case MAD_KIND_OTHER:
        break;
    }
}
