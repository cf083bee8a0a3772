/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads mstflint's library. See library.h. */
#include "capture/firmware/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fail.h"

#define FILE_OF_PACKAGE "/mstflint/python_tools/ccmdif.so"

static const char *const places[] = {
#ifdef IPOIB_LIBRARY_ARCHITECTURE
    "/usr/lib/" IPOIB_LIBRARY_ARCHITECTURE FILE_OF_PACKAGE,
#endif
    "/usr/lib64" FILE_OF_PACKAGE,
    "/usr/lib" FILE_OF_PACKAGE,
};

/* Whether only root can change what is at PATH. */
static bool is_roots(const char *path, GError **error)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return fail_with(error, "%s: %s", path, strerror(errno));
    if (st.st_uid != 0)
        return fail_with(error, "%s belongs to another user than root (uid %u)", path,
                         (unsigned)st.st_uid);
    if (!S_ISLNK(st.st_mode) && (st.st_mode & (S_IWGRP | S_IWOTH)))
        return fail_with(error, "others than root may write to %s (mode %04o)", path,
                         (unsigned)st.st_mode & 07777u);
    return true;
}

/* PATH has no links: the folders on the way to the file, from / on, and the file. */
static bool are_all_roots(const char *path, GError **error)
{
    char folder[PATH_MAX];

    if (!is_roots("/", error))
        return false;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(folder, path, (size_t)(slash - path));
        folder[slash - path] = '\0';
        if (!is_roots(folder, error))
            return false;
    }
    return is_roots(path, error);
}

/*
 * A link is resolved once. What it leads to can only be changed by root, so it is still the same
 * when it is loaded.
 */
static bool find_file(const char *path, char real[PATH_MAX], GError **error)
{
    if (path && path[0] != '/')
        return fail_with(error, "%s is not an absolute path", path);
    if (path && !realpath(path, real))
        return fail_with(error, "%s: %s", path, strerror(errno));
    for (size_t i = 0; !path && i < sizeof(places) / sizeof(places[0]); i++)
        if (realpath(places[i], real))
            return are_all_roots(real, error);
    if (!path)
        return fail_with(error,
                         "mstflint is not installed: install the package mstflint, or name its "
                         "library (ccmdif.so) by --mstflint-library");
    return are_all_roots(real, error);
}

bool mst_library_load(struct mst_library *library, const char *path, GError **error)
{
    struct {
        const char *name;
        void *place;
    } functions[] = {{"mopen", &library->open},
                     {"mclose", &library->close},
                     {"mread4", &library->read4},
                     {"mwrite4", &library->write4},
                     {"icmd_send_command", &library->command}};
    char real[PATH_MAX];

    memset(library, 0, sizeof(*library));
    if (!find_file(path, real, error))
        return false;
    library->handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return fail_with(error, "mstflint's library cannot be loaded: %s", dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = dlsym(library->handle, functions[i].name);

        if (!function)
            return fail_with(error, "%s has no %s(): install another version of mstflint", real,
                             functions[i].name);
        memcpy(functions[i].place, &function, sizeof(function));
    }
    return true;
}
