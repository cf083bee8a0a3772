/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/sequence.h"

#include "wire/ib.h"

/* A second packet with the first PSN of all: the queue pair was created again. */
static bool is_created_again(const struct sequence *s, uint32_t psn)
{
    return psn == 0 && s->known && s->first_frame && !s->begins_late;
}

static enum sequence_seen compare(const struct sequence *s, uint32_t psn)
{
    int32_t distance = psn_distance(s->psn, psn);
    if ((s->restarts && psn == 0) || sequence_is_next(s, psn))
        return SEEN_NEXT;
    if (!s->known || s->restarts)
        return s->restarts ? SEEN_GAP : SEEN_NEW;
    bool is_late = distance <= 0 && distance >= -SEQUENCE_LATE_MAX && !is_created_again(s, psn);
    return is_late ? SEEN_LATE : SEEN_GAP;
}

static void count(struct sequence *s, uint32_t psn, uint32_t frame)
{
    if (!s->first_frame) {
        s->first_frame = frame;
        s->begins_late = psn != 0;
    }
    s->last_frame = frame;
}

enum sequence_seen sequence_saw(struct sequence *s, uint32_t psn, uint32_t frame)
{
    enum sequence_seen seen = compare(s, psn);
    if (seen == SEEN_LATE || seen == SEEN_GAP)
        s->gap_frame = frame;
    if (seen != SEEN_LATE)
        s->psn = psn & PSN_MASK;
    s->known = true;
    s->restarts = false;
    s->corrupt = false;
    count(s, psn, frame);
    return seen;
}

enum sequence_seen sequence_saw_corrupt(struct sequence *s, uint32_t psn, uint32_t frame)
{
    if (!sequence_is_next(s, psn))
        return SEEN_NONE;
    enum sequence_seen seen = sequence_saw(s, psn, frame);
    s->corrupt = true;
    return seen;
}

void sequence_begins(struct sequence *s, uint32_t psn)
{
    *s = (struct sequence){.psn = (psn - 1) & PSN_MASK, .known = true};
}

bool sequence_is_next(const struct sequence *s, uint32_t psn)
{
    int32_t distance = psn_distance(s->psn, psn);
    return s->known && (distance == 1 || (s->corrupt && distance == 0));
}

/* The other one may be a little behind: an interface with copies of what the first one has. */
static bool is_ahead(const struct sequence *s, const struct sequence *of)
{
    int32_t distance = psn_distance(of->psn, s->psn);
    if (!s->known || !of->known)
        return s->known;
    return distance > 0 || (distance < -SEQUENCE_LATE_MAX && s->last_frame > of->last_frame);
}

void sequence_merge(struct sequence *to, const struct sequence *from)
{
    if (is_ahead(from, to)) {
        to->psn = from->psn;
        to->corrupt = from->corrupt;
        to->known = true;
    }
    to->restarts |= from->restarts;
    if (!to->first_frame) {
        to->first_frame = from->first_frame;
        to->begins_late = from->begins_late;
    }
    if (from->last_frame > to->last_frame)
        to->last_frame = from->last_frame;
    if (from->gap_frame > to->gap_frame)
        to->gap_frame = from->gap_frame;
}
