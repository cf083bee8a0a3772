/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of a report, as report_json.c and check/merge_json.c write them. */
#include "report/merge_members.h"

#include <stdbool.h>
#include <string.h>

#include "cli/plain.h"

enum shape { SCALAR, SCALARS, OBJECT, OBJECTS };

struct json_member {
    const char *name; /* NULL: end of the list */
    enum shape shape;
    const struct json_member *of; /* members of the object, or of each object in the list */
};

static const struct json_member evidence[] = {{"check", SCALAR, NULL},
                                              {"sent", SCALAR, NULL},
                                              {"received", SCALAR, NULL},
                                              {NULL, SCALAR, NULL}};

static const struct json_member cases[] = {
    {"subject", SCALAR, NULL},      {"expected", SCALAR, NULL},
    {"actual", SCALAR, NULL},       {"reason", SCALAR, NULL},
    {"count", SCALAR, NULL},        {"frames", SCALARS, NULL},
    {"evidence", OBJECT, evidence}, {"senders", SCALARS, NULL},
    {"other_frame", SCALAR, NULL},  {"flow_frame", SCALAR, NULL},
    {"proved_frame", SCALAR, NULL}, {"value", SCALAR, NULL},
    {"cause", SCALAR, NULL},        {NULL, SCALAR, NULL}};

static const struct json_member results[] = {{"capture", SCALAR, NULL},
                                             {"target", SCALAR, NULL},
                                             {"id", SCALAR, NULL},
                                             {"level", SCALAR, NULL},
                                             {"document", SCALAR, NULL},
                                             {"section", SCALAR, NULL},
                                             {"outcome", SCALAR, NULL},
                                             {"count", SCALAR, NULL},
                                             {"violation", SCALAR, NULL},
                                             {"subject", SCALAR, NULL},
                                             {"expected", SCALAR, NULL},
                                             {"actual", SCALAR, NULL},
                                             {"reason", SCALAR, NULL},
                                             {"frames", SCALARS, NULL},
                                             {"evidence", OBJECTS, evidence},
                                             {"cases", OBJECTS, cases},
                                             {"further_cases", SCALAR, NULL},
                                             {"text", SCALAR, NULL},
                                             {"help", SCALAR, NULL},
                                             {"advice", SCALAR, NULL},
                                             {"node", SCALAR, NULL},
                                             {"file", SCALAR, NULL},
                                             {NULL, SCALAR, NULL}};

static const struct json_member counts[] = {
    {"must_violated", SCALAR, NULL}, {"should_violated", SCALAR, NULL}, {"deviation", SCALAR, NULL},
    {"inconclusive", SCALAR, NULL},  {"noted", SCALAR, NULL},           {"passed", SCALAR, NULL},
    {"skipped", SCALAR, NULL},       {"suspected", SCALAR, NULL},       {"judged", SCALAR, NULL},
    {"applicable", SCALAR, NULL},    {"known", SCALAR, NULL},           {NULL, SCALAR, NULL}};

static const struct json_member undone[] = {{"code", SCALAR, NULL},    {"stage", SCALAR, NULL},
                                            {"table", SCALAR, NULL},   {"frame", SCALAR, NULL},
                                            {"refused", SCALAR, NULL}, {NULL, SCALAR, NULL}};

static const struct json_member unseen[] = {
    {"code", SCALAR, NULL}, {"count", SCALAR, NULL}, {"frame", SCALAR, NULL}, {NULL, SCALAR, NULL}};

static const struct json_member events[] = {
    {"name", SCALAR, NULL},       {"title", SCALAR, NULL},       {"who", SCALAR, NULL},
    {"what", SCALAR, NULL},       {"count", SCALAR, NULL},       {"frame", SCALAR, NULL},
    {"last_frame", SCALAR, NULL}, {"cause_frame", SCALAR, NULL}, {"time_ns", SCALAR, NULL},
    {NULL, SCALAR, NULL}};

static const struct json_member requests[] = {
    {"sent", SCALAR, NULL},  {"first_try", SCALAR, NULL}, {"late", SCALAR, NULL},
    {"never", SCALAR, NULL}, {"packets", SCALAR, NULL},   {"lost", SCALAR, NULL},
    {NULL, SCALAR, NULL}};

static const struct json_member times[] = {{"count", SCALAR, NULL},
                                           {"min_us", SCALAR, NULL},
                                           {"median_us", SCALAR, NULL},
                                           {"p99_us", SCALAR, NULL},
                                           {NULL, SCALAR, NULL}};

static const struct json_member sa[] = {{"unanswered", SCALAR, NULL},
                                        {"busy", SCALAR, NULL},
                                        {"times", OBJECT, times},
                                        {NULL, SCALAR, NULL}};

