/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of switches, as the subnet manager sets them (IBA 14.2.5.8 to 14.2.5.12), that cut a port
 * off: its LID leads to another port of the switch at which it is, or to none; the group of which
 * it is a member does not lead to it; or the SL of a path is mapped to VL 15, which discards. They
 * are looked up when a request has no answer, and no packet but those with tables costs anything.
 *
 * Only the switch at which the port is counts: on the others, several ports may lead to it. A port
 * that is gone has no entry either, so the port must have sent a packet since.
 */
#include "analysis/forwarding.h"

#include <inttypes.h>

#include "analysis/path_sls.h"
#include "analysis/smps.h"

/* Caches. */
enum { BLOCKS = 1 << 7, MAPS = 1 << 10, NODES = 1 << 12 };
enum { LFT_ENTRIES = SMP_DATA_SIZE, MFT_ENTRIES = SMP_DATA_SIZE / 2, MFT_BLOCK = 0x1ff };
enum { SL2VL_SIZE = 8, VL_DISCARDS = 15, NO_PORT = 0xff };

struct forwarding {
    struct node {
        uint64_t id; /* of the route; 0: unused */
        uint64_t guid;
        uint8_t hops[GID_SIZE]; /* their number, and their ports */
        uint32_t agent;         /* of the subnet manager */
        uint32_t frame;         /* of the first NodeInfo with this GUID */
        uint16_t subnet;
    } nodes[NODES];
    struct block {
        uint64_t guid; /* of the switch; 0: unused */
        uint32_t attribute, modifier;
        uint32_t set_frame; /* of the last Set */
        uint64_t tid;       /* the same */
        uint8_t data[SMP_DATA_SIZE];
        /* when an entry lost its port, or some; 0: never; and the port of an LFT, or those of an
         * MFT
         */
        uint32_t frames[LFT_ENTRIES];
        uint16_t lost[LFT_ENTRIES];
    } blocks[BLOCKS];
    struct sl_map {
        uint64_t guid;     /* of the switch; 0: unused */
        uint32_t ports;    /* the modifier: where packets come in, and go out */
        uint32_t frame;    /* since when SLs are discarded */
        uint16_t discards; /* SLs, a bit each */
    } maps[MAPS];
    bool any;
};

NEW_HISTORY(forwarding, forwarding_new)

/* ---- the nodes at the ends of the subnet manager's routes */

/* The lowest bit of all numbers is 1. */
static struct node *node_at(const struct watch *w, uint64_t id)
{
    return &w->forwarding->nodes[id >> 1 & (NODES - 1)];
}

static uint32_t agent_of(const struct smp *s)
{
    return (uint32_t)(s->mad.tid >> 32);
}

/* The number of the packet's route; 0: it has none, or more hops than are kept. */
static uint64_t route_id(const struct watch *w)
{
    return route_hops(w) ? route_number(w) : 0;
}

void watch_node(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    struct node_info i;
    uint64_t id = s->mad.method == SMP_GET_RESP && !packet_is_corrupt(w->p) && smp_says(s)
                      ? route_id(w)
                      : 0;
    if (!id || smp_node_info(s, &i) != WIRE_OK)
        return;
    struct node *n = node_at(w, id);
    if (n->id == id && n->guid == i.port_guid)
        return;
    *n = (struct node){.id = id,
                       .guid = i.port_guid,
                       .hops[0] = s->hop_count,
                       .agent = agent_of(s),
                       .frame = w->p->at.frame,
                       .subnet = w->p->at.interface};
    memcpy(n->hops + 1, s->initial_path + 1, s->hop_count);
}

/* The GUID of the switch to which the packet is sent, or that answers; 0: not known. */
static uint64_t switch_of(const struct watch *w)
{
    uint64_t id = route_id(w);
    const struct node *n = node_at(w, id);
    return id && n->id == id ? n->guid : 0;
}

/* Where a port is. */
struct attachment {
    uint64_t guid;  /* of the switch */
    uint32_t frame; /* of the first NodeInfo that shows it */
    uint8_t port;   /* of the switch */
};

