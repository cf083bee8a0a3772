/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Naming an option that is wrong. See refused_option.h. */
#include "cli/refused_option.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *refused_option(char **argv, const char *shorts, char text[REFUSED_OPTION_LEN])
{
    char *argument = argv[optind - 1];
    /*
     * 0 or a number: a long option's; so is a known letter, of one that has a value too many, or
     * none at the end
     */
    bool is_letter = optopt > ' ' && optopt < 0x7f &&
                     (!strchr(shorts, optopt) || strncmp(argument, "--", 2) != 0);

    if (!is_letter)
        return argument;
    snprintf(text, REFUSED_OPTION_LEN, "-%c", optopt);
    return text;
}
