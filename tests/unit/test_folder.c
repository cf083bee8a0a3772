/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder for locks is rejected if another user could have created files in it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/folder.h"
#include "tests/unit/unit.h"

enum { OTHER = 65534 };

static char base[] = "/tmp/test_folder.XXXXXX", path[64];

static int begin(void **state)
{
    (void)state;
    strcpy(base + strlen(base) - 6, "XXXXXX");
    if (!mkdtemp(base))
        return -1;
    snprintf(path, sizeof(path), "%s/locks", base);
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (unlink(path) != 0)
        rmdir(path);
    return rmdir(base);
}

static void expect_refused(const char *text)
{
    GError *error = NULL;

    assert_int_equal(folder_open_private(path, &error), -1);
    assert_non_null(error);
    if (!strstr(error->message, text))
        fail_msg("'%s' is not in '%s'", text, error->message);
    g_clear_error(&error);
}

static void expect_opened(mode_t mode)
{
    GError *error = NULL;
    int fd = folder_open_private(path, &error);
    struct stat st;

    assert_null(error);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(st.st_mode & 07777, mode);
    close(fd);
}

static void folder_is_created_for_its_user_only(void **state)
{
    mode_t before = umask(0);

    (void)state;
    expect_opened(0700);
    expect_opened(0700);
    umask(before);
}

static void folder_that_others_may_read_is_accepted(void **state)
{
    (void)state;
    mkdir(path, 0755);
    chmod(path, 0755);
    expect_opened(0755);
}

static void folder_that_others_may_write_to_is_refused(void **state)
{
    static const mode_t modes[] = {0777, 01777, 0770, 0702};

    (void)state;
    mkdir(path, 0700);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        chmod(path, modes[i]);
        expect_refused("other users may write to it");
    }
}

static void a_link_or_a_file_is_refused(void **state)
{
    (void)state;
    assert_int_equal(symlink(".", path), 0);
    expect_refused("is a link, or no folder");
    unlink(path);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    expect_refused("is a link, or no folder");
}

static void folder_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    mkdir(path, 0755);
    assert_int_equal(chown(path, OTHER, OTHER), 0);
    expect_refused("belongs to another user (uid 65534)");
}

static void failure_to_create_is_reported(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/none/locks", base);
    expect_refused("cannot be created: No such file");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folder_is_created_for_its_user_only, begin, end),
        cmocka_unit_test_setup_teardown(folder_that_others_may_read_is_accepted, begin, end),
        cmocka_unit_test_setup_teardown(folder_that_others_may_write_to_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_link_or_a_file_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(folder_of_another_user_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(failure_to_create_is_reported, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
