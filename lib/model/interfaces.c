/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/interfaces.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>

#include "model/hash.h"
#include "model/write.h"
#include "wire/erf.h"

/*
 * Limit of interface pairs known to see two subnets; at the limit, no interfaces are joined any
 * more.
 */
enum { APART_MAX = 64 };

struct numbered_interface {
    struct capture_interface captured; /* must be first: the key */
    uint16_t number;
};

struct number {
    struct capture_interface captured;
    uint16_t joined; /* another number of the same subnet; its own: it is the subnet's number */
    bool separate;   /* never join it */
};

struct interfaces {
    enum interfaces_mode mode;
    GHashTable *known;   /* a set of struct numbered_interface */
    GPtrArray *in_order; /* the same, in the order of their first frames */
    GArray *numbers;     /* struct number */
    unsigned limit;      /* of numbers */
    struct undone *undone;
    uint16_t apart[APART_MAX][2];
    unsigned n_apart;
    const struct numbered_interface *recent;
};

static guint captured_hash(gconstpointer p)
{
    return hash_bytes(p, sizeof(struct capture_interface));
}

static gboolean captured_equal(gconstpointer p, gconstpointer q)
{
    const struct capture_interface *a = p, *b = q;
    return a->number == b->number && a->port == b->port && a->section == b->section;
}

struct interfaces *interfaces_new(enum interfaces_mode mode, unsigned limit, struct undone *undone)
{
    struct interfaces *i = g_new0(struct interfaces, 1);
    i->mode = mode;
    i->limit = limit;
    i->undone = undone;
    i->known = g_hash_table_new_full(captured_hash, captured_equal, g_free, NULL);
    i->in_order = g_ptr_array_new();
    i->numbers = g_array_new(FALSE, TRUE, sizeof(struct number));
    return i;
}

void interfaces_free(struct interfaces *i)
{
    if (!i)
        return;
    g_hash_table_destroy(i->known);
    g_ptr_array_unref(i->in_order);
    g_array_unref(i->numbers);
    g_free(i);
}

enum interfaces_mode interfaces_mode(const struct interfaces *i)
{
    return i->mode;
}

static struct number *number_at(const struct interfaces *i, uint16_t number)
{
    return &g_array_index(i->numbers, struct number, number);
}

/* false: all numbers are in use. */
static bool give_number(struct interfaces *i, struct numbered_interface *f, bool separate)
{
    if (i->numbers->len >= i->limit)
        return false;
    f->number = (uint16_t)i->numbers->len;
    struct number n = {f->captured, f->number, separate};
    g_array_append_val(i->numbers, n);
    return true;
}

static struct numbered_interface *add_interface(struct interfaces *i,
                                                struct capture_interface captured)
{
    struct numbered_interface *f = g_new0(struct numbered_interface, 1);
    f->captured = captured;
    if (!give_number(i, f, i->mode != INTERFACES_AUTO)) {
        g_free(f);
        return NULL;
    }
    g_hash_table_add(i->known, f);
    g_ptr_array_add(i->in_order, f);
    return f;
}

bool interfaces_enter(struct interfaces *i, struct capture_interface captured, uint16_t *number)
{
    if (i->mode == INTERFACES_ONE && i->recent) {
        *number = i->recent->number;
        return true;
    }
    if (!i->recent || !captured_equal(&i->recent->captured, &captured)) {
        const struct numbered_interface *f = g_hash_table_lookup(i->known, &captured);
        if (!f)
            f = add_interface(i, captured);
        *number = INTERFACE_NONE;
        if (!f)
            return false;
        i->recent = f;
    }
    *number = i->recent->number;
    return true;
}

struct capture_interface interfaces_captured(const struct interfaces *i, uint16_t number)
{
    return number < i->numbers->len ? number_at(i, number)->captured
                                    : (struct capture_interface){0};
}

/* Find the subnet's number; each step halves the path of later lookups. */
uint16_t interfaces_subnet(const struct interfaces *i, uint16_t number)
{
    if (number >= i->numbers->len)
        return number;
    for (struct number *n = number_at(i, number); n->joined != number; n = number_at(i, number)) {
        n->joined = number_at(i, n->joined)->joined;
        number = n->joined;
    }
    return number;
}

