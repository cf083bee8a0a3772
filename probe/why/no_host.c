/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nobody replies for the address: which ports of the subnet may have it? */
#include "probe/exchange/records.h"
#include "probe/link/advice.h"
#include "probe/link/hostnet.h"
#include "probe/why/members.h"

/* "'n2 HCA-1' (LID 4), whose address is not known here, has it". Free with g_free(). */
static char *who_text(const struct port_names *p)
{
    return p->n == 1 ? g_strdup_printf("%s, whose address is not known here, has it", p->names->str)
           : p->n <= NAMED
               ? g_strdup_printf("one of the ports with LID %s, whose addresses are not "
                                 "known here, has it",
                                 p->lids->str)
               : g_strdup_printf("one of %u members of the group, whose addresses are "
                                 "not known here, has it",
                                 p->n);
}

/*
 * A member of the group that is silent may have the address. "": every member's address is known
 * here, or the SA does not disclose members. Free with g_free().
 */
static char *nameless_text(const struct diagnosis *d, const struct subnet_ports *ports)
{
    const struct port_names *p = &ports->nameless;
    uint16_t lid = ports->without_path;
    if (!p->n)
        return g_strdup("");
    if (lid)
        return g_strdup_printf(
            "; or LID %u has it, which is in the group's list, and to which the SA "
            "has no path in 0x%04x: its port is no longer in the partition",
            lid, d->t->link->pkey | 0x8000);
    bool reply = ports->replies.asked && !ports->replies.silent;
    if (reply && p->n > 1) /* nothing tells them apart */
        return g_strdup("");
    char *who = who_text(p);
    char *text = g_strdup_printf(reply ? "; or %s, and replies to ping of its link-local address, "
                                         "and to no request to its queue pair: its ARP is off or "
                                         "filtered"
                                       : "; or %s, and its replies are lost, filtered or have a "
                                         "wrong P_Key or Q_Key",
                                 who);
    g_free(who);
    return text;
}

/* What could not be looked at, so that the cause may be another one. */
static const char *not_looked_at(const struct diagnosis *d)
{
    if (!transport_can(d->t->link->transport, CAN_QUERY_SA))
        return "; the SA cannot be queried through a network interface, so the peer may also be "
               "off this link";
    return d->t->link->sm_key ? "" : "; the SA does not say which ports are on this link";
}

/* " (this one has 10.0.0.2/24)", or that its prefix may be too short. Free with g_free(). */
static char *network_text(const struct diagnosis *d)
{
    char *own = d->interface ? hostnet_text_of(d->interface, d->t->ipv6) : g_strdup("");
    bool wide = d->interface && hostnet_is_wide(d->interface, d->t->ipv6, d->t->ip);
    char *text = !*own  ? g_strdup("")
                 : wide ? g_strdup_printf(", or it is behind a router, and the prefix of %s, %s, "
                                          "is too short",
                                          d->interface, own)
                        : g_strdup_printf(" (this one has %s)", own);
    g_free(own);
    return text;
}

/* rail: another interface on whose link it may be; NULL: none. */
static char *command_text(const struct diagnosis *d, const char *rail)
{
    GString *command = g_string_new(
        "check the address; on the host that should have it: ipoib-probe fabric");
    if (rail)
        g_string_append_printf(command, "; ipoib-probe -d %s %.*s", rail, target_word(d->t),
                               d->t->name);
    diagnosis_try_partitions(d, command);
    return g_string_free(command, FALSE);
}

bool why_member_has_it(struct diagnosis *d)
{
    const struct subnet_ports *p = members_find(d);
    if (!p->owner)
        return false;
    char *who = g_strdup_printf("LID %u has the address: it", p->owner);
    bool holds = diagnosis_not_delivered(d, who, p->owner, true);
    g_free(who);
    return holds;
}

static bool has_reply(const struct diagnosis *d)
{
    for (unsigned i = 0; i < d->n_others; i++)
        if (d->others[i].by_group || d->others[i].by_unicast)
            return true;
    return false;
}

/* The link could be opened, but the kernels of this host and of others get no path. */
bool why_sa_busy_now(struct diagnosis *d)
{
    struct port_words w;
    advice_name_port(d->t->link, &w);
    return members_find(d)->sa_busy &&
           diagnosis_holds(d,
                           g_strdup("it answers PathRecord queries with BUSY, and without a path "
                                    "this host's kernel sends no packet to a host"),
                           g_strdup_printf("test again; then smpquery %s nodedesc %u names the "
                                           "host whose load to check",
                                           w.diags, d->t->link->transport->facts.sm_lid));
}

bool why_members_silent(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    const struct subnet_ports *p = members_find(d);
    struct port_replies r = p->replies;
    return r.asked > 1 && r.silent == r.asked && !has_reply(d) &&
           diagnosis_holds(
               d,
               g_strdup_printf("the ports with LID %s are members of the group and have link-local "
                               "addresses, which do not answer this host's ping either%s: the "
                               "packets of %s port %u, or those to it, are lost",
                               p->nameless.lids->str,
                               !r.managers_asked   ? ""
                               : r.managers_silent ? ", nor do their connection managers"
                                                   : ", though their connection managers answer",
                               f->device, f->port),
               g_strdup_printf("perfquery -C %s -P %u; iblinkinfo -C %s -P %u; nft list ruleset",
                               f->device, f->port, f->device, f->port));
}

