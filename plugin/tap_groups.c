/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -z ipoib,groups: the IPoIB multicast groups, as the SA reported them. */
#include "plugin/protocol.h"
#include "plugin/state.h"
#include "plugin/tap.h"

#include <arpa/inet.h>

static void cell_ip_group(struct rows *rows, const uint8_t *gid)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct mgid m = mgid_read(gid);
    if (m.signature == MGID_SIGNATURE_IPV4)
        inet_ntop(AF_INET, m.ipv4, text, sizeof text);
    else
        inet_ntop(AF_INET6, m.ipv6, text, sizeof text);
    cell_text(rows, "%s%s", text, m.broadcast ? " (broadcast)" : "");
}

/* Parameters from the group's MCMemberRecord. */
static void cells_record(struct rows *rows, const struct group *g)
{
    uint32_t bytes = ib_mtu_bytes(g->mtu);
    const char *rate = names_find(ib_rate_names, g->rate);
    cell_text(rows, "0x%04x", g->mlid);
    cell_text(rows, bytes ? "%u" : "code %u", bytes ? bytes : g->mtu);
    cell_text(rows, "0x%08x", g->qkey);
    cell_text(rows, "%u", g->sl);
    if (rate)
        cell_text(rows, "%s", rate);
    else
        cell_text(rows, "code %u", g->rate);
}

/* The group is known, but its record is not: a request named it, or the SA rejected it. */
static void cells_unknown(struct rows *rows)
{
    for (unsigned i = 0; i < 5; i++)
        cell_text(rows, "-");
}

static void add_group_row(struct rows *rows, const struct group *g)
{
    static const char *const states[] = {[GROUP_UNCONFIRMED] = "unconfirmed",
                                         [GROUP_PRESENT] = "present",
                                         [GROUP_MISSING] = "missing",
                                         [GROUP_DELETED] = "deleted"};
    cell_gid(rows, g->mgid);
    cell_ip_group(rows, g->mgid);
    cell_pkey(rows, be16(g->mgid + MGID_PKEY));
    cell_interface(rows, g->interface);
    if (g->records)
        cells_record(rows, g);
    else
        cells_unknown(rows);
    cell_number(rows, g->members);
    cell_frame(rows, g->frame);
    cell_text(rows, "%s", states[g->state]);
}

static void fill_groups(struct rows *rows)
{
    const struct fabric_facts *f = state_facts();
    for (unsigned i = 0; i < groups_count(f->groups); i++) {
        const struct group *g = groups_at(f->groups, i);
        if (mgid_is_ipoib(g->mgid))
            add_group_row(rows, g);
    }
}

void tap_groups_register(void)
{
    static const struct column columns[] = {
        {.name = "MGID"},
        {.name = "IP group"},
        {.name = "P_Key"},
        {.name = "Interface", .digits = true},
        {.name = "MLID"},
        {.name = "MTU", .digits = true},
        {.name = "Q_Key"},
        {.name = "SL", .digits = true},
        {.name = "Rate"},
        {.name = "Members", .number = true},
        {.name = "Last reported in", .digits = true},
        {.name = "State"},
    };
    static const struct tap_table groups = {"ipoib,groups",
                                            "IPoIB Groups",
                                            "the SA reported no IPoIB group",
                                            columns,
                                            array_length(columns),
                                            fill_groups,
                                            NULL,
                                            NULL};
    table_register(&groups);
}
