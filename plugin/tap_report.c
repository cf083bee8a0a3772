/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of the whole capture: text in tshark, windows in Wireshark. tshark can also print
 * Wireshark's tables, but does not align their columns and does not explain an empty table. So
 * tshark gets its own text writer under the same name. It is registered first and so has
 * precedence.
 */
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/tap.h"

#include <arpa/inet.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- rows */

struct rows {
    /*
     * stat_tap_table_item_type, row after row. Texts are freed with g_free() by the owner of the
     * cells: this array, or the table that takes them.
     */
    GArray *cells;
    struct interface_names names; /* parts of the cells of cell_interface() */
};

/* Wireshark's cells have 32 bits. Larger values are shown as UINT_MAX. */
void cell_number(struct rows *rows, uint64_t value)
{
    stat_tap_table_item_type cell = {.type = TABLE_ITEM_UINT,
                                     .value.uint_value = (unsigned)MIN(value, UINT_MAX)};
    g_array_append_val(rows->cells, cell);
}

void cell_text(struct rows *rows, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    stat_tap_table_item_type cell = {.type = TABLE_ITEM_STRING,
                                     .value.string_value = g_strdup_vprintf(format, args)};
    va_end(args);
    g_array_append_val(rows->cells, cell);
}

void cell_frame(struct rows *rows, uint32_t frame)
{
    if (frame)
        cell_text(rows, "%" PRIu32, frame);
    else
        cell_text(rows, "%s", "");
}

void cell_interface(struct rows *rows, uint16_t number)
{
    char name[INTERFACE_NAME];
    interfaces_name(state_facts()->interfaces, rows->names, number, name);
    cell_text(rows, "%s", name);
}

void cell_gid(struct rows *rows, const uint8_t *gid)
{
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, gid, text, sizeof text);
    cell_text(rows, "%s", text);
}

void cell_pkey(struct rows *rows, uint16_t pkey)
{
    if (pkey & 0x7fff)
        cell_text(rows, "0x%04x", pkey);
    else
        cell_text(rows, "-");
}

void cell_lid(struct rows *rows, uint16_t lid)
{
    if (lid)
        cell_text(rows, "%u", lid);
    else
        cell_text(rows, "-");
}

static void cell_clear(stat_tap_table_item_type *cell)
{
    if (cell->type == TABLE_ITEM_STRING)
        g_free((char *)cell->value.string_value);
    *cell = (stat_tap_table_item_type){.type = TABLE_ITEM_NONE};
}

/* ---- tshark: text */

struct text_tap {
    const char *cli;
    void (*write)(GString *out);
    const struct tap_table *table; /* NULL: call write() instead */
};

static const char *cell_string(const stat_tap_table_item_type *cell, char number[16])
{
    if (cell->type == TABLE_ITEM_STRING)
        return cell->value.string_value;
    snprintf(number, 16, "%u", cell->value.uint_value);
    return number;
}

static void add_padded(GString *out, const char *text, int width, bool right)
{
    g_string_append_printf(out, "%*s  ", right ? width : -width, text);
}

