/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of known deviations: the named ones, files of a user's own, and what is wrong with a file.
 */
#include "tests/unit/unit.h"

#include <glib/gstdio.h>

#include "rules/deviation.h"

static void linux_knows_what_linux_does(void **state)
{
    (void)state;
    GError *error = NULL;
    struct deviations *d = deviations_open("linux", &error);
    assert_non_null(d);
    assert_non_null(deviations_reason(d, R_RFC4755_3_5_SERVICE_ID, "0x1000000000000023"));
    /* a Reserved octet is not 0 */
    assert_null(deviations_reason(d, R_RFC4755_3_5_SERVICE_ID, "0x1000000100000023"));
    assert_null(deviations_reason(d, R_RFC4755_3_5_SERVICE_ID, "0x0200000000000023"));
    assert_non_null(deviations_reason(d, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1b"));
    assert_null(deviations_reason(d, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1c"));
    assert_non_null(deviations_reason(d, R_RFC4391_10_SUBSCRIBE_TRAPS, "whatever it is"));
    assert_null(deviations_reason(d, R_RFC4391_6_RESERVED_ZERO, "0x0001"));
    deviations_free(d);
}

static void none_excuses_nothing(void **state)
{
    (void)state;
    struct deviations *d = deviations_open("none", NULL);
    assert_non_null(d);
    for (int i = 0; i < RULE_COUNT; i++)
        assert_null(deviations_reason(d, (enum rule_number)i, "0x00000b1b"));
    deviations_free(d);
    assert_null(deviations_reason(NULL, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1b"));
}

/* What opening a file with this text says: "" for nothing wrong. */
static char *opened(const char *text, struct deviations **d)
{
    char *path = NULL;
    GError *error = NULL;
    int fd = g_file_open_tmp("deviations-XXXXXX", &path, NULL);
    assert_true(fd >= 0);
    g_close(fd, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    *d = deviations_open(path, &error);
    assert_true((*d == NULL) == (error != NULL));
    g_remove(path);
    g_free(path);
    char *said = g_strdup(error ? error->message : "");
    g_clear_error(&error);
    return said;
}

static void says(const char *text, const char *part)
{
    struct deviations *d;
    char *said = opened(text, &d);
    if (!strstr(said, part))
        fail_msg("'%s' does not say '%s'", said, part);
    deviations_free(d);
    g_free(said);
}

static void a_file_of_ones_own(void **state)
{
    (void)state;
    struct deviations *d;
    char *said = opened(
        "# ours\n[rfc4391.6.reserved-zero]\nactual=0x00?1\nreason=an old switch\nsource=seen\n"
        "[rfc4391.6.reserved-zero another]\nactual=0xffff\nreason=a tool\n",
        &d);
    assert_string_equal(said, "");
    assert_string_equal(deviations_reason(d, R_RFC4391_6_RESERVED_ZERO, "0x0011"), "an old switch");
    assert_string_equal(deviations_reason(d, R_RFC4391_6_RESERVED_ZERO, "0xffff"), "a tool");
    assert_null(deviations_reason(d, R_RFC4391_6_RESERVED_ZERO, "0x0110"));
    deviations_free(d);
    g_free(said);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    says("[rfc4391.6.reserved]\nreason=x\n", "no such rule");
    says("[rfc4391.6.reserved-zero]\nactual=0x0001\n", "reason");
    says("[rfc4391.6.reserved-zero]\nreason=x\nactuall=0x0001\n", "unknown key 'actuall'");
    says("reason=x\n", "group");
    GError *error = NULL;
    assert_null(deviations_open("linus", &error));
    assert_non_null(strstr(error->message, "neither a list of known deviations"));
    g_clear_error(&error);
    assert_null(deviations_open("/no/such/file", &error));
    assert_non_null(strstr(error->message, "/no/such/file"));
    g_clear_error(&error);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(linux_knows_what_linux_does),
        cmocka_unit_test(none_excuses_nothing),
        cmocka_unit_test(a_file_of_ones_own),
        cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests_name("deviation", tests, NULL, NULL);
}
