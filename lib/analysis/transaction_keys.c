/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request to the SA or of a subnet manager is about: the key of its question. */
#include "analysis/sa_requests.h"
#include "analysis/smps.h"
#include "wire/put.h"

/* ---- to the SA */

enum question_kind sa_question_kind(uint16_t attribute, uint8_t method)
{
    if (attribute == SA_MC_MEMBER_RECORD && method == SA_SET)
        return QUESTION_JOIN;
    if (attribute == SA_MC_MEMBER_RECORD && method == SA_DELETE)
        return QUESTION_LEAVE;
    return attribute == SA_PATH_RECORD && method == SA_GET ? QUESTION_PATH : QUESTION_SA;
}

struct question_key sa_question_key(struct port requester, uint16_t attribute, uint8_t method,
                                    const uint8_t *record)
{
    enum question_kind kind = sa_question_kind(attribute, method);
    struct question_key key = {
        .kind = kind, .subnet = port_interface(requester), .requester = requester.id};
    if (record)
        memcpy(key.about, record + sa_gid_place(attribute).gid, GID_SIZE);
    if (kind != QUESTION_SA)
        return key;
    key.who[SA_KEY_METHOD] = method;
    put16(key.who + SA_KEY_ATTRIBUTE, attribute);
    if (record && attribute == SA_INFORM_INFO)
        memcpy(key.who + SA_KEY_TRAP, record + INFORM_TRAP, sizeof(uint16_t));
    return key;
}

/* ---- of a subnet manager */

/* The routes of two managers start at different ports; the upper half of the TID names the agent.
 */
struct question_key smp_key_without_route(struct port port, const struct mad *mad)
{
    struct question_key key = {.kind = QUESTION_SMP, .subnet = port_interface(port)};
    put16(key.who + SMP_KEY_ATTRIBUTE, mad->attribute);
    put32(key.who + SMP_KEY_MODIFIER, mad->modifier);
    put32(key.who + SMP_KEY_AGENT, (uint32_t)(mad->tid >> 32));
    return key;
}

struct question_key smp_key_of(const struct mad_transaction *t)
{
    const struct mad mad = {
        .attribute = t->attribute, .modifier = (uint32_t)t->mask, .tid = t->tid};
    struct question_key key = smp_key_without_route(t->port, &mad);
    if (t->method == SMP_SET)
        key.who[SMP_KEY_METHOD] = SMP_SET;
    memcpy(key.about, t->record, GID_SIZE);
    return key;
}
