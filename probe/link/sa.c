/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries to the SA, with request and response logged. To limit the load on the SA, a sweep caches
 * responses for the hosts that share them and stops querying an SA that does not respond.
 */
#include "probe/link/sa.h"

#include <string.h>

#include "hca/client.h"
#include "probe/link/link.h"
#include "probe/link/send.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/results.h"
#include "probe/run/run.h"
#include "probe/run/target.h"
#include "wire/put.h"

enum { SA_WAIT_MS = 1500, KEPT = 64, SILENCES = 3 };

/* Logs the request MAD with a transaction ID of the log and without the SM_Key. */
static void log_question(struct target *t, const struct sa_question *q)
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

static void log_answer(struct target *t, struct sa_answer *a)
{
    put64(a->mad + MAD_TID, t->run->sequence);
    wirelog_mad(t->log, t->link->transport, a->mad,
                t->about_fabric ? LOG_OF_SUBJECT : LOG_RECEIVED);
}

/*
 * Without an SA, the port's driver responds to unhandled requests: unsupported class, method or
 * attribute (IBA 13.4.7). For attributes that every SA must support, such a response counts as no
 * response.
 */
static bool is_nobody(const struct sa_question *q, uint16_t status)
{
    enum { UNSUPPORTED = 0x001c, OF_CLASS = 0xff00 };
    return (q->attribute == SA_CLASS_PORT_INFO || q->attribute == SA_MC_MEMBER_RECORD) &&
           !(status & OF_CLASS) && (status & UNSUPPORTED);
}

static enum sa_result ask(struct target *t, const struct sa_question *q, struct sa_answer *a)
{
    bool single = q->method !=
                  /*
                   * the adapter's driver handles the segments of a table; they are not visible here
                   */
                  SA_GET_TABLE;
    if (t->run->sweeps)
        rate_take(t->run);
    if (single)
        log_question(t, q);
    switch (t->link->transport->ops->ask(t->link->transport, q, SA_WAIT_MS, a)) {
    case TRANSPORT_OK:
        if (t->about_fabric)
            verdict_frame(t->results->judged->verdict, true);
        if (single)
            log_answer(t, a);
        if (a->status & MAD_STATUS_BUSY)
            return SA_BUSY;
        if (a->status)
            return is_nobody(q, a->status) ? SA_SILENT : SA_REFUSED;
        return SA_TOLD;
    case TRANSPORT_NOTHING:
        return SA_SILENT;
    case TRANSPORT_STOPPED:
        t->run->stopped = true;
        return SA_BROKEN;
    case TRANSPORT_TOO_LARGE: /* the SA may still respond to the next request */
        return SA_BROKEN;
    default:
        t->run->broken = true;
        return SA_BROKEN;
    }
}

/* ---- cache during a sweep */

struct kept_answer {
    struct sa_question q;
    enum sa_result result;
    struct sa_answer a;
};

/*
 * For groups, only the memberships of other ports: the probe itself changes this port's
 * memberships.
 */
static bool may_be_kept(const struct target *t, const struct sa_question *q)
{
    bool reads = q->method == SA_GET || q->method == SA_GET_TABLE;
    bool of_group = q->attribute == SA_MC_MEMBER_RECORD;
    bool of_other = (q->mask & MCM_HAS_PORT_GID) &&
                    memcmp(q->record + MCM_PORT_GID, t->link->transport->facts.gid, 16) != 0;
    return t->yield && reads && (!of_group || of_other);
}

static const struct kept_answer *find_kept(struct target *t, const struct sa_question *q)
{
    const GPtrArray *told = t->run->sa.answers;
    for (guint i = 0; told && i < told->len; i++) {
        const struct kept_answer *k = told->pdata[i];
        if (k->q.method == q->method && k->q.attribute == q->attribute && k->q.mask == q->mask &&
            memcmp(k->q.record, q->record, SA_DATA_SIZE) == 0)
            return k;
    }
    return NULL;
}

static void free_kept(gpointer kept)
{
    struct kept_answer *k = kept;
    g_byte_array_unref(k->a.records);
    g_free(k);
}

static void keep(struct target *t, const struct sa_question *q, enum sa_result result,
                 const struct sa_answer *a)
{
    struct sa_cache *cache = &t->run->sa;
    struct kept_answer *k = g_new(struct kept_answer, 1);
    *k = (struct kept_answer){*q, result, *a};
    g_byte_array_ref(k->a.records);
    if (!cache->answers)
        cache->answers = g_ptr_array_new_with_free_func(free_kept);
    if (cache->answers->len == KEPT)
        g_ptr_array_remove_index(cache->answers, 0);
    g_ptr_array_add(cache->answers, k);
}

void sa_forget(struct run *r)
{
    if (r->sa.answers)
        g_ptr_array_unref(r->sa.answers);
    r->sa.answers = NULL;
}

/* ---- querying */

/* True if a sweep stops querying the SA. Leaving joined groups is still attempted. */
static bool is_given_up(struct target *t, const struct sa_question *q)
{
    const struct run *run = t->run;
    bool reads = q->method == SA_GET || q->method == SA_GET_TABLE;
    return run->sweeps && (t->yield || reads) && run->sa.silences >= SILENCES;
}

enum sa_result sa_ask(struct target *t, const struct sa_question *q, struct sa_answer *a)
{
    bool keeps = may_be_kept(t, q);
    const struct kept_answer *kept = keeps ? find_kept(t, q) : NULL;
    if (kept) {
        *a = kept->a;
        g_byte_array_ref(a->records);
        return kept->result;
    }
    *a = (struct sa_answer){.records = g_byte_array_new()};
    if (!transport_can(t->link->transport, CAN_ASK_SA))
        return SA_SILENT;
    if (is_given_up(t, q))
        return t->run->sa.silence;
    enum sa_result result = ask(t, q, a);
    bool untold = result == SA_SILENT || result == SA_BUSY;
    t->run->sa.silences = untold ? t->run->sa.silences + 1 : 0;
    t->run->sa.silence = result;
    if (keeps && (result == SA_TOLD || result == SA_REFUSED))
        keep(t, q, result, a);
    return result;
}

const char *sa_silence_text(const struct target *t, enum sa_result result)
{
    if (result == SA_BUSY)
        return "the subnet administrator answers that it is busy";
    if (result != SA_BROKEN)
        return "no answer of the subnet administrator";
    return t->run->stopped ? "interrupted" : t->link->transport->error;
}

void sa_answer_clear(struct sa_answer *a)
{
    g_byte_array_unref(a->records);
}
