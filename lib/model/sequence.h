/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sequence of packets that a queue pair sends, by packet sequence number (PSN). The PSNs
 * increase by one for all destinations together (IBA 9.8.2.2), so a jump shows that a packet was
 * not captured. Copies (model/copies.h) are no part of it.
 */
#ifndef IPOIB_MODEL_SEQUENCE_H
#define IPOIB_MODEL_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A packet with a PSN shortly before the highest one was overtaken, or another capture point has
 * captured it and the first one has not. A queue pair that was created again may have any PSN.
 */
enum { SEQUENCE_LATE_MAX = 8 };

/* All zero at first. */
struct sequence {
    uint32_t psn : 24; /* the highest */
    uint32_t known : 1;
    uint32_t restarts : 1;    /* the next PSN may be 0 (sequence_restarts()) */
    uint32_t begins_late : 1; /* the packet in first_frame has a PSN other than 0 */
    uint32_t corrupt : 1;     /* the packet with the highest PSN */
    uint32_t first_frame;     /* 0: no packet was captured */
    uint32_t last_frame;      /* 0: no packet was captured */
    /* the last frame before which a packet is missing, or that shows none for certain; 0: none */
    uint32_t gap_frame;
};

enum sequence_seen {
    SEEN_NONE, /* no packet */
    SEEN_NEW,  /* the first one */
    SEEN_NEXT, /* no packet is missing since the one before */
    SEEN_LATE, /* it was sent before another one that was captured before it */
    SEEN_GAP,  /* packets before it are missing */
};

/* The queue pair sent a packet with this PSN, which is no copy. */
enum sequence_seen sequence_saw(struct sequence *s, uint32_t psn, uint32_t frame);

/*
 * The same for a corrupt packet: it counts only as the next one, because its PSN may be wrong. The
 * intact packet may follow it with the same PSN: sent again, or received by another capture point.
 * SEEN_NONE: it does not count.
 */
enum sequence_seen sequence_saw_corrupt(struct sequence *s, uint32_t psn, uint32_t frame);

/* The queue pair sends this PSN next, as a CM message says. */
void sequence_begins(struct sequence *s, uint32_t psn);

/* The port was brought up again, so its driver may start the PSNs from 0. */
static inline void sequence_restarts(struct sequence *s)
{
    s->restarts = true;
}

/* A packet before this frame, or of this frame, is not known. */
static inline void sequence_has_gap(struct sequence *s, uint32_t frame)
{
    s->gap_frame = frame;
}

/* Its next packet is the first one again; what was missing stays missing. */
static inline void sequence_forget(struct sequence *s)
{
    *s = (struct sequence){
        .begins_late = s->begins_late, .last_frame = s->last_frame, .gap_frame = s->gap_frame};
}

/* Were all packets captured that the queue pair sent after this frame? */
static inline bool sequence_is_whole_since(const struct sequence *s, uint32_t frame)
{
    return s->gap_frame <= frame;
}

/* Is it the PSN after the highest one, or that of a corrupt packet? */
bool sequence_is_next(const struct sequence *s, uint32_t psn);

/* Two sequences turn out to be one: those of one port, seen by two names or on two interfaces. */
void sequence_merge(struct sequence *to, const struct sequence *from);

#endif
