/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/cli/option_table.h: reading a command line and printing --help from one table. */
#include "cli/option_table.h"

#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct read {
    bool strict, list;
    const char *output;
    int number;
};

static bool take_number(void *options, const char *value)
{
    ((struct read *)options)->number = atoi(value);
    return strcmp(value, "bad") != 0;
}

static const struct cli_option table[] = {
    {.kind = CLI_HEADING, .help = "Reports"},
    {.name = "strict", .help = "count a SHOULD", CLI_SETS(read, strict), .group = 1},
    {.letter = 'o',
     .name = "output",
     .argument = "FILE",
     .help = "write to FILE",
     CLI_STORES(read, output),
     .group = 2},
    {.letter = '4', .help = "use IPv4", CLI_SETS(read, list)},
    {.kind = CLI_HEADING, .help = "Others"},
    {.name = "with-a-name-of-30-characters",
     .argument = "N",
     .help = "take a number that is explained in a text which does not fit in one line of "
             "79 characters",
     CLI_CALLS(take_number)},
    {.letter = 'h', .name = "help", .help = "print this help", .kind = CLI_HELP},
    {.letter = 'V', .name = "version", .help = "print the version", .kind = CLI_VERSION},
    {.kind = CLI_END},
};
static const struct cli_program program = {"tool", "Usage: tool\n\n", table, "\nThe end.\n"};

#define READ(...) read_words((char *[]){"tool", __VA_ARGS__, NULL})

static struct read got;
static unsigned groups;

static enum cli_result read_words(char **words)
{
    int n = 0;
    while (words[n])
        n++;
    got = (struct read){0};
    groups = 0;
    return cli_read(&program, n, words, &got, &groups);
}

static void test_reads_both_forms(void **state)
{
    (void)state;
    assert_int_equal(READ("--strict", "-o", "a", "file"), CLI_READ);
    assert_true(got.strict);
    assert_string_equal(got.output, "a");
    assert_int_equal(optind, 4);
    assert_int_equal(groups, 3);
    assert_int_equal(READ("--output=b"), CLI_READ);
    assert_string_equal(got.output, "b");
    assert_false(got.strict);
    assert_int_equal(groups, 2);
}

static void test_reads_letters_without_a_name_and_in_one_argument(void **state)
{
    (void)state;
    assert_int_equal(READ("-4o", "a"), CLI_READ);
    assert_true(groups == (CLI_NO_GROUP | 2));
    assert_true(got.list);
    assert_string_equal(got.output, "a");
}

static void test_calls_the_function_of_an_option(void **state)
{
    (void)state;
    assert_int_equal(READ("--with-a-name-of-30-characters", "17"), CLI_READ);
    assert_int_equal(got.number, 17);
    assert_int_equal(READ("--with-a-name-of-30-characters", "bad"), CLI_REFUSED);
}

static void test_help_and_version_end_the_reading(void **state)
{
    (void)state;
    assert_int_equal(READ("-h", "--nonsense"), CLI_SHOW_HELP);
    assert_int_equal(READ("--version"), CLI_SHOW_VERSION);
}

static void test_refuses_unknown_options(void **state)
{
    (void)state;
    assert_int_equal(READ("--nonsense"), CLI_REFUSED);
    assert_int_equal(READ("-x"), CLI_REFUSED);
    assert_int_equal(READ("-o"), CLI_REFUSED);
    assert_int_equal(READ("--strict=1"), CLI_REFUSED);
}

static void test_help_is_aligned_and_wrapped(void **state)
{
    (void)state;
    GString *text = cli_help(&program);
    assert_string_equal(
        text->str, "Usage: tool\n"
                   "\n"
                   "Reports:\n"
                   "      --strict       count a SHOULD\n"
                   "  -o, --output FILE  write to FILE\n"
                   "  -4                 use IPv4\n"
                   "\n"
                   "Others:\n"
                   "      --with-a-name-of-30-characters N\n"
                   "                     take a number that is explained in a text which does not\n"
                   "                     fit in one line of 79 characters\n"
                   "  -h, --help         print this help\n"
                   "  -V, --version      print the version\n"
                   "\n"
                   "The end.\n");
    g_string_free(text, TRUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_both_forms),
        cmocka_unit_test(test_reads_letters_without_a_name_and_in_one_argument),
        cmocka_unit_test(test_calls_the_function_of_an_option),
        cmocka_unit_test(test_help_and_version_end_the_reading),
        cmocka_unit_test(test_refuses_unknown_options),
        cmocka_unit_test(test_help_is_aligned_and_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
