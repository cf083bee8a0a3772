/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names a wrong option. See refused_option.h. */
#include "cli/refused_option.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *refused_option(char **argv, const char *shorts, char text[REFUSED_OPTION_LEN])
{
    char *argument = argv[optind - 1];
    /*
     * For a long option, optopt is 0 (unknown option) or the option's value, a number or a known
     * letter (a superfluous or missing argument).
     */
    bool is_letter = optopt > ' ' && optopt < 0x7f &&
                     (!strchr(shorts, optopt) || strncmp(argument, "--", 2) != 0);

    if (!is_letter)
        return argument;
    snprintf(text, REFUSED_OPTION_LEN, "-%c", optopt);
    return text;
}
