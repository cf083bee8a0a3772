/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses targets given by the user. See destination.h. */
#include "probe/run/destination.h"

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/fail.h"
#include "probe/run/address.h"
#include "probe/run/options.h"
#include "probe/run/text.h"
#include "wire/view.h"

enum { PREFIX_MIN4 = 16, PREFIX_MIN6 = 116 };

/* Reads the length of a prefix. */
static bool read_bits(const char *text, bool ipv6, unsigned *bits, GError **error)
{
    unsigned least = ipv6 ? PREFIX_MIN6 : PREFIX_MIN4, most = ipv6 ? 128 : 32;
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *bits = (unsigned)n;
    if (*text < '0' || *text > '9' || *end || n > most)
        fail_with(error, "'/%s' is no prefix length of IPv%c", text, ipv6 ? '6' : '4');
    else if (n < least)
        fail_with(error, "'/%s' has too many addresses: the largest prefix is /%u %s", text, least,
                  ipv6 ? "of IPv6 (each needs a query to the SA)" : "of IPv4");
    else
        return true;
    return false;
}

static void put_host_bits(struct target_option *t, uint32_t low)
{
    for (unsigned i = 0; i < 4; i++)
        t->ip[(t->ipv6 ? 12 : 0) + i] = (uint8_t)(low >> 8 * (3 - i));
}

/*
 * The host addresses; for IPv4 without the network and broadcast address if the prefix has more
 * than two addresses.
 */
static void take_prefix(struct target_option *t, unsigned bits)
{
    unsigned host_bits = (t->ipv6 ? 128 : 32) - bits;
    uint32_t size = (uint32_t)1 << host_bits, low = be32(t->ip + (t->ipv6 ? 12 : 0)) & ~(size - 1);
    bool edges = !t->ipv6 && host_bits > 1;
    t->prefix = true;
    t->n = size - (edges ? 2 : 0);
    put_host_bits(t, low + edges);
}

void destination_address(const struct target_option *t, uint32_t number, uint8_t ip[16])
{
    struct target_option at = *t;
    put_host_bits(&at, be32(t->ip + (t->ipv6 ? 12 : 0)) + number);
    memcpy(ip, at.ip, 16);
}

static bool is_of_hosts(const struct target_option *t, const char *text, GError **error)
{
    const char *why = address_is_no_host(t->ipv6, t->ip);
    return !why ||
           fail_with(error, "'%s' is not the address of %s: it %s %s", text,
                     t->prefix ? "hosts" : "one host", t->prefix ? "begins with" : "is", why);
}

static bool is_of_family(const struct target_option *t, const char *text, enum family family,
                         GError **error)
{
    bool other = family != FAMILY_ANY && t->ipv6 != (family == FAMILY_IPV6);
    return !other || fail_with(error, "'%s' is an IPv%c address, but -%c is given", text,
                               t->ipv6 ? '6' : '4', t->ipv6 ? '4' : '6');
}

/* parts: the address and, for a prefix, its length. */
static bool read_parts(struct target_option *t, const char *text, char **parts, enum family family,
                       GError **error)
{
    unsigned bits = 0;
    bool mapped;
    if (!parts[0] || !address_read(parts[0], &t->ipv6, &mapped, t->ip))
        return fail_with(
            error,
            "'%s' is no IPv4 or IPv6 address or prefix, no host name, and not the word fabric or node",
            text);
    if (!is_of_family(t, text, family, error))
        return false;
    if (parts[1] && mapped)
        return fail_with(
            error, "'%s' is a prefix of IPv4 addresses in IPv6: write the prefix as one of IPv4",
            text);
    if (parts[1] && !read_bits(parts[1], t->ipv6, &bits, error))
        return false;
    if (parts[1])
        take_prefix(t, bits);
    return is_of_hosts(t, text, error);
}

static bool take_zone(struct target_option *t, const char *text, const char *zone, GError **error)
{
    g_strlcpy(t->zone, zone, sizeof t->zone);
    if (*zone && !if_nametoindex(zone))
        return fail_with(error, "'%s': this host has no interface %s: ip -br link lists them", text,
                         zone);
    return !*zone || t->ipv6 ||
           fail_with(error, "'%s': only an IPv6 address may name its interface", text);
}

