/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DHCPv6 clients that no server answers, and addresses that are refused (RFC 8415). */
#include "analysis/dhcp.h"
#include "analysis/ip.h"
#include "analysis/question.h"
#include "rules/check_context.h"

enum { UDP_SIZE = 8, UDP_TO = 2 };
enum { XID_SIZE = 3, HEADER = 4, OPTION_HEADER = 4 };
enum { ADVERTISE = 2, REPLY = 7, RELEASE = 8, DECLINE = 9 };
enum { IA_NA = 3, IA_TA = 4, STATUS = 13, IA_PD = 25 };

static const struct name status_names[] = {
    {1, "UnspecFail"},   {2, "NoAddrsAvail"},  {3, "NoBinding"}, {4, "NotOnLink"},
    {5, "UseMulticast"}, {6, "NoPrefixAvail"}, {0, NULL},
};

/*
 * The size of the option after its header; of one that has options of its own, only what is before
 * these: they come next.
 */
static uint32_t step_of(uint16_t code, uint32_t size)
{
    uint32_t fields = code == IA_NA || code == IA_PD ? 12 : code == IA_TA ? 4 : size;
    return MIN(fields, size);
}

/* v: options. The first status that is no success, also in an IA; 0: there is none. */
static uint16_t status_of(struct view v)
{
    for (uint32_t at = 0; view_has(v, at, OPTION_HEADER) == WIRE_OK;) {
        uint16_t code = be16(v.p + at), size = be16(v.p + at + 2);
        at += OPTION_HEADER;
        if (view_has(v, at, size) != WIRE_OK)
            return 0;
        if (code == STATUS && size >= sizeof(uint16_t) && be16(v.p + at))
            return be16(v.p + at);
        at += step_of(code, size);
    }
    return 0;
}

static struct question_key key_of_client(const struct watch *w, const uint8_t *message)
{
    uint8_t xid[GID_SIZE] = {6};
    memcpy(xid + 1, message + 1, XID_SIZE);
    return question_key(w, QUESTION_DHCP, packet_link_key(w->p), NULL, xid);
}

static void refused(const struct watch *w, const struct question *q, uint16_t status)
{
    struct sender who = q ? sender_of_lid(w, q->lid) : sender_of_lid(w, port_to_lid(w->p->dst));
    const char *name = names_find(status_names, status);
    const struct event_key key = event_key(w, EVENT_DHCP_REFUSED, who.gid, NULL,
                                           UINT64_C(6) << 32 | (uint64_t)who.lid << 16 | status);
    watch_event(w, &key, &who, q ? q->first_frame : 0,
                "the DHCPv6 server refuses what it asks for: status %u, %s", status,
                name ? name : "unknown");
}

static void declined(const struct watch *w)
{
    struct sender who = sender_of(w->f, w->p);
    const struct event_key key = event_key(w, EVENT_DHCP_REFUSED, who.gid, NULL,
                                           UINT64_C(6) << 32 | (uint64_t)who.lid << 16);
    watch_event(w, &key, &who, 0,
                "it declines the address that the DHCPv6 server gave it (Decline): another host "
                "uses the address");
}

static void requested(const struct watch *w, const struct question_key *key, uint8_t type)
{
    struct question *q = NULL;
    if (type == DECLINE)
        declined(w);
    if (names_find(dhcp6_names, type))
        q = question_ask(w, key, w->p->ib.psn + UINT64_C(1));
    if (q)
        q->type = DHCP6 | type;
}

/* A Reply to a Release or a Decline may say that there was no such address, which is no trouble. */
static void responded(const struct watch *w, const struct question_key *key, struct view message)
{
    struct question *q = question_find(w, key);
    uint16_t status = status_of(view_from(message, HEADER));
    bool ends = q && (q->type == (DHCP6 | RELEASE) || q->type == (DHCP6 | DECLINE));
    if (status && !ends)
        refused(w, q, status);
    if (q)
        question_answer(w, q);
}

APART static void watch_message(const struct watch *w, const struct ip_datagram *d, uint16_t to)
{
    struct view message = view_from(d->body, UDP_SIZE);
    const struct question_key key = key_of_client(w, message.p);
    if (to == DHCP6_SERVER)
        requested(w, &key, message.p[0]);
    else if (message.p[0] == ADVERTISE || message.p[0] == REPLY)
        responded(w, &key, message);
}

void watch_dhcp6(const struct watch *w, const struct ip_datagram *d)
{
    if (d->address_size != IPV6_ADDRESS_SIZE || d->body.cap < UDP_SIZE + HEADER)
        return;
    uint16_t to = be16(d->body.p + UDP_TO);
    if (to == DHCP6_SERVER || to == DHCP6_CLIENT)
        watch_message(w, d, to);
}
