/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of a MAD's attribute that are mapped or cleared, in tables. */
#ifndef CAPTURE_SHARE_FIELD_H
#define CAPTURE_SHARE_FIELD_H

#include "capture/share/share_span.h"

enum field_kind { END, GID, GUID, PREFIX, NAME, CLEAR };

struct field {
    enum field_kind kind;
    uint16_t off, n; /* bytes; n only of NAME and CLEAR */
};

/* Bytes of the field. */
uint32_t field_size(const struct field *f);

/* Maps or clears one field; a truncated one is cleared. */
void share_field(struct share_map *m, struct span s, const struct field *f);
/* Maps or clears the fields of the table F; NULL: none. */
void share_fields(struct share_map *m, struct span s, const struct field *f);

/* The fields of the notice that starts with S (IBA 13.4.8.2). */
const struct field *notice_fields(struct span s);

#endif
