/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which responses of the SA fit their request (probe/link/answer.h): each fault has its words, and
 * what the IBA lets the SA change is no fault.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "hca/mcgroup.h"
#include "probe/link/answer.h"
#include "wire/port_records.h"
#include "sa_answer.h"
#include "wire/put.h"

static const uint8_t mgid[16] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, [12] = 0xff, 0xff, 0xff, 0xff},
                     gid[16] = {0xfe, 0x80, [8] = 0x00, 0x02, 0xc9, 0x03, 0, 0, 0x18, 0x96};

/* Bytes that replace those of the record, from an offset on. */
struct patch {
    unsigned at, n;
    uint8_t bytes[16];
};

static struct mc_group known_group(void)
{
    uint8_t record[SA_DATA_SIZE] = {0};
    memcpy(record, mgid, 16);
    sa_answer_group(record);
    return mc_group_read(record);
}

/* Asserts that the response does not fit, with these words. NULL: it fits. */
static void expect(const struct sa_query *q, const struct sa_response *a, const char *words)
{
    char text[240] = "";
    const struct mc_group known = known_group();
    bool fits = answer_fits(q, a, &known, (struct answer_fault){text, sizeof text});
    if (fits != !words || (words && !strstr(text, words)))
        fail_msg("\"%s\" does not say \"%s\"", text, words ? words : "nothing");
}

/* A response with n records of that size. */
static struct sa_response respond(const struct sa_query *q, const uint8_t *records, uint32_t n)
{
    struct sa_response a = {.records = g_byte_array_new()};
    sa_answer_head(q, 0, &a);
    g_byte_array_append(a.records, records, n);
    return a;
}

/* ---- groups */

/* A request about this port and the broadcast group, and its response with a patch. */
static void group_answer(struct sa_query q, struct patch patch, const char *words)
{
    uint8_t record[SA_DATA_SIZE];
    memcpy(record, q.record, SA_DATA_SIZE);
    sa_answer_group(record);
    memcpy(record + patch.at, patch.bytes, patch.n);
    struct sa_response a = respond(&q, record, sizeof record);
    expect(&q, &a, words);
    g_byte_array_unref(a.records);
}

