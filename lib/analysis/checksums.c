/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wrong checksums of IP datagrams in packets whose CRCs are right: the sender has computed them
 * wrong, as adapters did to which the computation was left, or a device on the way has changed the
 * datagram. Receivers drop it (RFC 1122 section 3.2.1.2, RFC 8200 section 8.1).
 *
 * The sum of an IPv4 header is cheap. What the datagram carries is summed only in a sample: who
 * computes the checksums of a protocol wrong shows it in the first datagrams.
 */
#include "analysis/ip.h"
#include "rules/check_context.h"
#include "wire/checksum.h"

enum {
    UDP_TO = 2,
    UDP_LENGTH = 4,
    UDP_CHECKSUM = 6,
    UDP_SIZE = 8,
    TCP_CHECKSUM = 16,
    ICMP_CHECKSUM = 2
};

/*
 * The sample, of each sender and protocol: the first SUMMED_FIRST datagrams, also after each wrong
 * one, and then one of SUMMED_EACH.
 */
enum { SUMMED_FIRST = 8, SUMMED_EACH = 16 };
enum { SENDERS = 1 << 10 };

/*
 * Of a protocol: is none of several senders right? Then the capture was rewritten, as to hide
 * addresses: hosts would not talk to each other for long.
 */
enum summed_protocol { SUM_HEADER, SUM_ICMP, SUM_TCP, SUM_UDP, SUM_ICMPV6, PROTOCOLS };
enum { ALL_WRONG_MIN = 8 };
struct sums {
    bool any_right, several, all_wrong;   /* several senders; all_wrong: it is reported */
    uint16_t lid;                         /* of the first wrong one */
    uint32_t wrong, frame;                /* how many, up to the limit; the first one's frame */
    struct event_key keys[ALL_WRONG_MIN]; /* the events of the first */
};

/* A cache: the sample of a sender that is overwritten by another begins again. */
struct summed {
    struct sums sums[PROTOCOLS];
    struct sample {
        struct port sender;
        uint32_t seen[2][PROTOCOLS]; /* datagrams since the first or a wrong one; [1]: in IPv6 */
        uint64_t fill[2];            /* of 64 bytes, an entry is found by fewer instructions */
    } samples[SENDERS];
};

NEW_HISTORY(summed, summed_new)

APART static void begin_sample(const struct watch *w, struct sample *s)
{
    *s = (struct sample){.sender = w->p->src};
}

static inline struct sample *sample_of(const struct watch *w)
{
    return &w->summed->samples[w->p->ib.slid % SENDERS];
}

static inline bool is_of_sender(const struct watch *w, const struct sample *s)
{
    return port_same(s->sender, w->p->src);
}

static inline uint32_t *seen_of(const struct watch *w, const struct ip_datagram *d,
                                enum summed_protocol protocol)
{
    struct sample *s = sample_of(w);
    if (!is_of_sender(w, s))
        begin_sample(w, s);
    return &s->seen[d->address_size == IPV6_ADDRESS_SIZE][protocol];
}

static inline bool is_in_sample(uint32_t seen)
{
    return seen < SUMMED_FIRST || seen % SUMMED_EACH == 0;
}

uint32_t *watch_udp_count(const struct watch *w, bool v4)
{
    struct sample *s = sample_of(w);
    bool is_known = is_of_sender(w, s) && (!v4 || w->summed->sums[SUM_HEADER].any_right);
    return is_known ? &s->seen[!v4][SUM_UDP] : NULL;
}

bool watch_is_summed(uint32_t seen)
{
    return is_in_sample(seen);
}

static inline bool is_header_right(const struct ip_datagram *d)
{
    return checksum_sum_is_right(d->header_size == IPV4_SIZE
                                     ? checksum_sum_20(ip_header(d))
                                     : checksum_sum(ip_header(d), d->header_size));
}

