/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops the capabilities of a program that reads files of others. See confine.h. */
#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/inputs.h"
#include "cli/place.h"
#include "cli/privileges.h"
#include "compat/kernel.h"

static bool is_stdio(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/*
 * Whether the kernel would allow it with the effective capabilities. Unlike access(2), which takes
 * root's capabilities for granted, and faccessat(3), which computes it from the mode before Linux
 * 5.8. Without the system call, nothing counts as allowed.
 */
static bool is_allowed(int folder, const char *path, int how)
{
    return syscall(SYS_faccessat2, folder, path, how, AT_EACCESS) == 0;
}

/* ---- inputs */

/* For as many inputs as the system allows. */
static void allow_many_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Called with the capabilities. An input that cannot be opened gets its message later. */
static void open_input(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0)
        inputs_keep(path, fd);
}

/* Marks the inputs that cannot be opened without capabilities, which are suspended. */
static void find_inputs(const struct confined_files *files, bool *needed)
{
    for (int i = 0; i < files->n_inputs; i++)
        needed[i] = !is_stdio(files->inputs[i]) && !is_allowed(AT_FDCWD, files->inputs[i], R_OK) &&
                    errno != ENOENT;
}

static void open_inputs(const struct confined_files *files, const bool *needed)
{
    bool many = false;

    for (int i = 0; i < files->n_inputs; i++) {
        if (needed[i] && !many)
            allow_many_files();
        many |= needed[i];
        if (needed[i])
            open_input(files->inputs[i]);
    }
}

/* ---- outputs */

/* One that this user can give a file to. */
static bool is_own_group(gid_t group)
{
    gid_t groups[NGROUPS_MAX];
    int n = getgroups(NGROUPS_MAX, groups);

    while (n > 0 && groups[n - 1] != group)
        n--;
    return n > 0 || group == getegid();
}

/* A file is replaced and keeps its owner and group, or overwritten and given another mode. */
static bool place_is_allowed(const struct place *place)
{
    bool folder = is_allowed(place->folder, ".", W_OK | X_OK);

    if (place->descriptor >= 0)
        return true;
    if (!place->exists)
        return folder;
    if (place->by_kernel || !S_ISREG(place->stat.st_mode))
        return is_allowed(place->folder, place->name, W_OK);
    return folder && place->stat.st_uid == geteuid() && is_own_group(place->stat.st_gid) &&
           is_allowed(place->folder, place->name, W_OK);
}

/* The privileges that writing PATH needs. Called while the capabilities are suspended. */
static unsigned output_needs(const char *path)
{
    struct place place;
    unsigned needed = PRIVILEGE_FILES | PRIVILEGE_OWNER;

    if (is_stdio(path))
        return 0;
    if (place_find(&place, path, NULL) == 0) {
        if (place_is_allowed(&place))
            needed = 0;
        else if (place.exists)
            needed |= PRIVILEGE_GIVE;
    }
    place_clear(&place);
    return needed;
}

/* ---- both */

static bool fail_to_suspend(GError **error)
{
    return fail_with(error, "cannot drop privileges: %s", strerror(errno));
}

bool confine(const struct confined_files *files, GError **error)
{
    bool *needed = g_new0(bool, (gsize)files->n_inputs), resumed;
    unsigned reserve;

    if (!privileges_suspend()) {
        g_free(needed);
        return fail_to_suspend(error);
    }
    find_inputs(files, needed);
    reserve = output_needs(files->output) | output_needs(files->other_output);
    resumed = privileges_resume();
    if (resumed)
        open_inputs(files, needed);
    g_free(needed);
    if (!resumed)
        return fail_to_suspend(error);
    return privileges_drop(0, reserve, error);
}
