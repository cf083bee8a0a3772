/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the reader of untrusted JSON reports: the input is a report, as `ipoib-check --merge`
 * reads it.
 *
 * Beyond "no crash", it checks: a report is accepted, or an error says why not; each result of an
 * accepted report belongs to exactly one entry; merge_keep_known() never makes a report longer, and
 * a second call changes nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/must.h"
#include "report/baseline.h"
#include "report/merge_members.h"
#include "report/merge_tally.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 17 };

static size_t length(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t n = text ? strlen(text) : 0;
    free(text);
    return n;
}

static void tally_entries(struct merge_tally *t, const struct merge_report *report)
{
    size_t results = 0;
    for (guint i = 0; i < report->entries->len; i++) {
        const struct merge_entry *e = &g_array_index(report->entries, struct merge_entry, i);
        struct restored r;
        GError *error = NULL;
        bool good = restore(&r, e, "0", &error);
        must(good == !error);
        if (good)
            tally_add(t, e->node, &r);
        results += e->results->len;
        g_clear_error(&error);
        restored_clear(&r);
    }
    must(results == json_array_size(json_object_get(report->whole, "results")));
}

static void keep_known(const uint8_t *data, size_t size)
{
    json_t *whole = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(whole)) {
        size_t before = length(whole);
        merge_keep_known(whole);
        size_t after = length(whole);
        must(after <= before);
        merge_keep_known(whole);
        must(length(whole) == after);
    }
    json_decref(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    GError *error = NULL;
    struct merge_report report;
    if (size > INPUT_MAX)
        return 0;
    int fd = memfd_create("report", 0);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool good = merge_report_open(&report, path, &error);
    must(good == !error);
    if (good) {
        struct merge_tally *t = tally_new();
        tally_entries(t, &report);
        tally_free(t);
    }
    g_clear_error(&error);
    merge_report_clear(&report);
    struct baseline *b = baseline_open(path, "0", &error);
    must((b == NULL) == (error != NULL) && (good || !b));
    baseline_free(b);
    g_clear_error(&error);
    close(fd);
    keep_known(data, size);
    return 0;
}
