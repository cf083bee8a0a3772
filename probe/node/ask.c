/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the SA. See ask.h. */
#include "probe/node/ask.h"

#include <errno.h>
#include <string.h>

#include "hca/client.h"
#include "probe/link/answer.h"
#include "probe/node/turn.h"

/* The client waits 200 ms more for a late answer, and sends a request three times in this time. */
enum { WAIT_MS = 500 };
#define UMAD_MODULE "/sys/class/infiniband_mad/abi_version"

/* One for each port. */
struct port_question {
    guint first; /* index of the port's first link */
    struct node_link *about;
    struct umad_sa *sa;
    int error; /* errno of opening it */
    const volatile int *stop;
    GThread *thread;
};

struct node_questions {
    GArray *links, *all; /* struct node_link, struct port_question */
};

static struct node_link *link_at(const GArray *links, guint i)
{
    return &g_array_index(links, struct node_link, i);
}

static bool is_first_of_port(const GArray *links, guint at)
{
    for (guint i = 0; i < at; i++)
        if (node_same_port(link_at(links, i), link_at(links, at)))
            return false;
    return true;
}

static bool may_be_asked(const GArray *links, guint first)
{
    for (guint i = first; i < links->len; i++)
        if (link_at(links, i)->answer == NODE_NOT_ASKED &&
            node_same_port(link_at(links, i), link_at(links, first)))
            return true;
    return false;
}

struct node_questions *node_questions_open(GArray *links)
{
    struct node_questions *q = g_new0(struct node_questions, 1);
    q->links = links;
    q->all = g_array_new(FALSE, TRUE, sizeof(struct port_question));
    for (guint i = 0; i < links->len; i++) {
        struct port_question one = {.first = i};
        const struct choice *c = &link_at(links, i)->at;
        if (!is_first_of_port(links, i) || !may_be_asked(links, i))
            continue;
        one.error = g_file_test(UMAD_MODULE, G_FILE_TEST_EXISTS)
                        ? umad_sa_open(&one.sa, c->device, c->port)
                        : ENOENT; /* libibumad would print a warning */
        g_array_append_val(q->all, one);
    }
    return q;
}

void node_questions_close(struct node_questions *q)
{
    for (guint i = 0; i < q->all->len; i++)
        umad_sa_close(g_array_index(q->all, struct port_question, i).sa);
    g_array_unref(q->all);
    g_free(q);
}

/* ---- the answer */

/* IBA 13.4.7: a port without an SA refuses the method or the attribute. */
static bool is_without_sa(uint16_t status)
{
    return !(status & SA_STATUS_MASK) && (status & 0x001c);
}

static enum node_answer answer_of(struct node_link *l, const struct sa_query *q,
                                  const struct sa_response *a)
{
    l->status = a->status;
    if (a->status & MAD_STATUS_BUSY)
        return NODE_BUSY;
    if (a->status == SA_STATUS_NO_RECORDS)
        return NODE_NOT_MEMBER;
    if (a->status)
        return is_without_sa(a->status) ? NODE_NO_SA : NODE_REFUSED;
    if (!answer_fits(q, a, NULL, (struct answer_fault){l->why, sizeof l->why}))
        return NODE_NO_FIT;
    l->group = mc_group_read(a->records->data);
    return NODE_MEMBER;
}

static void take_outcome(struct node_link *l, enum sa_outcome outcome, const struct sa_query *q,
                         const struct sa_response *a)
{
    if (outcome == SA_OK)
        l->answer = answer_of(l, q, a);
    else if (outcome == SA_NOTHING)
        l->answer = NODE_NO_RESPONSE;
    else if (outcome != SA_INTERRUPTED)
        l->answer = NODE_NO_UMAD; /* why has the reason */
}

static gpointer ask(gpointer user)
{
    struct port_question *one = user;
    struct node_link *l = one->about;
    struct sa_query q = mc_query_member(l->mgid, l->gid);
    struct sa_response a = {.records = g_byte_array_new()};
    gint64 begin = g_get_monotonic_time();
    enum sa_outcome outcome = umad_sa_query(one->sa, &q, WAIT_MS, one->stop, &a, l->why,
                                            sizeof l->why);
    l->answer_seconds = (double)(g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
    take_outcome(l, outcome, &q, &a);
    g_byte_array_unref(a.records);
    return NULL;
}

static void report_unopened(struct port_question *one)
{
    bool denied = one->error == EACCES || one->error == EPERM;
    one->about->answer = denied ? NODE_NO_PRIVILEGE : NODE_NO_UMAD;
    g_strlcpy(one->about->why,
              one->error == ENOENT ? "the module ib_umad is not loaded" : g_strerror(one->error),
              sizeof one->about->why);
}

void node_questions_ask(struct node_questions *q, const struct node_state *s,
                        const volatile int *stop)
{
    for (guint i = 0; i < q->all->len; i++) {
        struct port_question *one = &g_array_index(q->all, struct port_question, i);
        one->about = link_at(q->links, (guint)node_turn(q->links, one->first, s));
        one->stop = stop;
        if (one->error)
            report_unopened(one);
        else
            one->thread = g_thread_new("ask", ask, one);
    }
    for (guint i = 0; i < q->all->len; i++) {
        GThread *thread = g_array_index(q->all, struct port_question, i).thread;
        if (thread)
            g_thread_join(thread);
    }
}