static void records_of_groups(void **state)
{
    static const struct {
        struct patch patch;
        const char *words;
    } all[] = {
        {{0}, NULL},
        {{MCM_MGID + 15, 1, {0xfe}}, "its record is of group ff12:401b:ffff::ffff:fffe, and"},
        {{MCM_MGID, 16, {0}}, "its record is of group ::, and"},
        {{MCM_PORT_GID + 15, 1, {0x97}}, "its record is of port fe80::2:c903:0:1897, and"},
        {{MCM_PORT_GID, 16, {0}}, NULL},         /* hidden without the SM_Key */
        {{MCM_PORT_GID, 2, {0xfe, 0xc0}}, NULL}, /* another prefix of the same port */
        {{MCM_MLID, 2, {0, 0}}, "has MLID 0x0000, and MLIDs are 0xc000 to 0xfffe"},
        {{MCM_MLID, 2, {0xbf, 0xff}}, "has MLID 0xbfff"},
        {{MCM_MLID, 2, {0xff, 0xff}}, "has MLID 0xffff"},
        {{MCM_MLID, 2, {0xff, 0xfe}}, NULL},
        {{MCM_SCOPE_JOIN, 1, {0x20}}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        group_answer(mc_query_member(mgid, gid), all[i].patch, all[i].words);
}

static void joins(void **state)
{
    static const struct {
        uint8_t asked;
        struct patch patch;
        const char *words;
    } all[] = {
        {JOIN_FULL, {0}, NULL},
        {JOIN_FULL,
         {MCM_SCOPE_JOIN, 1, {0x24}},
         "as SendOnlyNonMember, and the request was for FullMember"},
        {JOIN_SEND_ONLY_FULL,
         {MCM_SCOPE_JOIN, 1, {0x21}},
         "as FullMember, and the request was for Send"},
        {JOIN_NON, {MCM_SCOPE_JOIN, 1, {0x23}}, NULL}, /* it is a FullMember already */
        {JOIN_FULL, {MCM_SCOPE_JOIN, 1, {0x20}}, NULL},
        {JOIN_FULL,
         {MCM_QKEY, 4, {0x80, 0, 0, 0}},
         "returns Q_Key 0x80000000, but the group's record has 0x00000b1b"},
        {JOIN_FULL,
         {MCM_MTU, 1, {0x81}},
         "MTU code 1 (256 bytes), but the group's record has 4 (2048)"},
        {JOIN_FULL, {MCM_MTU, 1, {0x04}}, NULL}, /* another selector */
        {JOIN_FULL, {MCM_PKEY, 2, {0x80, 0x01}}, "P_Key 0x8001, but the group's record has 0xffff"},
        {JOIN_FULL, {MCM_PKEY, 2, {0x7f, 0xff}}, NULL}, /* the limited form */
        {JOIN_FULL, {MCM_MLID, 2, {0xc0, 0x05}}, "MLID 0xc005, but the group's record has 0xc000"},
        {JOIN_FULL, {MCM_SL_FLOW_HOP, 1, {0x10}}, "SL 1, but the group's record has 0"},
        {JOIN_FULL, {MCM_SL_FLOW_HOP + 3, 1, {0xff}}, NULL},
        {JOIN_FULL, {MCM_RATE, 2, {0x82, 0x92}}, NULL}, /* and life time */
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        group_answer(mc_query_state(SA_SET, mgid, gid, all[i].asked), all[i].patch, all[i].words);
}

/* A request that creates a group gives its attributes. */
static void creations(void **state)
{
    struct sa_query q = mc_query_state(SA_SET, mgid, gid, JOIN_FULL);
    (void)state;
    q.record[MCM_MGID + 15] = 1;
    sa_answer_group(q.record);
    q.mask |= MCM_HAS_QKEY;
    group_answer(q, (struct patch){0}, NULL);
    group_answer(q, (struct patch){MCM_MLID, 2, {0xc0, 0x05}}, NULL);
    group_answer(q, (struct patch){MCM_QKEY, 1, {0x80}}, "Q_Key 0x80000b1b, but the request has");
    group_answer(q, (struct patch){MCM_MTU, 1, {0x85}}, "but the request has 4 (2048)");
}

/* The record of a Delete is not compared. */
static void leaves(void **state)
{
    struct sa_query q = mc_query_state(SA_DELETE, mgid, gid, JOIN_FULL);
    (void)state;
    group_answer(q, (struct patch){MCM_SCOPE_JOIN, 1, {0x20}}, NULL);
    group_answer(q, (struct patch){MCM_MLID, 2, {0, 0}}, NULL);
    group_answer(q, (struct patch){MCM_MGID, 16, {0}}, NULL);
    group_answer(q, (struct patch){MCM_MGID + 15, 1, {0}}, NULL);
}

/* ---- the response */

static void heads(void **state)
{
    struct sa_query q = mc_query_member(mgid, gid);
    uint8_t record[SA_DATA_SIZE];
    (void)state;
    memcpy(record, q.record, SA_DATA_SIZE);
    sa_answer_group(record);
    struct sa_response a = respond(&q, record, MCM_SIZE);
    expect(&q, &a, NULL);
    a.mad[MAD_METHOD] = SA_DELETE_RESP;
    expect(&q, &a, "its method is 0x95, and 0x81 answers the request");
    sa_answer_head(&q, 0, &a);
    put16(a.mad + MAD_ATTRIBUTE, SA_PATH_RECORD);
    expect(&q, &a, "its attribute is 0x0035, and 0x0038 was requested");
    sa_answer_head(&q, 0, &a);
    g_byte_array_set_size(a.records, MCM_SIZE - 1);
    expect(&q, &a, "it ends inside the record");
    g_byte_array_unref(a.records);
}

/* Two SMInfoRecords of 32 bytes, of which 7 fill up: LIDs 1 and 2. */
static void tables(void **state)
{
    static const struct {
        uint32_t length, stride;
        uint8_t first_lid;
        const char *words;
    } all[] = {{64, 32, 1, NULL},
               {0, 32, 1, NULL},
               {0, 0, 1, NULL},
               {57, 32, 1, NULL}, /* the last one not filled up */
               {56, 32, 1, "its table ends inside a record"},
               {20, 32, 1, "its table ends inside a record"},
               {64, 0, 1, "its AttributeOffset is 0 bytes, and a record has 25"},
               {64, 24, 1, "its AttributeOffset is 24 bytes"},
               {64, 32, 0, "a record has LID 0x0000"}};
    const struct sa_query q = {.method = SA_GET_TABLE, .attribute = SA_SM_INFO_RECORD};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        uint8_t records[64] = {[1] = all[i].first_lid, [33] = 2};
        struct sa_response a = respond(&q, records, all[i].length);
        a.stride = all[i].stride;
        expect(&q, &a, all[i].words);
        g_byte_array_unref(a.records);
    }
}

/* Of the LIDs of a port, the record has the first: with LMC 7 they differ in 7 bits. */
static void records_of_ports(void **state)
{
    static const struct {
        uint16_t asked, found;
        const char *words;
    } all[] = {{5, 5, NULL},
               {0x17f, 0x100, NULL},
               {5, 0x100, "its record is of LID 256, and the request was about LID 5"},
               {5, 0xc000, "a record has LID 0xc000, which no port has"}};
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        struct sa_query q = {
            .method = SA_GET, .attribute = SA_NODE_RECORD, .mask = PORT_RECORD_HAS_LID};
        uint8_t record[SA_DATA_SIZE] = {0};
        put16(q.record, all[i].asked);
        put16(record, all[i].found);
        struct sa_response a = respond(&q, record, sizeof record);
        expect(&q, &a, all[i].words);
        g_byte_array_unref(a.records);
    }
}

static void paths(void **state)
{
    struct sa_query q = {
        .method = SA_GET, .attribute = SA_PATH_RECORD, .mask = PATH_HAS_DGID | PATH_HAS_SGID};
    (void)state;
    memcpy(q.record + PATH_DGID, gid, 16);
    memcpy(q.record + PATH_SGID, gid, 16);
    struct sa_response a = respond(&q, q.record, SA_DATA_SIZE);
    expect(&q, &a, NULL);
    a.records->data[PATH_DGID] = 0xfd; /* another prefix */
    expect(&q, &a, NULL);
    a.records->data[PATH_DGID + 15] ^= 1;
    expect(&q, &a, "its record is of port fd80::2:c903:0:1897");
    g_byte_array_unref(a.records);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_groups),
        cmocka_unit_test(joins),
        cmocka_unit_test(creations),
        cmocka_unit_test(leaves),
        cmocka_unit_test(heads),
        cmocka_unit_test(tables),
        cmocka_unit_test(records_of_ports),
        cmocka_unit_test(paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
