/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a harness on files as they are, for compilers without libFuzzer and for the ordinary tests:
 * the corpus of earlier runs, and every input that ever failed. Arguments: files and folders.
 */
#include <glib.h>
#include <stdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static unsigned run_file(const char *path)
{
    gchar *bytes;
    gsize n;
    if (!g_file_get_contents(path, &bytes, &n, NULL))
        return 0;
    /* copy of the exact size, so that AddressSanitizer detects an overread by one byte */
    unsigned char *exact = g_memdup2(bytes, n);
    g_free(bytes);
    fprintf(stderr, "# %s\n", path);
    LLVMFuzzerTestOneInput(exact, n);
    g_free(exact);
    return 1;
}

static unsigned run_files(const char *path)
{
    unsigned n = 0;
    const char *name;
    GDir *folder = g_dir_open(path, 0, NULL);
    if (!folder)
        return run_file(path);
    while ((name = g_dir_read_name(folder))) {
        char *file = g_build_filename(path, name, NULL);
        n += run_file(file);
        g_free(file);
    }
    g_dir_close(folder);
    return n;
}

int main(int argc, char **argv)
{
    unsigned n = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        n += run_files(argv[i]);
    printf("%sok 1 - %u inputs\n1..1\n", n ? "" : "not ", n);
    return n ? 0 : 1;
}