static const struct node *newest_with(const struct watch *w, uint64_t guid)
{
    const struct node *newest = NULL;
    for (unsigned i = 0; i < NODES; i++) {
        const struct node *n = &w->forwarding->nodes[i];
        if (n->id && n->guid == guid && n->subnet == w->p->at.interface &&
            (!newest || n->frame > newest->frame))
            newest = n;
    }
    return newest;
}

/* The route to the switch has one hop less. */
static bool find_attachment(const struct watch *w, uint64_t guid, struct attachment *a)
{
    const struct node *n = newest_with(w, guid);
    if (!n || n->hops[0] < 2)
        return false;
    uint64_t id = port_of_route(n->subnet, n->agent, n->hops + 1, n->hops[0] - 1u).id;
    const struct node *before = node_at(w, id);
    if (before->id != id)
        return false;
    *a = (struct attachment){before->guid, n->frame, n->hops[n->hops[0]]};
    return true;
}

/* ---- the tables */

static struct block *block_at(const struct watch *w, uint64_t guid, uint32_t attribute,
                              uint32_t modifier)
{
    uint64_t hash = mix_two(guid, attribute, modifier);
    return &w->forwarding->blocks[hash >> 32 & (BLOCKS - 1)];
}

static bool is_block(const struct block *b, uint64_t guid, uint32_t attribute, uint32_t modifier)
{
    return b->guid == guid && b->attribute == attribute && b->modifier == modifier;
}

static void begin_block(const struct watch *w, struct block *b, uint64_t guid)
{
    const struct smp *s = &w->p->mad.smp;
    *b = (struct block){.guid = guid, .attribute = s->mad.attribute, .modifier = s->mad.modifier};
    memcpy(b->data, s->data.p, SMP_DATA_SIZE);
}

static void note_lids(const struct watch *w, struct block *b, const uint8_t *now)
{
    for (unsigned i = 0; i < LFT_ENTRIES; i++) {
        if (b->data[i] == now[i])
            continue;
        b->lost[i] = b->data[i];
        b->frames[i] = w->p->at.frame;
    }
}

static void note_groups(const struct watch *w, struct block *b, const uint8_t *now)
{
    for (unsigned i = 0; i < MFT_ENTRIES; i++) {
        uint16_t lost = be16(b->data + (size_t)2 * i) & (uint16_t)~be16(now + (size_t)2 * i);
        if (!lost)
            continue;
        b->lost[i] = lost;
        b->frames[i] = w->p->at.frame;
    }
}

/* A Set, or the answer to one: the GUID of the switch; else 0. */
static uint64_t set_at(const struct watch *w, uint32_t size)
{
    const struct smp *s = &w->p->mad.smp;
    bool is_set = smp_says(s) && !packet_is_corrupt(w->p) && view_has(s->data, 0, size) == WIRE_OK;
    return is_set ? switch_of(w) : 0;
}

void watch_forwarding(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    uint64_t guid = set_at(w, SMP_DATA_SIZE);
    if (!guid)
        return;
    struct block *b = block_at(w, guid, s->mad.attribute, s->mad.modifier);
    if (!is_block(b, guid, s->mad.attribute, s->mad.modifier))
        begin_block(w, b, guid);
    else if (s->mad.attribute == SMP_LINEAR_TABLE)
        note_lids(w, b, s->data.p);
    else
        note_groups(w, b, s->data.p);
    memcpy(b->data, s->data.p, SMP_DATA_SIZE);
    if (!b->set_frame || b->tid != s->mad.tid) /* its response is not the cause */
        b->set_frame = w->p->at.frame;
    b->tid = s->mad.tid;
    w->forwarding->any = true;
}

static struct sl_map *map_at(const struct watch *w, uint64_t guid, uint32_t ports)
{
    return &w->forwarding->maps[mix_two(guid, ports, SMP_SL_TO_VL) >> 32 & (MAPS - 1)];
}

