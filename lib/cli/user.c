/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a file is. See user.h. */
#include "cli/user.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { OVERFLOW_UID = 65534 }; /* the kernel's default */

static uid_t read_overflow_uid(void)
{
    FILE *file = fopen("/proc/sys/kernel/overflowuid", "re");
    unsigned number;
    bool good = file && fscanf(file, "%u", &number) == 1; /* NOLINT(cert-err34-c) */

    if (file)
        fclose(file);
    return good ? number : OVERFLOW_UID;
}

/* Whether the user namespace maps every user, as that of the host does (user_namespaces(7)). */
static bool maps_all_users(void)
{
    FILE *file = fopen("/proc/self/uid_map", "re");
    uint64_t mapped = 0, count;

    /* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
    while (file && fscanf(file, "%*u %*u %" SCNu64, &count) == 1)
        mapped += count;
    if (file)
        fclose(file);
    return mapped >= UINT32_MAX;
}

/* The number that stands for more than one user, or (uid_t)-1, which no file has. */
static uid_t number_of_nobody(void)
{
    static bool known;
    static uid_t number;

    if (!known)
        number = maps_all_users() ? (uid_t)-1 : read_overflow_uid();
    known = true;
    return number;
}

bool user_is_same(uid_t a, uid_t b)
{
    return a == b && a != number_of_nobody();
}

bool user_is_trusted(uid_t user)
{
    return user_is_same(user, 0) || user_is_same(user, geteuid());
}

const char *user_note(uid_t user)
{
    return user == number_of_nobody() ? ", which stands for all users from outside this container"
                                      : "";
}
