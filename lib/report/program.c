/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/program.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/environment.h"
#include "cli/fail.h"

static const char *program;
static volatile int *stopped;

static void on_signal(int number)
{
    *stopped = number;
}

/* No SA_RESTART, so that a blocking read from a pipe ends too. SIGHUP stays ignored under nohup. */
static void catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < G_N_ELEMENTS(caught); i++)
        if (caught[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 ||
            before.sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    environment_report_failed_writes();
}

void program_begin(char **argv, char *name, volatile int *stop)
{
    program = name;
    argv[0] = name;
    stopped = stop;
    environment_open_standard_files();
    catch_signals();
}

const struct report_parts *format_parts(enum format f)
{
    static const struct report_parts *const parts[] = {[FORMAT_TEXT] = &report_parts_text,
                                                       [FORMAT_JSON] = &report_parts_json,
                                                       [FORMAT_JUNIT] = &report_parts_junit,
                                                       [FORMAT_TAP] = &report_parts_tap,
                                                       [FORMAT_JSONL] = &report_parts_jsonl};
    return parts[f];
}

bool only_read(GPtrArray *only, struct rule_selection *selection, const char *selector,
               const char *what, GError **error)
{
    if (!selection_add(selection, selector))
        return fail_with(error, "no %s is named '%s' or begins with it: see %s --list", what,
                         selector, program);
    g_ptr_array_add(only, (gpointer)selector); /* in argv */
    return true;
}

void only_end(GPtrArray *only, struct rule_selection *selection)
{
    for (size_t i = 0; only->len == 0 && i < RULE_COUNT; i++)
        selection->rule[i] = true;
    g_ptr_array_add(only, NULL);
}

bool use_colours(const char *output)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !output && isatty(STDOUT_FILENO) && !(no && no[0]) &&
           !(term && strcmp(term, "dumb") == 0);
}