/* An address may name its interface: fe80::1%ib0, fe80::%ib0/120. */
static bool read_ip_address(struct target_option *t, const char *text, enum family family,
                            GError **error)
{
    size_t before = strcspn(text, "%"), zone = strcspn(text + before, "/");
    char *name = g_strndup(text + before, zone),
         *without = g_strdup_printf("%.*s%s", (int)before, text, text + before + zone);
    char **parts = g_strsplit(without, "/", 2); /* no part if text is "" */
    bool good = read_parts(t, text, parts, family, error) &&
                take_zone(t, text, *name ? name + 1 : "", error);
    g_strfreev(parts);
    g_free(without);
    g_free(name);
    return good;
}

/* ---- host names */

/*
 * Letters, digits, hyphens and dots, with a letter in the last label (RFC 1123 section 2.1): a
 * mistyped address is not taken for a name and not sent to a name server.
 */
static bool is_name(const char *text)
{
    const char *last = strrchr(text, '.');
    bool letter = false;
    for (const char *c = last && last[1] ? last + 1 : text; *c; c++)
        letter |= g_ascii_isalpha(*c);
    return letter && g_ascii_isalnum(text[0]) &&
           text[strspn(
               text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == '\0';
}

/*
 * Like inet_aton(), getaddrinfo() reads 0x7f000001 and 10.0x1 as addresses. They are rejected as
 * likely mistakes.
 */
static bool is_number(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *list = NULL;
    bool is = getaddrinfo(text, NULL, &hints, &list) == 0;
    if (is)
        freeaddrinfo(list);
    return is;
}

static void take_sockaddr(struct target_option *t, const struct sockaddr *sa)
{
    t->ipv6 = sa->sa_family == AF_INET6;
    if (t->ipv6)
        memcpy(t->ip, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, 16);
    else
        memcpy(t->ip, &((const struct sockaddr_in *)(const void *)sa)->sin_addr, 4);
}

/* Chooses the first address that a host on a link may have, in the order of RFC 6724. */
static const char *choose_address(struct target_option *t, const struct addrinfo *list)
{
    const char *why = "of no family that IP over InfiniBand has", *first = NULL;
    for (; list && why; list = list->ai_next) {
        if (list->ai_family != AF_INET && list->ai_family != AF_INET6)
            continue;
        memset(t->ip, 0, sizeof t->ip);
        take_sockaddr(t, list->ai_addr);
        why = address_is_no_host(t->ipv6, t->ip);
        first = first ? first : why;
    }
    return why && first ? first : why;
}

/* A name without an address of the wanted family may have one of the other. */
static const char *other_family_text(const char *text, enum family family)
{
    const struct addrinfo hints = {.ai_family = family == FAMILY_IPV4 ? AF_INET6 : AF_INET,
                                   .ai_socktype = SOCK_DGRAM};
    struct addrinfo *list = NULL;
    if (family == FAMILY_ANY || getaddrinfo(text, NULL, &hints, &list) != 0)
        return "";
    freeaddrinfo(list);
    return family == FAMILY_IPV4 ? "; it has an IPv6 address, but -4 is given"
                                 : "; it has an IPv4 address, but -6 is given";
}

static bool resolve_name(struct target_option *t, const char *text, enum family family,
                         GError **error)
{
    const struct addrinfo hints = {.ai_family = family == FAMILY_IPV4   ? AF_INET
                                                : family == FAMILY_IPV6 ? AF_INET6
                                                                        : AF_UNSPEC,
                                   .ai_socktype = SOCK_DGRAM};
    struct addrinfo *list = NULL;
    char ip[48];
    int failed = getaddrinfo(text, NULL, &hints, &list);
    const char *why = failed ? gai_strerror(failed) : choose_address(t, list);
    if (failed)
        return fail_with(error,
                         "'%s' is no IPv4 or IPv6 address or prefix, and as a host name: %s%s%s",
                         text, why, other_family_text(text, family),
                         if_nametoindex(text) ? "; -d names an interface" : "");
    freeaddrinfo(list);
    if (why)
        return fail_with(error, "the address of '%s' is %s", text, why);
    text_ip(t->ipv6, t->ip, ip);
    t->name = g_strdup_printf("%s (%s)", text, ip);
    return true;
}

/* ---- any target */

bool destination_read(struct target_option *t, const char *text, enum family family, GError **error)
{
    *t = (struct target_option){
        .fabric = strcmp(text, "fabric") == 0, .node = strcmp(text, "node") == 0, .n = 1};
    bool word = t->fabric || t->node;
    if (!*text)
        return fail_with(
            error,
            "a target is empty: give a host name, an IPv4 or IPv6 address, a prefix, or the word fabric or node");
    if (!word && is_name(text) && !is_number(text))
        return resolve_name(t, text, family, error);
    if (!word && !read_ip_address(t, text, family, error))
        return false;
    t->name = g_strdup(text);
    return true;
}
