/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ipoib-capture: a live capture, a subcommand, or an extcap of Wireshark. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "capture/convert.h"
#include "capture/extcap.h"
#include "capture/firmware/attacher.h"
#include "capture/multicast/keeper.h"
#include "capture/live.h"
#include "cli/environment.h"
#include "cli/say.h"

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
} subcommands[] = {
    {"convert", convert_main},
    /* started by a capture, not by users */
    {KEEPER_COMMAND, keeper_main},
    {ATTACHER_COMMAND, attacher_main},
};

int main(int argc, char **argv)
{
    environment_secure();
    environment_open_standard_files();
    say_as("ipoib-capture");
    environment_report_failed_writes();
    signal(SIGCHLD,
           SIG_DFL); /* the parent may have ignored it; then no child could be waited for */

    for (size_t i = 0; argc > 1 && i < sizeof(subcommands) / sizeof(subcommands[0]); i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    return extcap_is_requested(argc, argv) ? extcap_main(argc, argv) : live_main(argc, argv);
}
