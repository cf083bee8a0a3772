/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which environment variables remain for a program with more privileges than its user. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/environment.h"
#include "tests/unit/unit.h"

static char *variables[40];
extern char **environ;

/* Clears an environment that contains this variable. Returns what is left of it. */
static const char *left_of(const char *variable)
{
    static char text[100];

    strcpy(text, variable);
    variables[0] = text;
    variables[1] = NULL;
    environ = variables;
    environment_clear();
    return environ[0];
}

static void only_listed_variables_stay(void **state)
{
    static const char *const kept[] = {"TERM=xterm-256color",
                                       "NO_COLOR=1",
                                       "NO_COLOR=",
                                       "LANG=de_DE.UTF-8",
                                       "LC_ALL=C",
                                       "LC_TIME=en_GB",
                                       "LANGUAGE=de:en",
                                       "TZ=UTC",
                                       "TZ=Europe/Berlin",
                                       "TZ=CET-1CEST,M3.5.0,M10.5.0/3"};
    static const char *const gone[] = {"RDMAV_DRIVERS=/tmp/x",
                                       "IBV_DRIVERS=/tmp/x",
                                       "IBV_CONFIG_DIR=/tmp",
                                       "SYSFS_PATH=/tmp",
                                       "LD_LIBRARY_PATH=/tmp",
                                       "HOME=/tmp",
                                       "TMPDIR=/tmp",
                                       "MLX5_SINGLE_THREADED=1",
                                       "G_MESSAGES_DEBUG=all",
                                       "LANG=/tmp/x",
                                       "LC_ALL=../x",
                                       "TZ=/tmp/x",
                                       "TZ=:/tmp/x",
                                       "TZ=:x",
                                       "TZ=../../tmp/x",
                                       "TERM=../x",
                                       "TERMINFO=/tmp",
                                       "TERMCAP=x",
                                       "LANGX=1",
                                       "XLC_ALL=1",
                                       "TZDIR=/tmp",
                                       "NO_COLOR",
                                       ""};

    (void)state;
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        assert_string_equal(left_of(kept[i]), kept[i]);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (left_of(gone[i]))
            fail_msg("%s stays", gone[i]);
}

static void path_is_that_of_the_system(void **state)
{
    (void)state;
    assert_string_equal(left_of("PATH=/tmp:/home/me/bin"), "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
}

static void many_variables_are_cleared_in_order(void **state)
{
    static char a[] = "X=1", b[] = "LANG=C", c[] = "PATH=/tmp", d[] = "Y=1", e[] = "TZ=UTC",
                f[] = "PATH=/tmp";

    (void)state;
    memcpy(variables, (char *[]){a, b, c, d, e, f, NULL}, 7 * sizeof(char *));
    environ = variables;
    environment_clear();
    assert_string_equal(environ[0], "LANG=C");
    assert_string_equal(getenv("PATH"), "/usr/sbin:/usr/bin:/sbin:/bin");
    assert_string_equal(environ[2], "TZ=UTC");
    assert_null(environ[3]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_listed_variables_stay), cmocka_unit_test(path_is_that_of_the_system),
        cmocka_unit_test(many_variables_are_cleared_in_order)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
