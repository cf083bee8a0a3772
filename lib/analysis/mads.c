/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of other management classes than those that have files of their own, to which a port
 * does not answer, or which it refuses: performance management (perfquery), vendors' classes,
 * congestion control.
 */
#include "analysis/question.h"
#include "wire/put.h"

enum { GET = 0x01, SET = 0x02, GET_RESP = 0x81 };
/* Places in the key's about. */
enum { KEY_PORT = 0, KEY_CLASS = 8, KEY_ATTRIBUTE = 9, KEY_MODIFIER = 11 };

static const struct name class_names[] = {
    {0x04, "performance management"}, {0x05, "baseboard management"}, {0x06, "device management"},
    {0x08, "SNMP tunneling"},         {0x21, "congestion control"},   {0, NULL},
};

/* The modifier begins with the port of a switch. */
static struct question_key key_of(const struct watch *w, struct port requester, struct port target)
{
    const struct mad *mad = &w->p->mad.mad;
    uint8_t about[GID_SIZE] = {0};
    put64(about + KEY_PORT, target.id);
    about[KEY_CLASS] = mad->class;
    put16(about + KEY_ATTRIBUTE, mad->attribute);
    put32(about + KEY_MODIFIER, mad->modifier);
    return question_key(w, QUESTION_MAD, requester.id, NULL, about);
}

void mad_unanswered(const struct watch *w, struct question *q)
{
    uint8_t class = q->key.about[KEY_CLASS];
    const char *name = names_find(class_names, class);
    struct sender who = sender_of_lid(w, q->peer);
    const struct event_key key = event_key(w, EVENT_MAD_UNANSWERED, who.gid, NULL,
                                           (uint64_t) class << 16 | q->peer);
    watch_no_copy(w, &key);
    watch_event(
        w, &key, &who, q->first_frame,
        "it has not answered the requests of LID %u: %s (class 0x%02x), attribute 0x%04x: %u "
        "since frame %u",
        q->lid, name ? name : "a vendor's or another class", class,
        be16(q->key.about + KEY_ATTRIBUTE), q->waited, q->first_frame);
}

static void refused(const struct watch *w)
{
    const struct mad *mad = &w->p->mad.mad;
    const char *name = names_find(class_names, mad->class);
    struct sender who = sender_of_lid(w, port_to_lid(w->p->src));
    const struct event_key key = event_key(w, EVENT_MAD_REFUSED, who.gid, NULL,
                                           (uint64_t)mad->class << 56 |
                                               (uint64_t)mad->attribute << 32 |
                                               (uint64_t)mad->status << 16 | who.lid);
    watch_event(
        w, &key, &who, 0,
        "it answers a request of LID %u with status 0x%04x, %s: %s (class 0x%02x), attribute "
        "0x%04x",
        port_to_lid(w->p->dst), mad->status, sa_status_name(mad->status),
        name ? name : "a vendor's or another class", mad->class, mad->attribute);
}

/* Two requests may have one PSN or one transaction ID, but not both: then it is a copy. */
void watch_mad_requests(const struct watch *w)
{
    const struct packet *p = w->p;
    uint8_t method = p->mad.mad.method;
    if (!p->ib.has_lrh || !port_to_lid(p->src) || !port_to_lid(p->dst) || packet_is_corrupt(p))
        return;
    if (method == GET || method == SET) {
        const struct question_key key = key_of(w, p->src, p->dst);
        question_ask(w, &key, (p->mad.mad.tid << 24 ^ p->ib.psn) + 1);
    } else if (method == GET_RESP) {
        const struct question_key key = key_of(w, p->dst, p->src);
        struct question *q = question_find(w, &key);
        if (q)
            question_answer(w, q);
        if (p->mad.mad.status)
            refused(w);
    }
}
