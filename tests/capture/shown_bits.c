/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shown-bits: finds out which bits of a frame "convert --share" lets through, for
 * tests/capture/test_share_bits.py. Changes the bits of the frame, anonymises it and compares.
 *
 * Standard input has lines of words, numbers decimal, bytes hexadecimal:
 *   forget                        a new start, as at the beginning
 *   before LINKTYPE WIRE FRAME    a frame that is anonymised first
 *   frame|alone LINKTYPE WIRE FRAME EXPECTED MAYBE JUDGED
 * alone: each change is tried in a process of its own, so that nothing is learnt from the change
 * before it, as a sequence number. The last three are masks of the frame's bits: those whose change
 * is expected to show; those that are not tried; those of checksums and CRCs, where only "right,
 * wrong, none" may show. Prints for each such frame the mask of bits whose change shows outside the
 * judged bits, and the highest number of values of one judged range while nothing else showed, and
 * the anonymised frame.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/share/share.h"

enum { LINE = 1 << 16, MASKS = 3 };
enum { EXPECTED, MAYBE, JUDGED };

struct frame {
    uint32_t linktype, wire;
    GByteArray *bytes, *masks[MASKS];
};

static GByteArray *hex(const char *text)
{
    GByteArray *out = g_byte_array_new();
    for (; g_ascii_isxdigit(text[0]) && g_ascii_isxdigit(text[1]); text += 2) {
        uint8_t byte = (uint8_t)(g_ascii_xdigit_value(text[0]) << 4 |
                                 g_ascii_xdigit_value(text[1]));
        g_byte_array_append(out, &byte, 1);
    }
    return out;
}

/* ---- one change */

/* On the heap with its exact size, so that AddressSanitizer detects an access beyond it. */
static void share_into(struct share *share, const struct frame *f, uint8_t *out)
{
    uint8_t *copy = g_memdup2(f->bytes->data, f->bytes->len);
    struct share_frame one = {f->linktype, 1000000000, copy, f->bytes->len, f->wire};
    if (share_frame(share, &one))
        memcpy(out, copy, f->bytes->len);
    else
        memset(out, 0, f->bytes->len); /* left out */
    g_free(copy);
}

/* The same in a process of its own. OUT is memory that both processes share. */
static void share_alone(struct share *share, const struct frame *f, uint8_t *out)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        share_into(share, f, out);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "shown-bits: a process ended with status %d\n", status);
        exit(3);
    }
}

/* ---- all changes of a frame */

struct trial {
    struct share *share; /* has seen the frames before */
    struct frame f;
    bool alone;
    uint8_t *original, *out;
    GHashTable *values; /* of ranges of judged bytes, each value once */
};

/* The judged bytes from AT on, as text */
static char *judged_value(const struct trial *t, guint at)
{
    GString *value = g_string_new(NULL);
    g_string_printf(value, "%u:", at);
    for (; at < t->f.bytes->len && t->f.masks[JUDGED]->data[at]; at++)
        g_string_append_printf(value, "%02x", t->out[at]);
    return g_string_free(value, FALSE);
}

static void note_values(const struct trial *t)
{
    const uint8_t *judged = t->f.masks[JUDGED]->data;
    for (guint at = 0; at < t->f.bytes->len; at++)
        if (judged[at] && (at == 0 || !judged[at - 1]))
            g_hash_table_add(t->values, judged_value(t, at));
}

static unsigned most_values(GHashTable *values)
{
    GHashTable *counts = g_hash_table_new(NULL, NULL);
    GHashTableIter it;
    gpointer key;
    unsigned most = 0;
    g_hash_table_iter_init(&it, values);
    while (g_hash_table_iter_next(&it, &key, NULL)) {
        gpointer place = GUINT_TO_POINTER(atoi(key) + 1);
        unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(counts, place)) + 1;
        g_hash_table_insert(counts, place, GUINT_TO_POINTER(n));
        most = n > most ? n : most;
    }
    g_hash_table_unref(counts);
    return most;
}

static bool is_other(const struct trial *t)
{
    for (guint i = 0; i < t->f.bytes->len; i++)
        if (!t->f.masks[JUDGED]->data[i] && t->original[i] != t->out[i])
            return true;
    return false;
}

static void share_trial(const struct trial *t)
{
    (t->alone ? share_alone : share_into)(t->share, &t->f, t->out);
}