/* One of many ports at once (IBA 14.2.5.8) is not followed: the modifier has more bits then. */
void watch_sl_to_vl(const struct watch *w)
{
    const struct smp *s = &w->p->mad.smp;
    uint32_t ports = s->mad.modifier;
    uint16_t discards = 0;
    uint64_t guid = ports > UINT16_MAX ? 0 : set_at(w, SL2VL_SIZE);
    if (!guid)
        return;
    for (unsigned sl = 0; sl < 2 * SL2VL_SIZE; sl++)
        if ((s->data.p[sl / 2] >> (sl % 2 ? 0 : 4) & 0x0f) == VL_DISCARDS)
            discards |= (uint16_t)(1u << sl);
    struct sl_map *m = map_at(w, guid, ports);
    if (m->guid != guid || m->ports != ports || m->discards != discards)
        *m = (struct sl_map){guid, ports, w->p->at.frame, discards};
    w->forwarding->any |= discards != 0;
}

/* ---- ports that are cut off */

/* The port and the switch at which it is. */
struct cut {
    const struct endport *port;
    struct attachment at;
    bool never_led; /* the table has had no port for the LID since NodeInfo showed it */
};

/*
 * It is not gone, and was not brought up since, at another place. A LID that never had a port is
 * that of a port which is brought up afterwards. Packets are in the file in the order in which they
 * were sent.
 */
static bool has_sent_since(const struct watch *w, const struct cut *c, uint32_t frame)
{
    const struct endport *port = c->port;
    return (c->never_led || frame > port->initialised_frame) &&
           port_last_frame(w, port_lid(w->p->at.interface, port->lid)) >
               MAX(frame, port->initialised_frame) &&
           !order_is_uncertain(&w->f->order, frame);
}

static bool find_cut(const struct watch *w, const struct endport *port, struct cut *c)
{
    *c = (struct cut){.port = endport_of(port)};
    return c->port && endport_has_gid(c->port) &&
           find_attachment(w, be64(c->port->gid + GID_SIZE / 2), &c->at);
}

enum { WHAT_TEXT = 240 };

static void report(const struct watch *w, const struct cut *c, const struct event_key *key,
                   uint32_t frame, const char *what)
{
    struct link_event *last = w->sink->last;
    struct sender who = sender_of_endport(c->port);
    if (!has_sent_since(w, c, frame))
        return;
    watch_no_copy(w, key);
    watch_event(w, key, &who, frame, "%s", what);
    w->sink->last = last;
}

/* The port to which the table forwards the LID now is another one. frame: since when. */
static void report_lid(const struct watch *w, const struct cut *c, uint16_t lid, uint8_t now,
                       uint32_t frame)
{
    const struct event_key key = event_key(w, EVENT_PATH_CUT, c->port->gid, NULL, lid);
    char what[WHAT_TEXT], to[16] = "none";
    if (now != NO_PORT)
        g_snprintf(to, sizeof to, "the port %u", now);
    g_snprintf(what, sizeof what,
               "its switch, GUID 0x%016" PRIx64 ", forwards the LID %u to %s since frame %u "
               "(LinearForwardingTable), but it is at the port %u (frame %u): packets to it do not "
               "reach it",
               c->at.guid, lid, to, frame, c->at.port, c->at.frame);
    report(w, c, &key, frame, what);
}

/*
 * Since when the table has not the port, which it had; or the last Set that has none, of a subnet
 * manager that knew the port. 0: the table is right, or it is not known.
 */
static uint32_t frame_of_lid(struct cut *c, const struct block *b, unsigned i)
{
    if (b->data[i] != c->at.port && b->lost[i] == c->at.port && b->frames[i] >= c->at.frame)
        return b->frames[i];
    c->never_led = b->data[i] == NO_PORT && b->set_frame > c->at.frame;
    return c->never_led ? b->set_frame : 0;
}

static void cut_lid(const struct watch *w, uint16_t lid)
{
    const struct endport *port = endports_by_lid(w->f->endports, w->p->at.interface, lid);
    unsigned number = lid / LFT_ENTRIES, i = lid % LFT_ENTRIES;
    struct cut c;
    if (!port || !endport_has_lid(endport_of(port), lid) || !find_cut(w, port, &c))
        return;
    const struct block *b = block_at(w, c.at.guid, SMP_LINEAR_TABLE, number);
    uint32_t frame = is_block(b, c.at.guid, SMP_LINEAR_TABLE, number) ? frame_of_lid(&c, b, i) : 0;
    if (frame)
        report_lid(w, &c, lid, b->data[i], frame);
}