/* Of the members whose addresses are not known here, one does not answer as the others do. */
bool why_one_is_silent(struct diagnosis *d)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    struct port_replies r = members_find(d)->replies;
    if (r.asked < 2 || r.silent != 1)
        return false;
    char *name = records_name_text(d->t, r.silent_lid);
    diagnosis_holds(
        d,
        g_strdup_printf("LID %u%s is a member of the group, and its link-local address does not "
                        "answer, as those of others do. If the address is its, %s",
                        r.silent_lid, name,
                        r.manager_answers
                            ? "packets to groups do not reach it, what it sends over UD is lost "
                              "or has a wrong P_Key or Q_Key, or it filters ND; its kernel answers "
                              "a connection request"
                            : "its host hangs, or packets to it or from it are lost; else no host "
                              "has the address"),
        r.manager_answers
            ? g_strdup_printf("on that host: ipoib-probe fabric; nft list ruleset; set the "
                              "interface down and up; here: perfquery -C %s -P %u",
                              f->device, f->port)
            : g_strdup_printf("look at that host; ibtracert -C %s -P %u %u %u; perfquery -C %s -P "
                              "%u %u",
                              f->device, f->port, f->lid, r.silent_lid, f->device, f->port,
                              r.silent_lid));
    g_free(name);
    return true;
}

bool why_lost_group(struct diagnosis *d)
{
    uint16_t lid = members_find(d)->lost_group;
    if (!lid)
        return false;
    char *name = records_name_text(d->t, lid);
    diagnosis_holds(
        d,
        g_strdup_printf("LID %u%s is in the group for neighbour solicitations of its link-local "
                        "address, so its interface is up in 0x%04x, and it is not in the broadcast "
                        "group: it has lost that membership, and no ARP request reaches it. If the "
                        "address is not its: no such host, or it is off",
                        lid, name, d->t->link->pkey | 0x8000),
        g_strdup("on that host, set the interface down and up: it joins again; ipoib-probe "
                 "fabric"));
    g_free(name);
    return true;
}

/* This host's interface may have the wrong P_Key. */
bool why_other_members(struct diagnosis *d)
{
    const struct subnet_ports *p = members_find(d);
    unsigned pkey = p->other_pkey | 0x8000u;
    char *who = p->in_other == MIN(p->outside.n, (unsigned)NAMED)
                    ? g_strdup("they are")
                    : g_strdup_printf("%u of these %s", p->in_other,
                                      p->in_other == 1 ? "is" : "are");
    bool holds =
        p->in_other &&
        diagnosis_holds(
            d,
            g_strdup_printf(
                "of %u other ports of the subnet %u are not in the broadcast group "
                "of 0x%04x: %s%s; %s in the group of 0x%04x, of which this "
                "port is a member too: is the P_Key of %s right? If it is, the host is off, or its "
                "interface is down or has lost the group",
                p->others, p->outside.n, d->t->link->pkey | 0x8000, p->outside.names->str,
                p->outside.n > NAMED ? " and more" : "", who, pkey,
                d->interface ? d->interface : "this host's interface"),
            g_strdup_printf("ipoib-probe --pkey 0x%04x %.*s; ip -d link show type ipoib", pkey,
                            target_word(d->t), d->t->name));
    g_free(who);
    return holds;
}

bool why_ports_outside(struct diagnosis *d)
{
    const struct subnet_ports *p = members_find(d);
    char *nameless = nameless_text(d, p);
    bool holds =
        p->outside.n &&
        diagnosis_holds(
            d,
            g_strdup_printf(
                "of %u other ports of the subnet %u are not in the broadcast "
                "group of 0x%04x: %s%s. If the address is one of theirs, its "
                "interface is down, in another partition or has lost the group; else the host "
                "is off, or its ARP is off or filtered%s",
                p->others, p->outside.n, d->t->link->pkey | 0x8000, p->outside.names->str,
                p->outside.n > NAMED ? " and more" : "", nameless),
            g_strdup("on that host: ipoib-probe fabric"));
    g_free(nameless);
    return holds;
}

/* Another host replied to a request to the group: the switches deliver what this port sends. */
static bool has_group_reply(const struct diagnosis *d)
{
    bool has = false;
    for (unsigned i = 0; i < d->n_others; i++)
        has |= d->others[i].by_group;
    return has;
}

/* "; or it is on the link of ib1 (crossed cables?)", and more. Free with g_free(). */
static char *elsewhere_text(struct diagnosis *d, const char *rail)
{
    char *nameless = nameless_text(d, members_find(d));
    bool delivered = has_group_reply(d) || (rail && *nameless); /* at most three causes */
    char *text = g_strdup_printf(
        "%s%s%s%s%s%s", rail ? "; or it is on the link of " : "", rail ? rail : "",
        rail ? " (crossed cables?)" : "", nameless,
        delivered ? "" : "; or the switches do not deliver the group to it", not_looked_at(d));
    g_free(nameless);
    return text;
}

bool why_no_host(struct diagnosis *d)
{
    char *rail = why_other_rail(d), *network = network_text(d),
         *elsewhere = elsewhere_text(d, rail);
    bool holds = diagnosis_holds(
        d,
        g_strdup_printf(
            "nothing wrong was found on this side%s: no host of this link has the "
            "address%s, or its host, cable, interface or %s is off%s",
            has_group_reply(d) ? ", and another host replies to requests to the same group" : "",
            network, d->t->ipv6 ? "ND" : "ARP", elsewhere),
        command_text(d, rail));
    g_free(rail);
    g_free(network);
    g_free(elsewhere);
    return holds;
}