/* With the pseudo header; ICMP of IPv4 has none. */
APART static bool is_body_right(const struct ip_datagram *d)
{
    uint32_t addresses = 2u * d->address_size;
    if (d->protocol == PROTOCOL_ICMP)
        return checksum_sum_is_right(checksum_sum(d->body.p, d->length));
    uint64_t sum = d->from + addresses == d->body.p /* no options are in between */
                       ? checksum_sum(d->from, addresses + d->length)
                       : checksum_sum(d->body.p, d->length) + checksum_sum(d->from, addresses);
    return checksum_sum_is_right(sum + GUINT16_TO_BE(d->length) + GUINT16_TO_BE(d->protocol));
}

bool watch_sum_is_right(const struct watch *w, const struct ip_datagram *d)
{
    return w->summed->sums[SUM_UDP].any_right && is_body_right(d);
}

static const char names[PROTOCOLS][8] = {[SUM_HEADER] = "IPv4",
                                         [SUM_ICMP] = "ICMP",
                                         [SUM_TCP] = "TCP",
                                         [SUM_UDP] = "UDP",
                                         [SUM_ICMPV6] = "ICMPv6"};

static struct event_key key_of_all(const struct watch *w, unsigned protocol)
{
    return event_key(w, EVENT_WRONG_CHECKSUM, NULL, NULL, protocol);
}

static void take_back(const struct watch *w, const struct event_key *key)
{
    const struct link_event *e = event_table_find(w->sink->events, key);
    if (e)
        watch_take_back(w, e, 0);
}

/* One event is about all senders, instead of one for each. */
static void all_wrong(const struct watch *w, unsigned protocol)
{
    struct sums *s = &w->summed->sums[protocol];
    const struct sender nobody = {.known = 0};
    const struct event_key key = key_of_all(w, protocol);
    for (unsigned i = 0; i < ALL_WRONG_MIN && !s->all_wrong; i++)
        take_back(w, &s->keys[i]);
    s->all_wrong = true;
    watch_no_copy(w, &key); /* two ports may have one PSN */
    watch_event(w, &key, &nobody, s->frame,
                "no %s checksum of any sender is right since frame %u: a program has probably "
                "changed the capture, for example to hide addresses",
                names[protocol], s->frame);
}

/* Is the current packet, which has a wrong one, the next of many senders' without a right one? */
static bool are_all_wrong(const struct watch *w, struct sums *s, const struct event_key *key)
{
    if (s->any_right)
        return false;
    if (!s->wrong) {
        s->frame = w->p->at.frame;
        s->lid = w->p->ib.slid;
    }
    s->several |= s->lid != w->p->ib.slid;
    if (s->wrong < ALL_WRONG_MIN)
        s->keys[s->wrong++] = *key;
    return s->several && s->wrong == ALL_WRONG_MIN;
}

/* One is right, so the others are their senders' fault. */
APART static void not_all_wrong(const struct watch *w, unsigned protocol)
{
    const struct event_key key = key_of_all(w, protocol);
    w->summed->sums[protocol].any_right = true;
    take_back(w, &key);
}

static void right(const struct watch *w, unsigned protocol)
{
    if (!w->summed->sums[protocol].any_right)
        not_all_wrong(w, protocol);
}

APART static void wrong(const struct watch *w, const struct ip_datagram *d, unsigned protocol)
{
    struct sender who = sender_of(w->f, w->p);
    struct ip from = ip_sender(d);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_WRONG_CHECKSUM, who.gid, from.bytes,
                                           (uint64_t)(protocol + 1) << 16 | w->p->ib.slid);
    if (are_all_wrong(w, &w->summed->sums[protocol], &key)) {
        all_wrong(w, protocol);
        return;
    }
    watch_event(w, &key, &who, 0,
                "it sends to %s a datagram with a wrong %s checksum: the receiver drops it",
                ip_receiver_text(to, d), names[protocol]);
}

