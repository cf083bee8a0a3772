/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops the capabilities of a program that reads files of others, before the first of them is
 * parsed: an error in a parser must not give the author of a file more rights than the user has
 * without capabilities.
 */
#ifndef IPOIB_CLI_CONFINE_H
#define IPOIB_CLI_CONFINE_H

#include <glib.h>
#include <stdbool.h>

struct confined_files {
    char *const *inputs; /* "-": stdin */
    int n_inputs;
    const char *output, *other_output; /* NULL or "-": none, or stdout */
};

/*
 * Drops all capabilities permanently. Inputs that can be opened only with them are opened first,
 * for inputs_open(). If an output can be written only with them, PRIVILEGE_FILES and
 * PRIVILEGE_OWNER stay in reserve (cli/privileges.h), for one that exists also PRIVILEGE_GIVE:
 * save() raises them. Returns false and sets ERROR if the capabilities cannot be dropped: the
 * program must exit.
 */
bool confine(const struct confined_files *files, GError **error);

#endif
