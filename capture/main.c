/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-capture: the program's own options and its subcommands. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/convert.h"
#include "capture/message.h"

static const char usage[] =
    "Usage: ipoib-capture convert [--format WORD[,WORD]] IN OUT\n"
    "       ipoib-capture -h | -v\n"
    "\n"
    "convert turns captures of InfiniBand frames (LINKTYPE_INFINIBAND, 247) into ERF,\n"
    "which every Wireshark opens, and back: see 'ipoib-capture convert --help'.\n"
    "\n"
    "This build converts only: it cannot capture and has no options for it.\n"
    "\n"
    "-h, --help      shows this text.\n"
    "-v, --version   shows the version.\n"
    "\n"
    "Exit status: 0, 1 (an error, or data were lost), 2 (wrong usage).\n";

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"convert", convert_main},
};

/*
 * A file must not get number 0, 1 or 2 because the caller closed it: messages would go into the output.
 * Read-only, so that writing to a closed stdout still fails.
 */
static void occupy_standard_files(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static int print(const char *text)
{
    fputs(text, stdout);
    if (fflush(stdout) == 0)
        return 0;
    say("standard output: cannot be written");
    return 1;
}

static int wrong(const char *fault, const char *arg)
{
    say("%s%s; this build has the subcommand 'convert' only: try 'ipoib-capture --help'", fault, arg);
    return 2;
}

int main(int argc, char **argv)
{
    occupy_standard_files();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is a write error: told, with an exit status */

    if (argc < 2)
        return wrong("nothing to do", "");
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)
        return print(usage);
    if (strcmp(argv[1], "-v") == 0 || strcmp(argv[1], "--version") == 0)
        return print("ipoib-capture " IPOIB_VERSION "\n");
    for (size_t i = 0; i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    return wrong("unknown: ", argv[1]);
}