struct interface_names interfaces_names(const struct interfaces *i)
{
    struct interface_names names = {0};
    /* number in the file to the first struct numbered_interface that has it */
    GHashTable *firsts = g_hash_table_new(hash_number, NULL);
    for (unsigned k = 0; k < i->in_order->len; k++) {
        struct numbered_interface *f = g_ptr_array_index(i->in_order, k);
        gpointer key = GUINT_TO_POINTER(f->captured.number);
        const struct numbered_interface *first = g_hash_table_lookup(firsts, key);
        if (!first) {
            g_hash_table_insert(firsts, key, f);
        } else if (interfaces_subnet(i, f->number) != interfaces_subnet(i, first->number)) {
            names.ports |= f->captured.port != first->captured.port;
            names.sections |= f->captured.section != first->captured.section;
        }
    }
    g_hash_table_destroy(firsts);
    return names;
}

/* Wireshark counts sections from 1 (frame.section_number). */
void interfaces_name(const struct interfaces *i, struct interface_names names, uint16_t number,
                     char *out)
{
    struct capture_interface c = interfaces_captured(i, number);
    char port[20] = "", section[24] = "";
    if (names.ports)
        snprintf(port, sizeof port, ", ERF port %u", c.port & ERF_FLAGS_PORT);
    if (names.sections)
        snprintf(section, sizeof section, ", section %" PRIu32, c.section + 1);
    snprintf(out, INTERFACE_NAME, "%" PRIu32 "%s%s", c.number, port, section);
}

static bool are_apart(const struct interfaces *i, uint16_t a, uint16_t b)
{
    for (unsigned k = 0; k < i->n_apart; k++) {
        uint16_t x = interfaces_subnet(i, i->apart[k][0]), y = interfaces_subnet(i, i->apart[k][1]);
        if ((x == a && y == b) || (x == b && y == a))
            return true;
    }
    return false;
}

/* The list is full, so the pair may be one that it refused. */
static bool may_be_apart(const struct interfaces *i)
{
    if (i->n_apart == APART_MAX)
        undone_refuse(i->undone, UNDONE_APART);
    return i->n_apart == APART_MAX;
}

bool interfaces_join(struct interfaces *i, uint16_t a, uint16_t b, uint16_t *from, uint16_t *to)
{
    uint16_t x = interfaces_subnet(i, a), y = interfaces_subnet(i, b);
    if (x == y || number_at(i, x)->separate || number_at(i, y)->separate || are_apart(i, x, y) ||
        may_be_apart(i))
        return false;
    *from = MAX(x, y);
    *to = MIN(x, y); /* the one that was captured first */
    number_at(i, *from)->joined = *to;
    return true;
}

/*
 * Give all interfaces of the subnet new numbers, for which the model has no data. In the order of
 * capture, because findings depend on the numbers.
 */
static void start_again(struct interfaces *i, uint16_t subnet)
{
    for (unsigned k = 0; k < i->in_order->len; k++) {
        struct numbered_interface *f = g_ptr_array_index(i->in_order, k);
        if (interfaces_subnet(i, f->number) != subnet)
            continue;
        number_at(i, f->number)->separate = true;
        if (!give_number(i, f, true)) /* it keeps its own */
            undone_refuse(i->undone, UNDONE_INTERFACES);
    }
}

bool interfaces_part(struct interfaces *i, uint16_t a, uint16_t b)
{
    uint16_t x = interfaces_subnet(i, a), y = interfaces_subnet(i, b);
    if (x == y && !number_at(i, x)->separate) {
        number_at(i, x)->separate = true;
        start_again(i, x);
        return true;
    }
    if (x != y && !number_at(i, x)->separate && !number_at(i, y)->separate && !are_apart(i, x, y) &&
        !may_be_apart(i)) {
        i->apart[i->n_apart][0] = x;
        i->apart[i->n_apart][1] = y;
        i->n_apart++;
    }
    return false;
}