/* Does a change of the bits MASK of byte AT show? */
static bool change_shows(const struct trial *t, guint at, uint8_t mask)
{
    t->f.bytes->data[at] ^= mask;
    share_trial(t);
    t->f.bytes->data[at] ^= mask;
    bool shows = is_other(t);
    if (!shows)
        note_values(t);
    return shows;
}

/* The bits of byte AT whose change shows. If all or none are expected to, two changes decide. */
static uint8_t shown_bits(const struct trial *t, guint at)
{
    uint8_t expected = t->f.masks[EXPECTED]->data[at], maybe = t->f.masks[MAYBE]->data[at],
            shown = 0;
    if (maybe == 0 && expected == 0)
        return change_shows(t, at, 0xff) || change_shows(t, at, 0x04) ? 0xff : 0;
    if (maybe == 0 && expected == 0xff)
        return change_shows(t, at, 0xff) && change_shows(t, at, 0x04) ? 0xff : 0;
    for (unsigned bit = 1; bit < 0x100; bit <<= 1)
        if (!(bit & maybe) && change_shows(t, at, (uint8_t)bit))
            shown |= (uint8_t)bit;
    return shown;
}

/* Those bytes first whose change is not expected to show: it teaches nothing. */
static void try_changes(const struct trial *t, uint8_t *shown)
{
    for (int last = 0; last <= 1; last++)
        for (guint at = 0; at < t->f.bytes->len; at++)
            if ((t->f.masks[EXPECTED]->data[at] != 0) == last)
                shown[at] = shown_bits(t, at);
}

static void print_shown(const struct trial *t)
{
    uint8_t *shown = g_malloc(t->f.bytes->len);
    share_trial(t);
    share_trial(t); /* what it teaches is known the second time */
    memcpy(t->original, t->out, t->f.bytes->len);
    note_values(t);
    try_changes(t, shown);
    for (guint at = 0; at < t->f.bytes->len; at++)
        printf("%02x", shown[at]);
    printf(" %u ", most_values(t->values));
    for (guint at = 0; at < t->f.bytes->len; at++)
        printf("%02x", t->original[at]);
    printf("\n");
    g_free(shown);
}

/* ---- input */

static struct share *new_share(void)
{
    return share_new(&(struct share_key){"test_share_bits"});
}

static void free_frame(struct frame *f)
{
    g_byte_array_unref(f->bytes);
    for (int i = 0; i < MASKS; i++)
        g_byte_array_unref(f->masks[i]);
}

/* Returns false if the line is wrong. */
static bool read_frame(const char *line, char kind[8], struct frame *f)
{
    static char words[1 + MASKS][LINE];
    for (int i = 0; i <= MASKS; i++)
        words[i][0] = '\0';
    int n = sscanf(line, "%7s %u %u %65535s %65535s %65535s %65535s", kind, &f->linktype, &f->wire,
                   words[0], words[1], words[2], words[3]);
    f->bytes = hex(words[0]);
    for (int i = 0; i < MASKS; i++) {
        f->masks[i] = hex(words[1 + i]);
        if (n == 4 + MASKS && f->masks[i]->len != f->bytes->len)
            return false;
    }
    return n == 4 + MASKS || (n == 4 && strcmp(kind, "before") == 0);
}

/* Prints what shows of the frame of T. */
static void try_frame(struct trial *t, bool alone)
{
    t->alone = alone;
    t->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    print_shown(t);
    g_hash_table_unref(t->values);
}

/* Returns false if the line is wrong. */
static bool do_line(struct trial *t, const char *line)
{
    char kind[8];
    if (g_str_has_prefix(line, "forget")) {
        share_free(t->share);
        t->share = new_share();
        return true;
    }
    if (!read_frame(line, kind, &t->f))
        return false;
    if (strcmp(kind, "before") == 0)
        share_into(t->share, &t->f, t->out);
    else
        try_frame(t, strcmp(kind, "alone") == 0);
    free_frame(&t->f);
    return true;
}

int main(void)
{
    static char line[5 * LINE];
    uint8_t *out = mmap(NULL, LINE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct trial t = {.share = new_share(), .original = g_malloc(LINE), .out = out};
    bool good = true;

    while (good && fgets(line, sizeof line, stdin))
        good = do_line(&t, line);
    if (!good)
        fprintf(stderr, "shown-bits: bad line: %.60s\n", line);
    share_free(t.share);
    g_free(t.original);
    munmap(out, LINE);
    return good ? 0 : 2;
}
