/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries to the SA, with request and response logged. To limit the load on the SA, a sweep caches
 * responses for the hosts that share them and stops querying an SA that does not respond.
 */
#include "probe/link/sa.h"

#include <string.h>

#include "hca/client.h"
#include "probe/link/answer.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/put.h"

enum { SA_WAIT_MS = 1500, SA_PATIENCE_MS = 8500, CACHE_SIZE = 64, MAX_FAILURES = 3 };

/* Logs the request MAD with a transaction ID of the log and without the SM_Key. */
static void log_request(struct target *t, const struct sa_query *q)
{
    uint8_t mad[MAD_SIZE] = {[MAD_BASE_VERSION] = 1,
                             [MAD_CLASS] = MAD_CLASS_SA,
                             [MAD_CLASS_VERSION] = 2,
                             [MAD_METHOD] = q->method};
    put32(mad + MAD_TID + 4, ++t->run->sequence);
    put16(mad + MAD_ATTRIBUTE, q->attribute);
    put64(mad + SA_COMPONENT_MASK, q->mask);
    memcpy(mad + SA_DATA, q->record, SA_DATA_SIZE);
    wirelog_mad(t->log, t->link->transport, mad, LOG_SENT);
}

static void log_response(struct target *t, struct sa_response *a)
{
    put64(a->mad + MAD_TID, t->run->sequence);
    wirelog_mad(t->log, t->link->transport, a->mad, t->about_fabric ? LOG_OF_TARGET : LOG_RECEIVED);
}

enum { OF_FIELDS = 0x001c, OF_CLASS = 0xff00 }; /* bits of a status (IBA 13.4.7) */

/*
 * Without an SA, the port's driver responds to unhandled requests: unsupported class, method or
 * attribute (IBA 13.4.7). Such a response for an attribute that every SA must support is not from
 * an SA.
 */
static bool is_without_sa(const struct sa_query *q, uint16_t status)
{
    return (q->attribute == SA_CLASS_PORT_INFO || q->attribute == SA_MC_MEMBER_RECORD) &&
           !(status & OF_CLASS) && (status & OF_FIELDS);
}

bool sa_is_unsupported(enum sa_result result, uint16_t status)
{
    enum { METHOD = 2 << 2, METHOD_WITH_ATTRIBUTE = 3 << 2 };
    unsigned fields = status & OF_FIELDS;
    return result == SA_REJECTED && !(status & OF_CLASS) &&
           (fields == METHOD || fields == METHOD_WITH_ATTRIBUTE);
}

static enum sa_result result_of_response(struct target *t, const struct sa_query *q,
                                         const struct sa_response *a)
{
    struct sa_cache *sa = &t->run->sa;
    if (a->status & MAD_STATUS_BUSY)
        return SA_BUSY;
    if (a->status)
        return is_without_sa(q, a->status) ? SA_ABSENT : SA_REJECTED;
    bool fits = answer_fits(q, a, &t->link->group,
                            (struct answer_fault){sa->fault, sizeof sa->fault});
    return fits ? SA_SUCCESS : SA_MALFORMED;
}

/* The time of a table depends on its size, so it does not count; an answer that is busy has none.
 */
static void count_response(struct run *r, const struct sa_query *q, enum transport_result result,
                           const struct sa_response *a)
{
    unsigned n = q->method == SA_GET_TABLE ? MIN(a->busy, a->timed) : a->timed;
    r->sa.busy += a->busy;
    r->sa.unanswered += result == TRANSPORT_NOTHING;
    /* to a wrong SM_Key an SA does not respond at all (IBA 15.4.1) */
    r->sa.lost += result == TRANSPORT_NOTHING && !q->sm_key && !r->sa.limit_ms;
    for (unsigned i = 0; i < n; i++)
        times_add(&r->sa.times, a->took_us[i]);
}

