/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the options of a program from its own option table. Arguments: the program's command, for
 * script/manuals as mdoc(7) has them; with --table before it, for script/completions: a line each
 * with letter, name, name of the value and explanation, with tabs between them.
 */
#include <stdio.h>
#include <string.h>

#include "capture/convert_options.h"
#include "capture/live_table.h"
#include "check/options.h"

extern const struct cli_program probe_program; /* probe/run/options.h has a struct options too */

static GString *table_of(const struct cli_program *program)
{
    GString *text = g_string_new(NULL);

    for (const struct cli_option *o = program->options; o->kind != CLI_END; o++) {
        if (o->kind == CLI_HEADING)
            continue;
        if (o->letter)
            g_string_append_c(text, o->letter);
        g_string_append_printf(text, "\t%s\t%s\t%s\n", o->name ? o->name : "",
                               o->argument ? o->argument : "", o->help);
    }
    return text;
}

int main(int argc, char **argv)
{
    const struct cli_program *const programs[] = {&check_program, &probe_program, &live_program,
                                                  &convert_program};
    bool table = argc == 3 && strcmp(argv[1], "--table") == 0;

    for (size_t i = 0; (argc == 2 || table) && i < G_N_ELEMENTS(programs); i++)
        if (strcmp(programs[i]->command, argv[argc - 1]) == 0) {
            GString *text = table ? table_of(programs[i]) : cli_manual(programs[i]);
            bool good = cli_print(text->str);

            g_string_free(text, TRUE);
            return good ? 0 : 1;
        }
    fprintf(stderr, "usage: option-lists [--table] COMMAND\n");
    return 2;
}
