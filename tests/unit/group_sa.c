/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See group_sa.h. */
#include "group_sa.h"

#include <string.h>

#include "sa_answer.h"
#include "wire/put.h"
#include "probe/link/transport.h"

enum { NO_RECORDS = 0x0300, REQ_INVALID = 0x0200 }; /* IBA 15.2.1.3 */

struct group_sa *group_sa;

struct group_at_sa *group_sa_find(const uint8_t *mgid)
{
    for (unsigned i = 0; i < GROUPS_MAX; i++)
        if (group_sa->groups[i].used && memcmp(group_sa->groups[i].mgid, mgid, 16) == 0)
            return &group_sa->groups[i];
    return NULL;
}

static struct group_at_sa *find_or_add(const uint8_t *mgid)
{
    struct group_at_sa *g = group_sa_find(mgid);
    for (unsigned i = 0; i < GROUPS_MAX && !g; i++)
        if (!group_sa->groups[i].used) {
            g = &group_sa->groups[i];
            *g = (struct group_at_sa){.used = true};
            memcpy(g->mgid, mgid, 16);
        }
    assert_non_null(g);
    return g;
}

struct group_at_sa *group_sa_add(const uint8_t *mgid, uint8_t held)
{
    struct group_at_sa *g = find_or_add(mgid);
    g->there = true;
    g->held = held;
    return g;
}

static uint16_t change(const struct sa_query *q, struct group_at_sa *g)
{
    uint8_t state = q->record[MCM_SCOPE_JOIN] & 0xf;
    if (q->method == SA_SET) {
        group_sa->sets++;
        if ((!g->there && !(q->mask & MCM_HAS_QKEY)) ||
            (group_sa->refuses_again && group_sa->host.up))
            return REQ_INVALID;
        g->there = true;
        g->held |= state;
        return 0;
    }
    group_sa->deletes++;
    if (group_sa->refuses_delete)
        return group_sa->refuses_delete;
    if (group_sa->host.comes_up_at_delete) {
        group_sa->host.up = true;
        g->held |= JOIN_FULL;
    }
    if (!(g->held & state))
        return REQ_INVALID;
    group_sa->leaks |= (state & JOIN_FULL) && (g->held & ~state & JOIN_SEND_ONLY_FULL);
    g->held &= (uint8_t)~state; /* o15-0.1.14: clears only the bits that the request names */
    return 0;
}

uint16_t group_sa_respond(const struct sa_query *q, uint8_t *record)
{
    struct group_at_sa *g = find_or_add(q->record + MCM_MGID);
    bool of_port = q->mask & MCM_HAS_PORT_GID;
    uint16_t status = q->method == SA_GET ? (of_port ? g->held : g->there) ? 0 : NO_RECORDS
                                          : change(q, g);
    memcpy(record, q->record, MCM_SIZE);
    sa_answer_group(record);
    record[MCM_SCOPE_JOIN] = (uint8_t)(0x20 | (group_sa->hides_states ? 0 : g->held));
    return status;
}

/* ---- the host */

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
char *__wrap_host_interface_on(const struct port_facts *port, uint16_t pkey);
char *__wrap_host_interface_on(const struct port_facts *port, uint16_t pkey)
{
    const struct host_of_test *h = &group_sa->host;
    bool is = h->up && h->port == port->port && ((h->pkey ^ pkey) & 0x7fff) == 0;
    return is ? g_strdup("ib0") : NULL;
}

bool __wrap_host_wants(const char *interface, const uint8_t *mgid);
bool __wrap_host_wants(const char *interface, const uint8_t *mgid)
{
    (void)mgid;
    assert_string_equal(interface, "ib0");
    return group_sa->host.wants_all;
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */
