/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clocks of capture interfaces may differ by an unknown constant. Frames come in capture order,
 * so a frame of one interface that follows a frame of another one limits this constant: no time
 * between two frames is negative. The limit is the smallest difference of such a pair.
 *
 * A limit is replaced after CLOCKS_SECONDS, because real clocks drift.
 */
#ifndef IPOIB_MODEL_CLOCKS_H
#define IPOIB_MODEL_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* The clocks of further interfaces are never compared with those of others. */
enum { CLOCKS_INTERFACES = 16, CLOCKS_SECONDS = 600 };

/* All zero at first. */
struct clocks {
    /* by the interfaces of the earlier and of the later frame */
    struct clocks_limit {
        int64_t ns; /* difference of their times */
        int64_t at; /* time of the later frame */
        bool known;
    } limits[CLOCKS_INTERFACES][CLOCKS_INTERFACES];
    uint16_t interface; /* last frame */
    int64_t ns;
    bool any; /* false: no frame so far */
};

/* Record the next frame of the capture. */
void clocks_note(struct clocks *c, uint16_t interface, int64_t ns);

/*
 * The shortest and the longest possible time in ns from an earlier frame, with this time on that
 * interface, to the last frame. Unknown: INT64_MIN or INT64_MAX.
 */
int64_t clocks_at_least(const struct clocks *c, uint16_t interface, int64_t ns);
int64_t clocks_at_most(const struct clocks *c, uint16_t interface, int64_t ns);

#endif
