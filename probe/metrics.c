/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metrics of targets. See metrics.h. Each sample names its target, because the textfile collector
 * may have the files of several runs. The hosts of a prefix are only counted: labels are bounded by
 * the command line.
 */
#include "probe/metrics.h"

#include <arpa/inet.h>
#include <string.h>

#include "probe/run/metrics.h"
#include "report/words.h"
#include "wire/view.h"

enum metric {
    STATUS,
    STAGE_PROBLEMS,
    STAGES,
    RULES_OF,
    REQUESTS,
    PACKETS,
    PACKETS_LOST,
    RESPONSE_MIN,
    RESPONSE_MEDIAN,
    RESPONSE_P99,
    SA_MIN,
    SA_MEDIAN,
    SA_P99,
    SA_UNANSWERED,
    SA_BUSY_ANSWERS,
    SWEEP_HOSTS,
    DURATION,
    WATCH_REQUESTS,
    WATCH_RESPONSES,
    WATCH_UP,
    WATCH_CHANGES_OF,
    LAST_RUN,
    BUILD,
    METRICS
};

static const struct {
    const char *name, *type, *help;
} metrics[METRICS] = {
    [STATUS] = {"ipoib_probe_status", "gauge",
                "The result of the target, 1 for the status it has."},
    [STAGE_PROBLEMS] = {"ipoib_probe_stage_problems", "gauge",
                        "Times that the stage of the target failed or had no result."},
    [STAGES] = {"ipoib_probe_stages", "gauge", "Stages of the target with this outcome."},
    [RULES_OF] = {"ipoib_probe_rules", "gauge", "Rules with this outcome."},
    [REQUESTS] = {"ipoib_probe_requests", "gauge",
                  "Requests of the run that were answered at the first try, late, or never."},
    [PACKETS] = {"ipoib_probe_packets", "gauge",
                 "Packets to the peer of which a loss would have been seen."},
    [PACKETS_LOST] = {"ipoib_probe_packets_lost", "gauge", "Those of them that were lost."},
    [RESPONSE_MIN] = {"ipoib_probe_response_min_seconds", "gauge",
                      "Shortest response time of the peer in seconds."},
    [RESPONSE_MEDIAN] = {"ipoib_probe_response_median_seconds", "gauge",
                         "Median of the response times of the peer in seconds."},
    [RESPONSE_P99] = {"ipoib_probe_response_p99_seconds", "gauge",
                      "99th percentile of the response times of the peer in seconds."},
    [SA_MIN] = {"ipoib_probe_sa_response_min_seconds", "gauge",
                "Shortest response time of the SA in seconds."},
    [SA_MEDIAN] = {"ipoib_probe_sa_response_median_seconds", "gauge",
                   "Median of the response times of the SA in seconds."},
    [SA_P99] = {"ipoib_probe_sa_response_p99_seconds", "gauge",
                "99th percentile of the response times of the SA in seconds."},
    [SA_UNANSWERED] = {"ipoib_probe_sa_unanswered", "gauge",
                       "Queries of the run that the SA did not answer in time."},
    [SA_BUSY_ANSWERS] = {"ipoib_probe_sa_busy", "gauge",
                         "Answers of the SA in the run that said that it is busy."},
    [SWEEP_HOSTS] = {"ipoib_probe_sweep_hosts", "gauge",
                     "Hosts of the prefix that replied, by their status."},
    [DURATION] = {"ipoib_probe_duration_seconds", "gauge", "Time that the target took in seconds."},
    [WATCH_REQUESTS] = {"ipoib_probe_watch_requests_total", "counter",
                        "Requests to the watched peer."},
    [WATCH_RESPONSES] = {"ipoib_probe_watch_response_duration_seconds", "histogram",
                         "Response times of the watched peer in seconds."},
    [WATCH_UP] = {"ipoib_probe_watch_up", "gauge",
                  "Whether the watched peer replied to the last request."},
    [WATCH_CHANGES_OF] = {"ipoib_probe_watch_changes_total", "counter",
                          "Changes of the watched peer and of the port of this host."},
    [LAST_RUN] = {"ipoib_probe_last_run_timestamp_seconds", "gauge",
                  "Time of the result in seconds since 1970."},
    [BUILD] = {"ipoib_probe_build_info", "gauge", "The version of ipoib-probe; always 1."},
};

