/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of known deviations: the built-in lists, the user's own files, and errors in a file. */
#include "tests/unit/unit.h"

#include <glib/gstdio.h>

#include "rules/deviation.h"

#define LINUX_ID "0x1000000000000023"
#define RFC_ID   "0x0100000000000023" /* RFC 4755 §3.5 */

/*
 * Returns the reason if the failure is a known deviation. For rules where the kind of message does
 * not matter; of: with this Service-ID.
 */
static const char *reason_of_connection(const struct deviations *d, enum rule_number rule,
                                        const char *actual, const char *of)
{
    return deviations_reason(d, &(struct failure){rule, "", actual, "", of, "", "", "", ""});
}

static const char *reason_of(const struct deviations *d, enum rule_number rule, const char *actual)
{
    return reason_of_connection(d, rule, actual, "");
}

static void deviations_of_linux_match_linux(void **state)
{
    (void)state;
    GError *error = NULL;
    struct deviations *d = deviations_open("linux", &error);
    assert_non_null(d);
    assert_non_null(reason_of(d, R_RFC4755_3_5_SERVICE_ID, "0x1000000000000023"));
    assert_non_null(reason_of(d, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1b"));
    assert_non_null(reason_of(d, R_RFC4391_9_1_1_RESERVED_FLAGS, "0x20"));
    assert_non_null(reason_of(d, R_RFC4755_3_1_FLAGS, "0xa0"));
    deviations_free(d);
}

/* Of a number, the cause and the value decide, not the text. */
static void deviation_of_a_number(void **state)
{
    struct deviations *d = deviations_open("linux", NULL);
    struct failure f = {.rule = R_RFC4391_10_GROUP_OTHER_ATTRIBUTES,
                        .expected = "",
                        .actual = "another text",
                        .message = "",
                        .service_id = "",
                        .chaddr = "",
                        .client_id = "",
                        .cause = "packet-life-time-differs",
                        .value = "0"};
    (void)state;
    assert_non_null(deviations_reason(d, &f));
    f.value = "1";
    assert_null(deviations_reason(d, &f));
    f.value = "0";
    f.cause = "rate-differs";
    assert_null(deviations_reason(d, &f));
    f.cause = f.value = NULL;
    f.actual = "packet life time 0x0";
    assert_null(deviations_reason(d, &f));
    deviations_free(d);
}

/* What other implementations may do too is known only of connections with Linux's Service-ID. */
static void deviations_of_connections_need_the_service_id_of_linux(void **state)
{
    static const struct {
        enum rule_number rule;
        const char *actual;
    } of_linux[] = {
        {R_RFC4755_3_3_SIMULTANEOUS, "REP"},
        {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, "no private data in the REJ"},
        {R_RFC4755_6_PRIVATE_DATA, "no private data in the RTU"},
        {R_RFC4755_7_RESOLUTION_OVER_UD, "NA over RC"},
    };
    static const char *const others[] = {RFC_ID, "", "0x1000000100000023", "0x0000000000000023"};
    struct deviations *d = deviations_open("linux", NULL);
    (void)state;
    for (size_t i = 0; i < sizeof of_linux / sizeof *of_linux; i++) {
        struct failure f = {of_linux[i].rule, "", of_linux[i].actual, "", LINUX_ID, "", "", "", ""};
        assert_non_null(deviations_reason(d, &f));
        assert_null(deviations_undecided(d, &f));
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            f.service_id = others[k];
            assert_null(deviations_reason(d, &f));
            assert_null(deviations_undecided(d, &f));
        }
        f.service_id = NULL;
        assert_null(deviations_reason(d, &f));
        assert_non_null(deviations_undecided(d, &f));
        assert_null(deviations_undecided(NULL, &f));
        f.actual = "no UD QPN";
        assert_null(deviations_undecided(d, &f));
    }
    deviations_free(d);
}

/* Another violation of the rules that Linux and OpenSM violate is not a known deviation. */
static void deviations_of_linux_do_not_match_others(void **state)
{
    static const struct {
        enum rule_number rule;
        const char *actual;
    } others[] = {
        {R_RFC4755_3_5_SERVICE_ID, "0x1000000100000023"}, /* a Reserved byte is not 0 */
        {R_RFC4755_3_5_SERVICE_ID, "0x0200000000000023"},
        {R_RFC4755_3_5_SERVICE_ID, "0x0000000000000023"},
        {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, "no private data in the REP"},
        {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, "no private data in the REQ"},
        {R_RFC4755_3_2_UD_QPN_IN_PRIVATE_DATA, "no UD QPN"},
        {R_RFC4755_6_PRIVATE_DATA, "no private data"},
        {R_RFC4755_6_PRIVATE_DATA, "no Receive MTU"},
        {R_RFC4755_3_3_SIMULTANEOUS, "REJ, reason 28"},
        {R_RFC4755_7_RESOLUTION_OVER_UD, "NA over UC"},
        {R_RFC4755_7_RESOLUTION_OVER_UD, "ARP reply over RC"},
        {R_RFC4391_4_1_QKEY_CONTROLLED, "0x00000001"},
        {R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1c"},
        {R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, "packet life time 0x1"},
        {R_RFC4391_10_GROUP_OTHER_ATTRIBUTES, "rate 0x0"},
        {R_RFC4391_10_SUBSCRIBE_TRAPS,
         "no subscription of this send-only non-member (join component mask 0x173f7)"},
        {R_RFC4391_10_SUBSCRIBE_TRAPS,
         "no subscription of this send-only full member (join component mask 0x17ff7)"},
        {R_RFC4391_10_SUBSCRIBE_TRAPS, "only one subscription (join component mask 0x173f7)"},
        {R_RFC4391_6_RESERVED_ZERO, "0x0001"},
        {R_RFC4391_9_1_1_RESERVED_FLAGS, "0x10"},
        {R_RFC4391_9_1_1_RESERVED_FLAGS, "0x30"},
        {R_RFC4755_3_1_FLAGS, "0x60"}, /* MLNX_OFED has no unreliable connected mode */
        {R_RFC4755_3_1_FLAGS, "0xe0"},
        {R_RFC4755_3_1_FLAGS, "0x90"},
        {R_RFC4390_2_1_HLEN, "6"}, /* nothing in the message names a port */
        {R_RFC4390_2_1_HLEN, "8"},
        {R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, "type 32, 9 bytes"},
    };
    struct deviations *d = deviations_open("linux", NULL);
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (reason_of_connection(d, others[i].rule, others[i].actual, LINUX_ID))
            fail_msg("%s: %s is excused", rules[others[i].rule].id, others[i].actual);
    deviations_free(d);
}

/* iPXE and NetworkManager are recognised by values that are made of the sender's GUID. */
static void deviations_of_dhcp_clients_need_the_guid_of_the_sender(void **state)
{
    static const struct {
        enum rule_number rule;
        const char *actual, *chaddr, *client_id;
    } known[] = {
        {R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, "type 32, 9 bytes", "zero", "GUID"},
        {R_RFC4390_2_1_CLIENT_IDENTIFIER_FORMAT, "type 1, 7 bytes", "MAC", "MAC"},
        {R_RFC4390_2_1_HTYPE, "1", "MAC", "MAC"},
        {R_RFC4390_2_1_HLEN, "6", "MAC", "DUID"},
        {R_RFC4390_2_1_HLEN, "8", "GUID", "none"},
    };
    struct deviations *d = deviations_open("linux", NULL);
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct failure f = {known[i].rule,
                            "",
                            known[i].actual,
                            "",
                            "",
                            known[i].chaddr,
                            known[i].client_id,
                            "",
                            ""};
        assert_non_null(deviations_reason(d, &f));
        assert_null(deviations_undecided(d, &f));
        f.chaddr = f.client_id = "other";
        assert_null(deviations_reason(d, &f));
        assert_null(deviations_undecided(d, &f));
        f.chaddr = f.client_id = NULL;
        assert_null(deviations_reason(d, &f));
        assert_non_null(deviations_undecided(d, &f));
        f.actual = "7"; /* whatever the GUID is */
        assert_null(deviations_undecided(d, &f));
    }
    deviations_free(d);
}

static void the_ethernet_option_is_known_in_router_solicitations_only(void **state)
{
    struct failure f = {R_RFC4391_9_3_ND_OPTION_LENGTH,
                        "3",
                        "1",
                        "RS with 6 bytes of the address",
                        "",
                        "",
                        "",
                        "",
                        ""};
    struct deviations *d = deviations_open("linux", NULL);
    (void)state;
    assert_non_null(deviations_reason(d, &f));
    f.message = "RS"; /* with other bytes */
    assert_null(deviations_reason(d, &f));
    f.message = "RS with 6 bytes of the address";
    f.actual = "0x04";
    assert_null(deviations_reason(d, &f));
    f = (struct failure){R_RFC4391_9_3_ND_OPTION_LENGTH, "3", "1", "NA", "", "", "", "", ""};
    assert_null(deviations_reason(d, &f));
    f.message = "";
    assert_null(deviations_reason(d, &f));
    deviations_free(d);
}

static void a_reason_names_the_implementation(void **state)
{
    struct deviations *d = deviations_open("linux", NULL);
    const char *reason = reason_of(d, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1b");
    (void)state;
    assert_string_equal(reason, "known deviation of OpenSM: the default Q_Key of IPoIB groups");
    char *name = deviation_implementation(reason);
    assert_string_equal(name, "OpenSM");
    assert_null(deviation_implementation("an old switch"));
    g_free(name);
    deviations_free(d);
}

static void no_deviation_matches_with_none(void **state)
{
    (void)state;
    struct deviations *d = deviations_open("none", NULL);
    assert_non_null(d);
    for (int i = 0; i < RULE_COUNT; i++)
        assert_null(reason_of(d, (enum rule_number)i, "0x00000b1b"));
    deviations_free(d);
    assert_null(reason_of(NULL, R_RFC4391_13_QKEY_CONTROLLED, "0x00000b1b"));
}

/* Opens a file with this text. Returns the error, or "" if there is none. */
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

static void deviations_of_a_user_file(void **state)
{
    (void)state;
    struct deviations *d;
    char *said = opened(
        "# ours\n[rfc4391.6.reserved-zero]\nactual=0x00?1\nreason=an old switch\nsource=seen\n"
        "[rfc4391.6.reserved-zero another]\nactual=0xffff\nreason=a tool\n",
        &d);
    assert_string_equal(said, "");
    assert_string_equal(reason_of(d, R_RFC4391_6_RESERVED_ZERO, "0x0011"), "an old switch");
    assert_string_equal(reason_of(d, R_RFC4391_6_RESERVED_ZERO, "0xffff"), "a tool");
    assert_null(reason_of(d, R_RFC4391_6_RESERVED_ZERO, "0x0110"));
    deviations_free(d);
    g_free(said);
}

static void all_patterns_have_to_match(void **state)
{
    struct deviations *d;
    struct failure f = {R_RFC4391_6_RESERVED_ZERO, "0x0000", "0x0001", "NS", "", "", "", "", ""};
    char *said = opened("[rfc4391.6.reserved-zero]\nreason=x\nimplementation=a stack\n"
                        "actual=0x0001\nexpected=0x00*\nmessage=N?\n",
                        &d);
    (void)state;
    assert_string_equal(said, "");
    assert_string_equal(deviations_reason(d, &f), "known deviation of a stack: x");
    f.expected = "0x1000";
    assert_null(deviations_reason(d, &f));
    f.expected = "0x0000";
    f.message = "RS";
    assert_null(deviations_reason(d, &f));
    deviations_free(d);
    g_free(said);
}

static void errors_of_a_file_are_reported(void **state)
{
    (void)state;
    says("[rfc4391.6.reserved]\nreason=x\n", "no such rule");
    says("[rfc4391.6.reserved-zero]\nactual=0x0001\n", "reason");
    says("[rfc4391.6.reserved-zero]\nreason=x\nactuall=0x0001\n", "unknown key 'actuall'");
    says("[rfc4391.6.reserved-zero]\nreason=x\nimplementation=a: b\n", "has a colon");
    says("[rfc4391.6.reserved-zero]\nreason=x\nimplementation=\n", "is empty");
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
        cmocka_unit_test(deviations_of_linux_match_linux),
        cmocka_unit_test(deviation_of_a_number),
        cmocka_unit_test(deviations_of_connections_need_the_service_id_of_linux),
        cmocka_unit_test(deviations_of_dhcp_clients_need_the_guid_of_the_sender),
        cmocka_unit_test(deviations_of_linux_do_not_match_others),
        cmocka_unit_test(the_ethernet_option_is_known_in_router_solicitations_only),
        cmocka_unit_test(a_reason_names_the_implementation),
        cmocka_unit_test(no_deviation_matches_with_none),
        cmocka_unit_test(all_patterns_have_to_match),
        cmocka_unit_test(deviations_of_a_user_file),
        cmocka_unit_test(errors_of_a_file_are_reported),
    };
    return cmocka_run_group_tests_name("deviation", tests, NULL, NULL);
}
