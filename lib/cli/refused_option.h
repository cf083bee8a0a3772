/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names a wrong option of a command line. */
#ifndef IPOIB_CLI_REFUSED_OPTION_H
#define IPOIB_CLI_REFUSED_OPTION_H

enum { REFUSED_OPTION_LEN = 3 };

/*
 * Returns the option that getopt_long has just refused, as the user wrote it. Of several letters
 * after one dash, only the refused letter, in TEXT. SHORTS: the short options passed to
 * getopt_long.
 */
const char *refused_option(char **argv, const char *shorts, char text[REFUSED_OPTION_LEN]);

#endif
