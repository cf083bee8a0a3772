/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions between IP addresses: their keys, and the words for them. */
#include "analysis/unanswered.h"

struct sender sender_at(const struct watch *w, uint16_t lid, const struct ip *ip)
{
    return sender_with_ip(lid ? sender_of_lid(w, lid) : (struct sender){.known = 0}, ip);
}

const char *ip_text(char text[SENDER_TEXT_SIZE], const struct ip *ip)
{
    struct sender s = sender_with_ip((struct sender){.known = 0}, ip);
    return sender_text(text, &s);
}

struct question_key key_of_ips(const struct watch *w, enum question_kind kind,
                               const struct ip *from, const struct ip *to)
{
    return question_key(w, kind, packet_link_key(w->p), from->bytes, to->bytes);
}

struct ip ip_of_key(const uint8_t bytes[16])
{
    static const uint8_t zero[12];
    bool v4 = memcmp(bytes + IPV4_ADDRESS_SIZE, zero, sizeof zero) == 0;
    return ip_read(bytes, v4 ? IPV4_ADDRESS_SIZE : IPV6_ADDRESS_SIZE);
}