static const char *const statuses[] = {
    [VERDICT_CONFORMANT] = "ok", [VERDICT_VIOLATED] = "fault", [VERDICT_UNJUDGED] = "not_judged"};

struct probe_metrics {
    const struct options *o;
    const char *version;
    GString *samples[METRICS];
    GHashTable *named; /* labels of the targets so far */
    /* by target of the command line: hosts of a prefix with each status */
    unsigned (*hosts)[G_N_ELEMENTS(statuses)];
    bool watched; /* the target's own time of the run replaces that of the last line */
};

struct probe_metrics *probe_metrics_new(const struct options *o, const char *version)
{
    struct probe_metrics *m = g_new0(struct probe_metrics, 1);
    m->o = o;
    m->version = version;
    for (unsigned i = 0; i < METRICS; i++)
        m->samples[i] = g_string_new(NULL);
    m->named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->hosts = g_malloc0_n(o->targets->len, sizeof m->hosts[0]);
    return m;
}

void probe_metrics_free(struct probe_metrics *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < METRICS; i++)
        g_string_free(m->samples[i], TRUE);
    g_hash_table_unref(m->named);
    g_free(m->hosts);
    g_free(m);
}

/* ---- samples */

/* A series of a metric. */
struct series {
    const char *suffix; /* of the name */
    const char *target;
    const char *label, *word; /* another label and its value; NULL: none */
};

static void put_series(struct probe_metrics *m, enum metric f, const struct series *s, double value)
{
    GString *out = m->samples[f];
    g_string_append_printf(out, "%s%s{", metrics[f].name, s->suffix);
    metrics_put_label(out, "target", s->target);
    if (s->label) {
        g_string_append_c(out, ',');
        metrics_put_label(out, s->label, s->word);
    }
    g_string_append_c(out, '}');
    metrics_put_value(out, value);
}

/* LABEL: another one than the target, or NULL. */
static void put(struct probe_metrics *m, enum metric f, const char *target, const char *label,
                const char *word, double value)
{
    put_series(m, f, &(struct series){"", target, label, word}, value);
}

static double seconds(gint64 us)
{
    return (double)us / G_USEC_PER_SEC;
}

static void put_run(struct probe_metrics *m, const char *target)
{
    put(m, LAST_RUN, target, NULL, NULL, seconds(g_get_real_time()));
    put(m, BUILD, target, "version", m->version, 1);
}

static void put_status(struct probe_metrics *m, const char *target, enum verdict_status status)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++)
        put(m, STATUS, target, "status", statuses[i], status == (enum verdict_status)i);
}

/* ---- stages and rules */

/* One that did not run because an earlier one failed is none of its own. */
static bool is_problem(const struct checked *j, const struct stage *s)
{
    bool undone = false;
    for (guint i = 0; j->undone && i < j->undone->len; i++)
        undone |= g_str_equal(((const struct undone_stage *)j->undone->pdata[i])->stage, s->id);
    return undone || s->outcome == OUTCOME_FAIL;
}

/* A stage may occur several times. */
static bool is_first(const struct checked *j, guint at)
{
    const struct stage *s = j->stages->pdata[at];
    for (guint i = 0; i < at; i++)
        if (g_str_equal(((const struct stage *)j->stages->pdata[i])->id, s->id))
            return false;
    return true;
}

static void put_problems(struct probe_metrics *m, const char *target, const struct checked *j,
                         guint at)
{
    const struct stage *first = j->stages->pdata[at];
    unsigned n = 0;
    for (guint i = at; i < j->stages->len; i++) {
        const struct stage *s = j->stages->pdata[i];
        n += g_str_equal(s->id, first->id) && is_problem(j, s);
    }
    put(m, STAGE_PROBLEMS, target, "stage", first->id, n);
}