static enum sa_result send_query(struct target *t, const struct sa_query *q, int ms,
                                 struct sa_response *a)
{
    /* The adapter's driver handles the segments of a table; they are not visible here. */
    bool single = q->method != SA_GET_TABLE;
    if (t->run->sweeps)
        rate_take(t->run);
    if (single)
        log_request(t, q);
    struct sa_query tried = *q;
    tried.tries_ms = MIN((unsigned)ms, SA_WAIT_MS);
    enum transport_result sent = t->link->transport->ops->query(t->link->transport, &tried, ms, a);
    count_response(t->run, q, sent, a);
    switch (sent) {
    case TRANSPORT_OK:
        if (t->about_fabric)
            verdict_frame(t->results->checked->verdict, true);
        if (single)
            log_response(t, a);
        return result_of_response(t, q, a);
    case TRANSPORT_NOTHING:
        return SA_NO_RESPONSE;
    case TRANSPORT_STOPPED:
        t->run->stopped = true;
        return SA_ERROR;
    case TRANSPORT_TOO_LARGE: /* the SA may still respond to the next request */
        return SA_ERROR;
    default:
        t->run->broken = true;
        return SA_ERROR;
    }
}

/* ---- cache during a sweep */

struct cached_response {
    struct sa_query q;
    enum sa_result result;
    struct sa_response a;
};

/*
 * For groups, only the memberships of other ports: the probe itself changes this port's
 * memberships.
 */
static bool is_cacheable(const struct target *t, const struct sa_query *q)
{
    bool reads = q->method == SA_GET || q->method == SA_GET_TABLE;
    bool of_group = q->attribute == SA_MC_MEMBER_RECORD;
    bool of_other = (q->mask & MCM_HAS_PORT_GID) &&
                    memcmp(q->record + MCM_PORT_GID, t->link->transport->facts.gid, 16) != 0;
    return t->yield && reads && (!of_group || of_other);
}

static const struct cached_response *find_cached(struct target *t, const struct sa_query *q)
{
    const GPtrArray *responses = t->run->sa.responses;
    for (guint i = 0; responses && i < responses->len; i++) {
        const struct cached_response *k = responses->pdata[i];
        if (k->q.method == q->method && k->q.attribute == q->attribute && k->q.mask == q->mask &&
            k->q.modifier == q->modifier && memcmp(k->q.record, q->record, SA_DATA_SIZE) == 0)
            return k;
    }
    return NULL;
}

static void free_cached(gpointer cached)
{
    struct cached_response *k = cached;
    g_byte_array_unref(k->a.records);
    g_free(k);
}

static void cache_response(struct target *t, const struct sa_query *q, enum sa_result result,
                           const struct sa_response *a)
{
    struct sa_cache *cache = &t->run->sa;
    struct cached_response *k = g_new(struct cached_response, 1);
    *k = (struct cached_response){*q, result, *a};
    g_byte_array_ref(k->a.records);
    if (!cache->responses)
        cache->responses = g_ptr_array_new_with_free_func(free_cached);
    if (cache->responses->len == CACHE_SIZE)
        g_ptr_array_remove_index(cache->responses, 0);
    g_ptr_array_add(cache->responses, k);
}

void sa_cache_clear(struct run *r)
{
    if (r->sa.responses)
        g_ptr_array_unref(r->sa.responses);
    r->sa.responses = NULL;
}

void sa_limit(struct run *r, unsigned ms)
{
    r->sa.limit_ms = ms;
    r->sa.given_up = false;
}

static int limited_ms(const struct run *r, int ms)
{
    return r->sa.limit_ms ? MIN(ms, (int)r->sa.limit_ms) : ms;
}

/* ---- querying */

/* True if the SA is not queried any more. Leaving joined groups is still attempted. */
static bool is_given_up(struct target *t, const struct sa_query *q)
{
    const struct run *run = t->run;
    bool reads = q->method == SA_GET || q->method == SA_GET_TABLE;
    if (run->sa.given_up)
        return true;
    return run->sweeps && (t->yield || reads) && run->sa.failures >= MAX_FAILURES;
}

