/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the options of a program as the manual page has them, for script/manuals: each program's
 * own option table, in mdoc(7). Argument: the program's command.
 */
#include <stdio.h>
#include <string.h>

#include "capture/convert_options.h"
#include "capture/live_table.h"
#include "check/options.h"

extern const struct cli_program probe_program; /* probe/run/options.h has a struct options too */

int main(int argc, char **argv)
{
    const struct cli_program *const programs[] = {&check_program, &probe_program, &live_program,
                                                  &convert_program};

    for (size_t i = 0; argc == 2 && i < G_N_ELEMENTS(programs); i++)
        if (strcmp(programs[i]->command, argv[1]) == 0) {
            GString *text = cli_manual(programs[i]);
            bool good = cli_print(text->str);

            g_string_free(text, TRUE);
            return good ? 0 : 1;
        }
    fprintf(stderr, "usage: option-lists COMMAND\n");
    return 2;
}