static const struct json_member hosts[] = {
    {"address", SCALAR, NULL},    {"name", SCALAR, NULL},      {"gid", SCALAR, NULL},
    {"lid", SCALAR, NULL},        {"status", SCALAR, NULL},    {"cause", SCALAR, NULL},
    {"switch_lid", SCALAR, NULL}, {"median_us", SCALAR, NULL}, {NULL, SCALAR, NULL}};

static const struct json_member changes[] = {{"change", SCALAR, NULL},
                                             {"address", SCALAR, NULL},
                                             {"name", SCALAR, NULL},
                                             {"what", SCALAR, NULL},
                                             {NULL, SCALAR, NULL}};

static const struct json_member baseline[] = {{"report", SCALAR, NULL},
                                              {"complete", SCALAR, NULL},
                                              {"changes", OBJECTS, changes},
                                              {NULL, SCALAR, NULL}};

static const struct json_member entries[] = {
    {"name", SCALAR, NULL},         {"verdict", SCALAR, NULL},   {"frames", SCALAR, NULL},
    {"ipoib_frames", SCALAR, NULL}, {"packets", SCALAR, NULL},   {"answers", SCALAR, NULL},
    {"rules", OBJECT, counts},      {"error", SCALAR, NULL},     {"node", SCALAR, NULL},
    {"file", SCALAR, NULL},         {"tool", SCALAR, NULL},      {"strict", SCALAR, NULL},
    {"deviations", SCALAR, NULL},   {"only", SCALARS, NULL},     {"undone", OBJECTS, undone},
    {"requests", OBJECT, requests}, {"unseen", OBJECTS, unseen}, {"min_judged", SCALAR, NULL},
    {"events", OBJECTS, events},    {"fail_on", SCALAR, NULL},   {"over_ud", OBJECT, times},
    {"over_rc", OBJECT, times},     {"sa", OBJECT, sa},          {"hosts", OBJECTS, hosts},
    {"baseline", OBJECT, baseline}, {NULL, SCALAR, NULL}};

static const struct json_member required[] = {{"selector", SCALAR, NULL}, {"judged", SCALAR, NULL},
                                              {"why", SCALAR, NULL},      {"node", SCALAR, NULL},
                                              {"file", SCALAR, NULL},     {NULL, SCALAR, NULL}};

static const struct json_member summary[] = {
    {"reports", SCALAR, NULL},       {"strict", SCALAR, NULL},
    {"deviations", SCALAR, NULL},    {"only", SCALARS, NULL},
    {"captures", OBJECTS, entries},  {"targets", OBJECTS, entries},
    {"required", OBJECTS, required}, {"min_judged", SCALAR, NULL},
    {"fail_on", SCALAR, NULL},       {NULL, SCALAR, NULL}};

static const struct json_member whole[] = {
    {"tool", SCALAR, NULL},    {"version", SCALAR, NULL},     {"node", SCALAR, NULL},
    {"subject", SCALAR, NULL}, {"results", OBJECTS, results}, {"summary", OBJECT, summary},
    {NULL, SCALAR, NULL}};

static bool is_scalar(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

static bool has_shape(const json_t *value, enum shape shape)
{
    json_t *one;
    size_t i;
    if (shape == SCALAR || shape == OBJECT)
        return shape == OBJECT ? json_is_object(value) : is_scalar(value);
    json_array_foreach(value, i, one) if (shape == OBJECTS ? !json_is_object(one)
                                                           : !is_scalar(one)) return false;
    return json_is_array(value);
}

static const struct json_member *find_json_member(const struct json_member *list, const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

static void cut_node(json_t *object)
{
    const char *node = json_string_value(json_object_get(object, "node"));
    char cut[MERGE_NODE_MAX];
    if (node && strlen(node) >= sizeof cut)
        json_object_set_new(object, "node", json_string(plain_text(node, cut, sizeof cut)));
}

/* NOLINTNEXTLINE(misc-no-recursion): the depth is that of the lists above */
static void keep_members(json_t *object, const struct json_member *list)
{
    const char *key;
    json_t *value, *one;
    void *next;
    size_t i;
    json_object_foreach_safe(object, next, key, value)
    {
        const struct json_member *m = find_json_member(list, key);
        if (!m || !has_shape(value, m->shape))
            json_object_del(object, key);
        else if (m->shape == OBJECT)
            keep_members(value, m->of);
        else if (m->shape == OBJECTS)
            json_array_foreach(value, i, one) keep_members(one, m->of);
    }
    cut_node(object);
}

void merge_keep_known(json_t *report)
{
    keep_members(report, whole);
}
