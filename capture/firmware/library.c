/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads mstflint's library. See library.h. */
#include "capture/firmware/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "capture/helper/trusted.h"
#include "cli/fail.h"

#define FILE_OF_PACKAGE "/mstflint/python_tools/ccmdif.so"

static const char *const places[] = {
#ifdef IPOIB_LIBRARY_ARCHITECTURE
    "/usr/lib/" IPOIB_LIBRARY_ARCHITECTURE FILE_OF_PACKAGE,
#endif
    "/usr/lib64" FILE_OF_PACKAGE,
    "/usr/lib" FILE_OF_PACKAGE,
};

static bool find_file(const char *path, char real[PATH_MAX], GError **error)
{
    if (path)
        return trusted_file(path, real, error);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (access(places[i], F_OK) == 0)
            return trusted_file(places[i], real, error);
    return fail_with(error, "mstflint is not installed: install the package mstflint, or name its "
                            "library (ccmdif.so) by --mstflint-library");
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
