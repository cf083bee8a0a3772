/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may access an output. See access.h. */
#include "cli/access.h"

enum { ALL = S_IRWXU | S_IRWXG | S_IRWXO, PRIVATE = S_IRUSR | S_IWUSR, GROUP_SHIFT = 3 };

const struct access_limit access_unlimited = {.mode = ALL};

/* The members of the group keep only what all users have. */
static mode_t without_group(mode_t mode)
{
    return mode & ~((mode_t)S_IRWXG & ~((mode & S_IRWXO) << GROUP_SHIFT));
}

void access_narrow(struct access_limit *limit, const struct stat *st)
{
    if (!S_ISREG(st->st_mode)) {
        limit->mode &= PRIVATE;
        return;
    }
    limit->mode &= st->st_mode;
    if (limit->has_group && limit->group != st->st_gid)
        limit->mode = without_group(limit->mode);
    limit->has_group = true;
    limit->group = st->st_gid;
}

mode_t access_allowed(const struct access_limit *limit, mode_t mode, gid_t group)
{
    bool is_other = limit->has_group && limit->group != group;

    return mode & (is_other ? without_group(limit->mode) : limit->mode);
}
