/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Environment of a privileged program. See environment.h. */
#include "cli/environment.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Returns the value if VARIABLE sets NAME, else NULL. */
static const char *value_of(const char *variable, const char *name)
{
    size_t len = strlen(name);

    return strncmp(variable, name, len) == 0 && variable[len] == '=' ? variable + len + 1 : NULL;
}

/* Whether VARIABLE names a language and not a path, which setlocale(3) would read as a file. */
static bool is_language(const char *variable)
{
    bool named = value_of(variable, "LANG") || value_of(variable, "LANGUAGE") ||
                 strncmp(variable, "LC_", strlen("LC_")) == 0;

    return named && !strchr(variable, '/');
}

/*
 * Whether VARIABLE is a time zone without a path of its own: ":" or "/" starts a file name
 * (tzset(3)). "Europe/Berlin" is a file of the system.
 */
static bool is_time_zone(const char *variable)
{
    const char *zone = value_of(variable, "TZ");

    return zone && zone[0] != ':' && zone[0] != '/' && !strstr(zone, "..");
}

/*
 * Whether VARIABLE is kept. TERM is safe: no library here uses terminfo, which can read files of
 * the user.
 */
static bool is_harmless(const char *variable)
{
    const char *terminal = value_of(variable, "TERM");

    return (terminal && !strchr(terminal, '/')) || value_of(variable, "NO_COLOR") ||
           is_language(variable) || is_time_zone(variable);
}

void environment_clear(void)
{
    static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char **to = environ;
    bool has_path = false;

    if (!environ)
        return;
    for (char **from = environ; *from; from++)
        if (value_of(*from, "PATH") && !has_path) {
            has_path = true;
            *to++ = path;
        } else if (is_harmless(*from)) {
            *to++ = *from;
        }
    *to = NULL;
}

void environment_secure(void)
{
    if (getauxval(AT_SECURE) != 0)
        environment_clear();
}

void environment_open_standard_files(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

void environment_report_failed_writes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