/* Asks again: does it answer at once now? A slow SA never does. Returns the milliseconds; 0: no. */
static double prompt_ms(struct target *t)
{
    enum { AGAIN = 3, PROMPT_MS = 100 };
    const struct sa_query q = {.method = SA_GET, .attribute = SA_CLASS_PORT_INFO};
    uint64_t unanswered = t->run->sa.unanswered, lost = t->run->sa.lost;
    double prompt = 0;
    for (unsigned i = 0; i < AGAIN && !prompt && !*t->run->stop; i++) {
        struct sa_response a = {.records = g_byte_array_new()};
        gint64 begin = g_get_monotonic_time();
        bool answers = sa_has_answered(send_query(t, &q, PROMPT_MS, &a));
        double ms = (double)(g_get_monotonic_time() - begin) / 1000;
        prompt = answers && ms <= PROMPT_MS ? MAX(ms, 0.01) : 0;
        sa_response_clear(&a);
    }
    t->run->sa.unanswered = unanswered; /* these are given up at once */
    t->run->sa.lost = lost;
    return prompt;
}

static void note_slow(struct target *t, unsigned ms)
{
    struct sa_cache *sa = &t->run->sa;
    double seconds = ms / 1000.0, prompt = prompt_ms(t);
    sa->slow_ms = prompt > 0 ? 0 : ms;
    if (prompt > 0)
        g_snprintf(
            sa->slow, sizeof sa->slow,
            "one answer of the SA took %.1f s, another %.1f ms: packets are lost on the way, "
            "or it is busy at times",
            seconds, prompt);
    else
        g_snprintf(sa->slow, sizeof sa->slow,
                   "the SA is slow: it answers after %.1f s, and a query waits %.1f s", seconds,
                   SA_WAIT_MS / 1000.0);
}

/*
 * How long to listen for a late answer: an SA that is slow is not silent. All queries of a run
 * together wait no longer than this, so that a dead SA does not take long. To a wrong SM_Key it
 * does not respond at all (IBA 15.4.1).
 */
static unsigned patience_ms(const struct target *t, const struct sa_query *q)
{
    const struct sa_cache *sa = &t->run->sa;
    bool listens = !sa->limit_ms && !t->run->sweeps && !t->link->transport->ending;
    unsigned left = listens ? SA_PATIENCE_MS - MIN(sa->late_ms, SA_PATIENCE_MS) : 0,
             longest = sa->times.n ? (unsigned)(sa->times.most / 1000) : 0;
    return q->sm_key ? MIN(left, longest) : left;
}

static enum sa_result send_and_listen(struct target *t, const struct sa_query *q,
                                      struct sa_response *a)
{
    struct sa_cache *sa = &t->run->sa;
    gint64 begin = g_get_monotonic_time();
    enum sa_result result = send_query(
        t, q, limited_ms(t->run, (int)(SA_WAIT_MS + patience_ms(t, q))), a);
    gint64 ms = (g_get_monotonic_time() - begin) / 1000;
    gint64 took = a->timed ? a->took_us[a->timed - 1] / 1000 : 0;
    sa->late_ms += ms > SA_WAIT_MS ? (unsigned)(ms - SA_WAIT_MS) : 0;
    if (sa_has_answered(result) && took > SA_WAIT_MS && !sa->slow[0])
        note_slow(t, (unsigned)took);
    return result;
}

enum sa_result sa_query_send(struct target *t, const struct sa_query *q, struct sa_response *a)
{
    bool cacheable = is_cacheable(t, q);
    const struct cached_response *cached = cacheable ? find_cached(t, q) : NULL;
    if (cached) {
        *a = cached->a;
        g_byte_array_ref(a->records);
        return cached->result;
    }
    *a = (struct sa_response){.records = g_byte_array_new()};
    if (!transport_can(t->link->transport, CAN_QUERY_SA))
        return SA_NO_RESPONSE;
    if (is_given_up(t, q)) {
        a->status = t->run->sa.status;
        return t->run->sa.failure;
    }
    enum sa_result result = send_and_listen(t, q, a);
    t->run->sa.method = q->method;
    t->run->sa.given_up = t->run->sa.limit_ms && result == SA_NO_RESPONSE;
    bool no_response = result == SA_NO_RESPONSE || result == SA_BUSY || result == SA_ABSENT;
    t->run->sa.status = a->status;
    t->run->sa.failures = no_response ? t->run->sa.failures + 1 : 0;
    t->run->sa.failure = result;
    if (cacheable && (result == SA_SUCCESS || result == SA_REJECTED))
        cache_response(t, q, result, a);
    return result;
}

