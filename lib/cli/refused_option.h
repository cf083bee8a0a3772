/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Naming an option of a command line that is wrong. */
#ifndef IPOIB_CLI_REFUSED_OPTION_H
#define IPOIB_CLI_REFUSED_OPTION_H

enum { REFUSED_OPTION_LEN = 3 };

/*
 * The option that getopt_long has just refused, as the user wrote it; of several letters behind one
 * dash that letter alone, in TEXT. SHORTS: the letters, as getopt_long was given them.
 */
const char *refused_option(char **argv, const char *shorts, char text[REFUSED_OPTION_LEN]);

#endif
