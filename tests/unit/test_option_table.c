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

enum colour { RED = 1, GREEN, BLUE };

struct read {
    bool strict, list;
    const char *output;
    int number;
    enum colour colour;
    bool second;
    unsigned short port;
    uint64_t bytes, time;
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
     .details = "- is standard output, unless --strict is given: `a-b` (FILE). Then C:\\ "
                "stays.\n\n'Another' paragraph of link-local FILES, which is so long that the "
                "line of 100 characters ends.",
     CLI_STORES(read, output),
     .group = 2},
    {.letter = '4', .help = "use IPv4", CLI_SETS(read, list)},
    {.kind = CLI_HEADING, .help = "Others"},
    {.name = "with-a-name-of-30-characters",
     .argument = "N",
     .help = "take a number that is explained in a text which does not fit in one line of "
             "79 characters",
     CLI_CALLS(take_number)},
    {.name = "colour",
     .argument = "red|green|blue",
     .help = "set the colour",
     CLI_CHOOSES(read, colour),
     .low = RED},
    {.name = "second", .argument = "no|yes", .help = "b", CLI_CHOOSES(read, second)},
    {.letter = 'p',
     .name = "port",
     .argument = "N",
     .help = "set the port",
     CLI_COUNTS(read, port, 1, 65535)},
    {.name = "bytes", .argument = "N", .help = "d", CLI_MEASURES(read, bytes, 1024, UINT64_MAX)},
    {.name = "time", .argument = "N", .help = "e", CLI_TIMES(read, time)},
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

static void test_stores_values_of_the_members_size(void **state)
{
    (void)state;
    assert_int_equal(
        READ("--colour", "blue", "--second=yes", "-p", "65535", "--bytes", "5G", "--time", "1.5"),
        CLI_READ);
    assert_int_equal(got.colour, BLUE);
    assert_true(got.second);
    assert_int_equal(got.port, 65535);
    assert_true(got.bytes == UINT64_C(5) << 30);
    assert_true(got.time == 1500000000);
    assert_int_equal(READ("--colour", "red", "--second=no"), CLI_READ);
    assert_int_equal(got.colour, RED);
    assert_false(got.second);
}

static void test_refuses_values_out_of_range(void **state)
{
    static const char *const wrong[][2] = {
        {"--colour", "re"},  {"--colour", ""},         {"--colour", "red|green"},
        {"--port", "0"},     {"--port", "65536"},      {"-p", "1x"},
        {"--bytes", "1023"}, {"--bytes", "99999999T"}, {"--time", "0"}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        assert_int_equal(READ((char *)wrong[i][0], (char *)wrong[i][1]), CLI_REFUSED);
        assert_true(got.colour == 0 && got.port == 0 && got.bytes == 0 && got.time == 0);
    }
}

static void test_finds_options_by_name(void **state)
{
    (void)state;
    assert_string_equal(cli_option_named(&program, "port")->help, "set the port");
    assert_int_equal(cli_option_named(&program, "port")->high, 65535);
}

/* Against mdoc(7): \\- is the dash that users type, \\e the backslash, \\& keeps a quote from being
 * a request. */
static void test_manual_is_mdoc(void **state)
{
    static const char begin[] =
        ".Ss Reports\n"
        ".Bl -tag -width Ds\n"
        ".It Fl -strict\n"
        "Count a SHOULD.\n"
        ".It Fl o , -output Ar FILE\n"
        "Write to \\fIFILE\\fR.\n"
        "\\- is standard output, unless \\fB\\-\\-strict\\fR is given: \\fBa\\-b\\fR "
        "(\\fIFILE\\fR).\n"
        "Then C:\\e stays.\n"
        ".Pp\n"
        "\\&'Another' paragraph of link-local FILES, which is so long that the line of 100 "
        "characters ends.\n"
        ".It Fl 4\n"
        "Use IPv4.\n"
        ".El\n"
        ".Ss Others\n"
        ".Bl -tag -width Ds\n";
    GString *text = cli_manual(&program);
    (void)state;
    text->str[MIN(text->len, sizeof begin - 1)] = '\0';
    assert_string_equal(text->str, begin);
    g_string_free(text, TRUE);
    text = cli_manual(&program);
    assert_non_null(strstr(text->str, "\n.It Fl -colour Cm red | green | blue\nSet the colour.\n"));
    assert_true(g_str_has_suffix(text->str, "\nPrint the version.\n.El\n"));
    g_string_free(text, TRUE);
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
        text->str,
        "Usage: tool\n"
        "\n"
        "Reports:\n"
        "      --strict         count a SHOULD\n"
        "  -o, --output FILE    write to FILE\n"
        "  -4                   use IPv4\n"
        "\n"
        "Others:\n"
        "      --with-a-name-of-30-characters N\n"
        "                       take a number that is explained in a text which does not\n"
        "                       fit in one line of 79 characters\n"
        "      --colour red|green|blue\n"
        "                       set the colour\n"
        "      --second no|yes  b\n"
        "  -p, --port N         set the port\n"
        "      --bytes N        d\n"
        "      --time N         e\n"
        "  -h, --help           print this help\n"
        "  -V, --version        print the version\n"
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
        cmocka_unit_test(test_stores_values_of_the_members_size),
        cmocka_unit_test(test_refuses_values_out_of_range),
        cmocka_unit_test(test_finds_options_by_name),
        cmocka_unit_test(test_manual_is_mdoc),
        cmocka_unit_test(test_help_and_version_end_the_reading),
        cmocka_unit_test(test_refuses_unknown_options),
        cmocka_unit_test(test_help_is_aligned_and_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