static void put_stages(struct probe_metrics *m, const char *target, const struct checked *j)
{
    static const int outcomes[] = {OUTCOME_PASS, OUTCOME_FAIL, OUTCOME_NOTED, OUTCOME_INCONCLUSIVE,
                                   VERDICT_SKIPPED};
    for (size_t k = 0; k < G_N_ELEMENTS(outcomes); k++) {
        unsigned n = 0;
        for (guint i = 0; j->stages && i < j->stages->len; i++)
            n += ((const struct stage *)j->stages->pdata[i])->outcome == outcomes[k];
        put(m, STAGES, target, "outcome", outcome_name((enum outcome)outcomes[k]), n);
    }
    for (guint i = 0; j->stages && i < j->stages->len; i++)
        if (is_first(j, i))
            put_problems(m, target, j, i);
}

static void put_rules(struct probe_metrics *m, const char *target, const struct verdict_summary *s)
{
    const struct {
        const char *outcome;
        unsigned n;
    } counts[] = {
        {"must_violated", s->must}, {"should_violated", s->should},    {"deviation", s->deviated},
        {"noted", s->noted},        {"inconclusive", s->inconclusive}, {"passed", s->passed},
        {"skipped", s->skipped}};
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        put(m, RULES_OF, target, "outcome", counts[i].outcome, counts[i].n);
}

/* ---- numbers */

static void put_requests(struct probe_metrics *m, const char *target,
                         const struct checked_requests *q)
{
    if (!q->counted)
        return;
    put(m, REQUESTS, target, "answered", "first_try", q->first_try);
    put(m, REQUESTS, target, "answered", "late", q->late);
    put(m, REQUESTS, target, "answered", "never", q->never);
    put(m, PACKETS, target, NULL, NULL, q->packets);
    put(m, PACKETS_LOST, target, NULL, NULL, q->lost);
}

/* FIRST: the family of the minimum. MODE: that of the requests; NULL: none. */
static void put_times(struct probe_metrics *m, enum metric first, const char *target,
                      const char *mode, const struct checked_times *t)
{
    const gint64 values[] = {t->least, t->median, t->p99};
    for (unsigned i = 0; t->n && i < G_N_ELEMENTS(values); i++)
        put(m, first + i, target, mode ? "mode" : NULL, mode, seconds(values[i]));
}

static void put_numbers(struct probe_metrics *m, const char *target, const struct checked *j)
{
    put_requests(m, target, &j->requests);
    put_times(m, RESPONSE_MIN, target, "ud", &j->over_ud);
    put_times(m, RESPONSE_MIN, target, "rc", &j->over_rc);
    put_times(m, SA_MIN, target, NULL, &j->sa_times);
    put(m, SA_UNANSWERED, target, NULL, NULL, (double)j->sa_unanswered);
    put(m, SA_BUSY_ANSWERS, target, NULL, NULL, (double)j->sa_busy);
    if (!j->sweep) /* its hosts are tested at the same time */
        put(m, DURATION, target, NULL, NULL, j->seconds);
}

/* ---- targets */

/* A target that is named twice has a label of its own: a series must not occur twice. */
static char *label_of(struct probe_metrics *m, const char *name)
{
    char *label = g_strdup(name);
    for (unsigned i = 2; !g_hash_table_add(m->named, g_strdup(label)); i++) {
        g_free(label);
        label = g_strdup_printf("%s (%u)", name, i);
    }
    return label;
}

static bool is_in(const struct target_option *t, const uint8_t ip[16])
{
    unsigned at = t->ipv6 ? 12 : 0;
    return memcmp(ip, t->ip, at) == 0 && be32(ip + at) - be32(t->ip + at) < t->n;
}