APART static void udp_too_long(const struct watch *w, const struct ip_datagram *d)
{
    struct sender who = sender_of(w->f, w->p);
    struct ip from = ip_sender(d);
    char to[SENDER_TEXT_SIZE];
    const struct event_key key = event_key(w, EVENT_INVALID_HEADER, who.gid, from.bytes,
                                           UINT64_C(1) << 48 | w->p->ib.slid);
    watch_event(w, &key, &who, 0,
                "it sends to %s with the length %u in the UDP header, but %u bytes are there: the "
                "receiver drops the datagram",
                ip_receiver_text(to, d), be16(d->body.p + UDP_LENGTH), d->length);
}

APART static void watch_sum(const struct watch *w, const struct ip_datagram *d,
                            enum summed_protocol protocol)
{
    if (is_body_right(d)) {
        right(w, protocol);
        return;
    }
    *seen_of(w, d, protocol) = 0;
    wrong(w, d, protocol);
}

/* Captured whole, it is summed if it belongs to the sample. */
static inline void watch_body(const struct watch *w, const struct ip_datagram *d,
                              enum summed_protocol protocol)
{
    if (d->body.cap < d->length)
        return;
    if (is_in_sample((*seen_of(w, d, protocol))++))
        watch_sum(w, d, protocol);
}

/*
 * Over IPv4 a checksum of 0 is none. Over IPv6 receivers drop it (RFC 8200 section 8.1), but for
 * tunnels, which may be allowed to send it (RFC 6935).
 */
static inline bool may_lack_checksum(const struct ip_datagram *d)
{
    enum { LISP = 4341, GRE = 4754, VXLAN = 4789, ROCE2 = 4791, GENEVE = 6081, MPLS = 6635 };
    if (d->address_size == IPV4_ADDRESS_SIZE)
        return true;
    uint16_t to = be16(d->body.p + UDP_TO);
    return to == LISP || to == GRE || to == VXLAN || to == ROCE2 || to == GENEVE || to == MPLS;
}

/*
 * The length is that of the UDP header, which may be shorter than the datagram; 0 is a jumbogram's
 * (RFC 2675).
 */
static inline void watch_udp(const struct watch *w, const struct ip_datagram *d)
{
    if (d->body.cap < UDP_SIZE)
        return;
    uint32_t length = be16(d->body.p + UDP_LENGTH);
    if (length > d->length)
        udp_too_long(w, d);
    else if (length == d->length && (be16(d->body.p + UDP_CHECKSUM) || !may_lack_checksum(d)))
        watch_body(w, d, SUM_UDP);
}

static void watch_tcp_or_icmp(const struct watch *w, const struct ip_datagram *d)
{
    bool v4 = d->address_size == IPV4_ADDRESS_SIZE;
    if (d->protocol == PROTOCOL_TCP && d->length >= TCP_CHECKSUM + sizeof(uint16_t))
        watch_body(w, d, SUM_TCP);
    else if (d->protocol == (v4 ? PROTOCOL_ICMP : PROTOCOL_ICMPV6) &&
             d->length >= ICMP_CHECKSUM + sizeof(uint16_t))
        watch_body(w, d, v4 ? SUM_ICMP : SUM_ICMPV6);
}

/* Returns whether it is right. */
static inline bool watch_ipv4_header(const struct watch *w, const struct ip_datagram *d)
{
    bool is_right = is_header_right(d);
    if (is_right)
        right(w, SUM_HEADER);
    else
        wrong(w, d, SUM_HEADER);
    return is_right;
}

void watch_ip_checksums(const struct watch *w, const struct ip_datagram *d)
{
    if (packet_integrity(w->p) != INTEGRITY_INTACT)
        return;
    if (d->address_size == IPV4_ADDRESS_SIZE && !watch_ipv4_header(w, d))
        return;
    if (d->protocol == PROTOCOL_UDP)
        watch_udp(w, d);
    else
        watch_tcp_or_icmp(w, d);
}