/* A switch discards the SL on the way from the first port to the second. */
static void report_sl(const struct watch *w, const struct cut *in, const struct cut *out,
                      const struct path_sl *path, uint32_t frame)
{
    const uint8_t about[GID_SIZE] = {(uint8_t)(path->sl + 1)};
    const struct event_key key = event_key(w, EVENT_PATH_CUT, NULL, about, in->at.guid);
    char what[WHAT_TEXT];
    g_snprintf(what, sizeof what,
               "its switch, GUID 0x%016" PRIx64 ", discards the SL %u from the port %u to the port "
               "%u since frame %u (SLtoVLMappingTable: VL 15), and the SA gave LID %u the path to "
               "LID %u with this SL in frame %u",
               in->at.guid, path->sl, in->at.port, out->at.port, frame, path->slid, path->dlid,
               path->frame);
    report(w, out, &key, MAX(frame, path->frame), what);
}

static void cut_sl(const struct watch *w, uint16_t from, uint16_t to)
{
    const struct path_sl *path = path_sl_of(w, from, to);
    struct cut in, out;
    if (!path || !find_cut(w, endports_by_lid(w->f->endports, w->p->at.interface, from), &in) ||
        !find_cut(w, endports_by_lid(w->f->endports, w->p->at.interface, to), &out) ||
        in.at.guid != out.at.guid)
        return;
    uint32_t ports = (uint32_t)in.at.port << 8 | out.at.port;
    const struct sl_map *m = map_at(w, in.at.guid, ports);
    if (m->guid == in.at.guid && m->ports == ports && m->discards >> path->sl & 1)
        report_sl(w, &in, &out, path, m->frame);
}

void watch_cut_paths(const struct watch *w, uint16_t from, uint16_t to)
{
    if (!w->forwarding->any)
        return;
    cut_lid(w, from);
    if (!to || to >= LID_MULTICAST_FIRST)
        return;
    cut_lid(w, to);
    cut_sl(w, from, to);
    cut_sl(w, to, from);
}

void watch_cut_requester(const struct watch *w, uint16_t lid)
{
    if (w->forwarding->any)
        cut_lid(w, lid);
}

/* When the table lost the port, or was set without it; 0: it has the port, or is not known. */
static uint32_t frame_without(const struct watch *w, const struct cut *c, const struct member *m)
{
    enum { PORT_BITS = 16, POSITION_SHIFT = 28 };
    unsigned number = m->mlid - LID_MULTICAST_FIRST, i = number % MFT_ENTRIES;
    uint16_t bit = (uint16_t)(1u << c->at.port % PORT_BITS);
    uint32_t modifier = (uint32_t)(c->at.port / PORT_BITS) << POSITION_SHIFT |
                        (number / MFT_ENTRIES & MFT_BLOCK);
    const struct block *b = block_at(w, c->at.guid, SMP_MULTICAST_TABLE, modifier);
    if (!is_block(b, c->at.guid, SMP_MULTICAST_TABLE, modifier) ||
        be16(b->data + (size_t)2 * i) & bit || b->set_frame <= m->frame)
        return 0;
    return b->lost[i] & bit && b->frames[i] > m->frame ? b->frames[i] : b->set_frame;
}

void watch_cut_group(const struct watch *w, const struct group *group, const struct endport *port)
{
    const struct group *g = group_of(group);
    struct cut c;
    if (!w->forwarding->any || !g || !find_cut(w, port, &c))
        return;
    const struct member *m = groups_member(w->f->groups, g, c.port);
    if (!m || !(m->join_state & JOIN_FULL) || !member_is_known(m) || m->mlid < LID_MULTICAST_FIRST)
        return;
    uint32_t frame = frame_without(w, &c, m);
    char what[WHAT_TEXT], mgid[GID_TEXT];
    g_snprintf(what, sizeof what,
               "its switch, GUID 0x%016" PRIx64 ", does not forward the LID 0x%04x to its port %u "
               "since frame %u (MulticastForwardingTable), although it is a member of the group %s",
               c.at.guid, m->mlid, c.at.port, frame, text_of_gid(mgid, g->mgid));
    const struct event_key key = event_key(w, EVENT_PATH_CUT, c.port->gid, g->mgid, m->mlid);
    report(w, &c, &key, frame, what);
}