/* The number of the prefix of the command line that has the host; -1: none has it. */
static int prefix_of(const struct options *o, const char *name)
{
    uint8_t ip[16] = {0};
    bool ipv4 = inet_pton(AF_INET, name, ip) == 1;
    if (!ipv4 && inet_pton(AF_INET6, name, ip) != 1)
        return -1;
    for (guint i = 0; i < o->targets->len; i++) {
        const struct target_option *t = &g_array_index(o->targets, struct target_option, i);
        if (t->prefix && t->ipv6 == !ipv4 && is_in(t, ip))
            return (int)i;
    }
    return -1;
}

static int number_of(const struct options *o, const char *name)
{
    for (guint i = 0; i < o->targets->len; i++)
        if (g_str_equal(g_array_index(o->targets, struct target_option, i).name, name))
            return (int)i;
    return -1;
}

static void put_hosts(struct probe_metrics *m, const char *target, const char *name)
{
    int i = number_of(m->o, name);
    for (unsigned k = 0; i >= 0 && k < G_N_ELEMENTS(statuses); k++)
        put(m, SWEEP_HOSTS, target, "status", statuses[k], m->hosts[i][k]);
}

static void put_target(struct probe_metrics *m, const char *target, const struct checked *j,
                       const struct verdict_summary *s)
{
    put_status(m, target, s->status);
    put_stages(m, target, j);
    put_numbers(m, target, j);
    if (j->sweep)
        put_hosts(m, target, j->name);
    else
        put_rules(m, target, s);
    put_run(m, target);
}

void probe_metrics_add(struct probe_metrics *m, const struct report *r, const struct checked *j)
{
    struct verdict_summary s = checked_summary(r, j);
    int prefix = j->sweep ? -1 : prefix_of(m->o, j->name);
    if (prefix >= 0) {
        m->hosts[prefix][s.status]++;
        return;
    }
    for (enum metric f = LAST_RUN; m->watched && f <= BUILD; f++)
        g_string_truncate(m->samples[f], 0);
    char *target = label_of(m, j->name);
    put_target(m, target, j, &s);
    g_free(target);
}

/* ---- a watched peer */

static void put_histogram(struct probe_metrics *m, const struct watched *w)
{
    char bound[G_ASCII_DTOSTR_BUF_SIZE];
    uint64_t n = 0;
    for (unsigned i = 0; i < WATCH_BUCKETS; i++) {
        n += w->within[i];
        g_ascii_formatd(bound, sizeof bound, "%g", seconds(watch_bound(i)));
        put_series(m, WATCH_RESPONSES, &(struct series){"_bucket", w->target, "le", bound},
                   (double)n);
    }
    put_series(m, WATCH_RESPONSES, &(struct series){"_bucket", w->target, "le", "+Inf"},
               w->answered);
    put_series(m, WATCH_RESPONSES, &(struct series){"_sum", w->target, NULL, NULL},
               seconds(w->microseconds));
    put_series(m, WATCH_RESPONSES, &(struct series){"_count", w->target, NULL, NULL}, w->answered);
}

void probe_metrics_watch(struct probe_metrics *m, const struct watched *w)
{
    m->watched = true;
    static const enum metric of_watch[] = {WATCH_REQUESTS,   WATCH_RESPONSES, WATCH_UP,
                                           WATCH_CHANGES_OF, LAST_RUN,        BUILD};
    for (unsigned i = 0; i < G_N_ELEMENTS(of_watch); i++)
        g_string_truncate(m->samples[of_watch[i]], 0);
    put(m, WATCH_REQUESTS, w->target, NULL, NULL, w->sent);
    put_histogram(m, w);
    put(m, WATCH_UP, w->target, NULL, NULL, w->replies);
    for (unsigned i = 0; i < WATCH_CHANGES; i++)
        put(m, WATCH_CHANGES_OF, w->target, "change", watch_change_name(i), w->changes[i]);
    put_run(m, w->target);
}

GString *probe_metrics_text(const struct probe_metrics *m)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < METRICS; i++)
        if (m->samples[i]->len) {
            metrics_put_head(out, metrics[i].name, metrics[i].type, metrics[i].help);
            g_string_append_len(out, m->samples[i]->str, (gssize)m->samples[i]->len);
        }
    return out;
}