const char *sa_slow_text(const struct target *t)
{
    t->run->sa.slow_said = true;
    return t->run->sa.slow;
}

bool sa_was_slow(const struct target *t)
{
    enum { SLOW_US = 100 * 1000 };
    return times_percentile(&t->run->sa.times, 50) > SLOW_US;
}

char *sa_history(const struct target *t)
{
    const struct sa_cache *sa = &t->run->sa;
    uint64_t n = sa->times.n;
    return !n ? g_strdup("")
              : g_strdup_printf("it answered %" G_GUINT64_FORMAT " request%s after %.0f ms%s, "
                                "%" G_GUINT64_FORMAT " had no answer",
                                n, n == 1 ? "" : "s",
                                (double)times_percentile(&sa->times, 50) / 1000,
                                n == 1 ? "" : " (median)", sa->unanswered);
}

bool sa_has_answered(enum sa_result result)
{
    return result == SA_SUCCESS || result == SA_REJECTED || result == SA_MALFORMED;
}

/* An answer with a status, in words. */
static const char *status_text(const struct target *t, enum sa_result result, uint16_t status)
{
    struct sa_cache *sa = &t->run->sa;
    if (result == SA_ABSENT)
        g_snprintf(sa->text, sizeof sa->text,
                   "there is no SA at LID %u: the port there answers status 0x%04x, %s",
                   t->link->transport->facts.sm_lid, status, sa_status_name(status));
    else
        g_snprintf(sa->text, sizeof sa->text, "the SA refuses: status 0x%04x, %s", status,
                   sa_status_name(status));
    return sa->text;
}

static const char *fault_text(const struct target *t)
{
    struct sa_cache *sa = &t->run->sa;
    g_snprintf(sa->text, sizeof sa->text, "the SA's answer does not fit: %s", sa->fault);
    return sa->text;
}

const char *sa_failure_text(const struct target *t, enum sa_result result, uint16_t status)
{
    switch (result) {
    case SA_REJECTED:
    case SA_ABSENT:
        return status_text(t, result, status);
    case SA_BUSY:
        return "the SA is busy";
    case SA_MALFORMED:
        return fault_text(t);
    case SA_ERROR:
        return t->run->stopped ? "interrupted" : t->link->transport->error;
    default:
        return result == SA_NO_RESPONSE && t->run->sa.slow[0] ? sa_slow_text(t)
                                                              : "the SA did not answer";
    }
}

static const char *status_advice(uint16_t status)
{
    enum { NO_RESOURCES = 1, INVALID_GID = 5, DENIED = 7 }; /* IBA 15.2.1.3 */
    switch (status >> 8) {
    case NO_RESOURCES:
        return "the SM is short of memory or MLIDs: see its log";
    case INVALID_GID:
        return "the SM does not know this port's GID: wait for its next sweep; see its log";
    case DENIED:
        return "the SM's configuration denies it to this port: see its log and partitions";
    default:
        return "see the SM's log: it names the request that it refuses";
    }
}

const char *sa_failure_advice(enum sa_result result, uint16_t status)
{
    return result == SA_REJECTED ? status_advice(status)
           : result == SA_BUSY ? "try again later; if the SA stays busy, check the load of its host"
           : result == SA_MALFORMED
               ? "compare with saquery: if it shows the same, it is a fault of the SM: see its log"
               : "";
}

void sa_response_clear(struct sa_response *a)
{
    g_byte_array_unref(a->records);
}
