/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

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
    /* a closed pipe becomes a write error, which is reported with an exit status */
    signal(SIGPIPE, SIG_IGN);
}

/*
 * Opens file descriptors 0 to 2 if the caller closed them, so that no other file gets these
 * numbers. They are read-only, so that writing to a closed stdout fails.
 */
static void occupy_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void program_begin(char **argv, char *name, volatile int *stop)
{
    program = name;
    argv[0] = name;
    stopped = stop;
    say_as(name);
    occupy_standard_files();
    catch_signals();
}

const struct report_parts *format_parts(enum format f)
{
    static const struct report_parts *const parts[] = {[FORMAT_TEXT] = &report_parts_text,
                                                       [FORMAT_JSON] = &report_parts_json,
                                                       [FORMAT_JUNIT] = &report_parts_junit,
                                                       [FORMAT_TAP] = &report_parts_tap};
    return parts[f];
}

bool format_read(enum format *f, const char *name, GError **error)
{
    static const char *const names[] = {[FORMAT_TEXT] = "text",
                                        [FORMAT_JSON] = "json",
                                        [FORMAT_JUNIT] = "junit",
                                        [FORMAT_TAP] = "tap"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i], name) == 0) {
            *f = (enum format)i;
            return true;
        }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "no format '%s': text, json, junit or tap", name);
    return false;
}

bool only_read(GPtrArray *only, struct selection *selection, const char *selector, GError **error)
{
    if (!selection_add(selection, selector)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "no rule is named '%s' or begins with it: see %s --list", selector, program);
        return false;
    }
    g_ptr_array_add(only, (gpointer)selector); /* in argv */
    return true;
}

void only_end(GPtrArray *only, struct selection *selection)
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