static void end_line(GString *out)
{
    while (out->len && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

static void measure_cells(const struct tap_table *t, const GArray *cells, int *widths)
{
    char number[16];
    for (unsigned i = 0; i < t->n_columns; i++)
        widths[i] = (int)strlen(t->columns[i].name);
    for (unsigned i = 0; i < cells->len; i++) {
        int n = (int)strlen(
            cell_string(&g_array_index(cells, stat_tap_table_item_type, i), number));
        widths[i % t->n_columns] = MAX(widths[i % t->n_columns], n);
    }
}

static void add_row(GString *out, const struct tap_table *t, const stat_tap_table_item_type *cells,
                    const int *widths)
{
    char number[16];
    for (unsigned i = 0; i < t->n_columns; i++)
        add_padded(out, cell_string(&cells[i], number), widths[i], t->columns[i].number);
    end_line(out);
}

static void add_rows(GString *out, const struct tap_table *t, const GArray *cells)
{
    int *widths = g_new0(int, t->n_columns);
    measure_cells(t, cells, widths);
    for (unsigned i = 0; i < t->n_columns; i++)
        add_padded(out, t->columns[i].name, widths[i], t->columns[i].number);
    end_line(out);
    for (unsigned i = 0; i < cells->len; i += t->n_columns)
        add_row(out, t, &g_array_index(cells, stat_tap_table_item_type, i), widths);
    g_free(widths);
}

static GArray *make_rows(const struct tap_table *t, void (*head)(struct rows *rows))
{
    struct rows rows = {g_array_new(FALSE, FALSE, sizeof(stat_tap_table_item_type)),
                        interfaces_names(state_facts()->interfaces)};
    if (head)
        head(&rows);
    t->fill(&rows);
    return rows.cells;
}

/* Example: "(no IPoIB connection was requested: the protocol IPoIB is disabled)". */
static char *why_empty(const struct tap_table *t)
{
    const char *disabled = disabled_protocol();
    return g_strdup_printf("(%s%s%s)", t->none, disabled ? ": " : "", disabled ? disabled : "");
}

static void write_none(GString *out, const struct tap_table *t)
{
    char *text = why_empty(t);
    g_string_append_printf(out, "%s\n", text);
    g_free(text);
}

static void write_table(GString *out, const struct tap_table *t)
{
    static const char rule[] =
        "===================================================================\n";
    GArray *cells = make_rows(t, NULL);
    g_string_append_printf(out, "%s%s\n", rule, t->title);
    add_rows(out, t, cells);
    if (cells->len == 0)
        write_none(out, t);
    if (t->conclude)
        t->conclude(out);
    g_string_append(out, rule);
    g_array_set_clear_func(cells, (GDestroyNotify)cell_clear);
    g_array_free(cells, TRUE);
}

static void text_draw(void *data)
{
    const struct text_tap *t = data;
    GString *out = g_string_new(NULL);
    if (t->table)
        write_table(out, t->table);
    else
        t->write(out);
    fputs(out->str, stdout);
    g_string_free(out, TRUE);
}

/*
 * Does nothing: the model has all data. The listener is needed so that every frame is dissected,
 * and to print at the end.
 */
static tap_packet_status text_packet(void *data _U_, packet_info *pinfo _U_,
                                     epan_dissect_t *edt _U_, const void *seen _U_,
                                     tap_flags_t flags _U_)
{
    return TAP_PACKET_DONT_REDRAW;
}

static stat_init_result text_init(const char *arg, void *data)
{
    struct text_tap *t = data;
    if (strcmp(arg, t->cli) != 0) {
        fprintf(stderr, "tshark: -z %s: \"%s\" reports on the whole capture and takes no filter\n",
                arg, t->cli);
        STAT_INIT_FAILED;
    }
    GString *error = register_tap_listener(TAP_NAME, t, NULL, TL_REQUIRES_NOTHING, NULL,
                                           text_packet, text_draw, NULL);
    if (error) {
        fprintf(stderr, "tshark: -z %s: %s\n", arg, error->str);
        g_string_free(error, TRUE);
        STAT_INIT_FAILED;
    }
    STAT_INIT_OK;
}

static void add_text_tap(const char *cli, void (*write)(GString *out),
                         const struct tap_table *table)
{
    struct text_tap *t = wmem_new0(wmem_epan_scope(), struct text_tap);
    stat_tap_ui ui = {
        .group = REGISTER_PACKET_STAT_GROUP_UNSORTED, .cli_string = cli, .tap_init_cb = text_init};
    *t = (struct text_tap){cli, write, table};
    register_stat_tap_ui(&ui, t);
}

/* In Wireshark, -z opens the window, and text output is not used. */
static bool has_windows(void)
{
    const char *program = g_get_prgname();
    return program && g_ascii_strcasecmp(program, "wireshark") == 0;
}

void text_register(const char *cli, void (*write)(GString *out))
{
    if (!has_windows())
        add_text_tap(cli, write, NULL);
}

/* ---- Wireshark: windows */

struct window {
    stat_tap_table_ui ui; /* first, because Wireshark passes a pointer to it */
    const struct tap_table *table;
    /* rows that are not shown now but that an older window of the same table may show */
    GPtrArray *spare;
};

/*
 * Adds a first column with row numbers, so that the table keeps its order: Wireshark sorts by the
 * first column.
 */
static stat_tap_table_item *window_fields(const struct tap_table *t)
{
    stat_tap_table_item *fields = wmem_alloc0_array(wmem_epan_scope(), stat_tap_table_item,
                                                    t->n_columns + 1);
    unsigned n = 0;
    fields[n++] = (stat_tap_table_item){TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "#", "%u"};
    for (unsigned i = 0; i < t->n_columns; i++) {
        bool number = t->columns[i].number, right = number || t->columns[i].digits;
        if (!t->columns[i].text_only)
            fields[n++] = (stat_tap_table_item){number ? TABLE_ITEM_UINT : TABLE_ITEM_STRING,
                                                right ? TAP_ALIGN_RIGHT : TAP_ALIGN_LEFT,
                                                t->columns[i].name, number ? "%u" : "%s"};
    }
    return fields;
}

/* Rows are never freed or moved, because open windows point at them. */
static void resize(struct window *w, stat_tap_table *t, unsigned n)
{
    while (t->num_elements > n)
        g_ptr_array_add(w->spare, t->elements[--t->num_elements]);
    t->elements = g_renew(stat_tap_table_item_type *, t->elements, MAX(n, 1));
    while (t->num_elements < n)
        t->elements[t->num_elements++] = w->spare->len
                                             ? g_ptr_array_steal_index(w->spare, w->spare->len - 1)
                                             : g_new0(stat_tap_table_item_type, t->num_fields);
}

/* Wireshark sorts text by its bytes: with spaces before them, numbers are in their order. */
static void pad_digits(stat_tap_table_item_type *cell)
{
    if (cell->type != TABLE_ITEM_STRING)
        return;
    char *text = (char *)cell->value.string_value;
    cell->value.string_value = g_strdup_printf("%10s", text);
    g_free(text);
}

/* Moves a row's cells to the window: without those that only the text has. */
static void put_cells(const struct tap_table *table, stat_tap_table_item_type *to,
                      stat_tap_table_item_type *cells)
{
    for (unsigned i = 0; i < table->n_columns; i++) {
        if (table->columns[i].text_only) {
            cell_clear(&cells[i]);
            continue;
        }
        *to = cells[i];
        if (table->columns[i].digits)
            pad_digits(to);
        to++;
    }
}

/*
 * A row that says why the table has no other: in the first column of text, because Wireshark 4.6
 * reads a cell by the type of its column. The other cells are empty.
 */
static void add_why_empty(GArray *cells, const struct tap_table *t)
{
    bool has_text = false;
    for (unsigned i = 0; i < t->n_columns; i++) {
        stat_tap_table_item_type cell = {.type = TABLE_ITEM_NONE};
        if (!has_text && !t->columns[i].number) {
            cell.type = TABLE_ITEM_STRING;
            cell.value.string_value = why_empty(t);
            has_text = true;
        }
        g_array_append_val(cells, cell);
    }
}

static void put_rows(const struct tap_table *table, stat_tap_table *t, const GArray *cells)
{
    for (unsigned row = 0; row < t->num_elements; row++) {
        stat_tap_table_item_type *to = t->elements[row];
        for (unsigned i = 0; i < t->num_fields; i++)
            cell_clear(&to[i]);
        to[0] = (stat_tap_table_item_type){.type = TABLE_ITEM_UINT, .value.uint_value = row + 1};
        put_cells(table, to + 1,
                  &g_array_index(cells, stat_tap_table_item_type, (size_t)row * table->n_columns));
    }
}

/* Called when a window opens or must be filled again, after all packets have been dissected. */
static void window_init(stat_tap_table_ui *ui)
{
    struct window *w = (struct window *)ui;
    GArray *cells = make_rows(w->table, w->table->head);
    if (cells->len == 0)
        add_why_empty(cells, w->table);
    if (!ui->tables || ui->tables->len == 0)
        stat_tap_add_table(ui, stat_tap_init_table(w->table->title, (int)ui->nfields, 0, NULL));
    stat_tap_table *t = g_array_index(ui->tables, stat_tap_table *, 0);
    resize(w, t, cells->len / w->table->n_columns);
    put_rows(w->table, t, cells);
    g_array_free(cells, TRUE);
}

static void window_free_cell(stat_tap_table *t _U_, unsigned row _U_, unsigned column _U_,
                             stat_tap_table_item_type *cell)
{
    cell_clear(cell);
}

static unsigned columns_of_window(const struct tap_table *t)
{
    unsigned n = 1; /* the row's number */
    for (unsigned i = 0; i < t->n_columns; i++)
        n += !t->columns[i].text_only;
    return n;
}

static void add_window(const struct tap_table *t)
{
    struct window *w = wmem_new0(wmem_epan_scope(), struct window);
    w->table = t;
    w->spare = g_ptr_array_new();
    w->ui = (stat_tap_table_ui){.group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
                                .title = t->title,
                                .tap_name = TAP_NAME,
                                .cli_string = t->cli,
                                .stat_tap_init_cb = window_init,
                                .packet_func = text_packet,
                                .stat_tap_free_table_item_cb = window_free_cell,
                                .nfields = columns_of_window(t),
                                .fields = window_fields(t)};
    register_stat_tap_table_ui(&w->ui);
}

void table_register(const struct tap_table *t)
{
    if (!has_windows())
        add_text_tap(t->cli, NULL, t);
    add_window(t);
}
