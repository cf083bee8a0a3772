/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SA's records of a port: PortInfoRecords, P_KeyTableRecords and GUIDInfoRecords (IBA 15.2.5.3,
 * 15.2.5.11, 15.2.5.18). They add no port: only those that joined or sent are checked.
 */
#include "wire/port_records.h"

#include "model/sa_requests.h"
#include "model/sa_tables.h"
#include "wire/pkey.h"

/* The port with the record's LID. */
static struct endport *port_of_record(const struct delivery *d, const uint8_t *record)
{
    uint16_t lid = be16(record + PORT_RECORD_LID);
    struct endport *p = endports_get_by_lid(d->s->endports, d->interface, lid, false);
    return lid && p && p->lid == lid ? p : NULL;
}

static struct endport_said *said_of(struct endport *p)
{
    if (!p->said)
        p->said = g_new0(struct endport_said, 1);
    return p->said;
}

/*
 * A switch has a record of each of its ports with its own LID. The PortInfo of its external ports
 * has neither LID nor GID prefix (IBA 14.2.5.6). The MTU counts once the link is up.
 */
static void port_info_record(void *user, const uint8_t *record, const struct split_record *split)
{
    const struct delivery *d = user;
    struct endport *p = port_of_record(d, record);
    struct port_info i = port_info_read(record + PORT_RECORD_INFO);
    (void)split;
    if (!p || i.lid != p->lid || !endport_has_gid(p) || i.gid_prefix != be64(p->gid))
        return;
    struct endport_said *said = said_of(p);
    bool counts = i.state == PORT_ACTIVE && i.neighbor_mtu;
    said->port_frame = counts ? d->frame : 0;
    said->neighbor_mtu = counts ? i.neighbor_mtu : 0;
    said->mtu_cap = counts ? i.mtu_cap : 0;
}

/* The port of a response's P_KeyTableRecords, which all have its LID. */
struct pkey_reader {
    const struct delivery *d;
    struct endport *port; /* NULL: none so far, or it is not known */
    bool begins;          /* the response begins with this segment */
};

static void keep_block(struct endport_pkeys *k, unsigned number, const uint8_t *block)
{
    bool empty = true;
    for (size_t i = 0; i < PKEY_BLOCK; i++) {
        uint16_t pkey = be16(block + 2 * i);
        empty &= !is_partition(pkey);
        if (number == 0)
            k->entries[i] = pkey;
    }
    if (empty && number)
        k->empty_blocks |= UINT32_C(1) << number;
}

/* The blocks of a table follow each other. A switch has several tables, each with a block 0. */
static void pkey_record(void *user, const uint8_t *record, const struct split_record *split)
{
    struct pkey_reader *t = user;
    unsigned number = be16(record + PKEY_RECORD_NUMBER);
    (void)split;
    t->port = port_of_record(t->d, record);
    if (!t->port)
        return;
    struct endport_said *said = said_of(t->port);
    said->pkeys_frame = 0;
    if (t->begins)
        said->blocks = 0;
    if (t->begins)
        said->pkeys = (struct endport_pkeys){.entries = {0}};
    t->begins = false;
    bool follows = number == said->blocks && number < 32;
    said->blocks = follows ? (uint8_t)(number + 1) : UINT8_MAX;
    if (follows)
        keep_block(&said->pkeys, number, record + PKEY_RECORD_BLOCK);
}

/* The first GUID is the port's (IBA 14.2.5.5); a virtual function at the same LID has another one.
 */
static void guid_record(void *user, const uint8_t *record, const struct split_record *split)
{
    const struct delivery *d = user;
    const uint8_t *guids = record + GUID_RECORD_BLOCK;
    struct endport *p = port_of_record(d, record);
    (void)split;
    if (!p || record[GUID_RECORD_NUMBER] != 0 || be64(guids) != be64(p->gid + GID_SIZE / 2))
        return;
    for (size_t i = 0; i < ENDPORT_ALIASES; i++)
        said_of(p)->aliases[i] = be64(guids + 8 * (i + 1));
}

/* Returns true if every record of the response was read. */
static bool read_records(const struct delivery *d, const struct sa *sa, uint32_t size,
                         sa_table_record *on_record, void *user)
{
    if (sa->mad.method == SA_GET_TABLE_RESP)
        return sa_tables_read(d->s->tables, d->dst, sa, size, on_record, user);
    bool has = view_has(sa->data, 0, size) == WIRE_OK;
    if (has)
        on_record(user, sa->data.p, NULL);
    return has;
}

/*
 * All blocks of a port are in the response to a request for its LID only: a Get of several records
 * is refused (IBA 15.4.4), a GetTable has them all.
 */
static void pkey_table(const struct delivery *d, const struct sa *sa)
{
    bool is_table = sa->mad.method == SA_GET_TABLE_RESP;
    const struct sa_request *q = sa_requests_responded(d, sa, is_table ? SA_GET_TABLE : SA_GET);
    struct pkey_reader t = {d, NULL, !is_table || sa->segment == 1};
    if (!q || q->mask != PORT_RECORD_HAS_LID)
        return;
    bool whole = read_records(d, sa, PKEY_RECORD_SIZE, pkey_record, &t);
    struct endport_said *said = t.port ? t.port->said : NULL;
    if (!whole || !said || said->blocks == UINT8_MAX)
        return;
    said->pkeys_frame = d->frame;
    said->pkeys.capacity = (uint16_t)(said->blocks * PKEY_BLOCK);
}

void learn_port_records(const struct delivery *d, const struct sa *sa)
{
    uint16_t attribute = sa->mad.attribute;
    bool says = sa->mad.method == SA_GET_RESP || sa->mad.method == SA_GET_TABLE_RESP;
    if (sa->rmpp_type > RMPP_TYPE_DATA)
        return;
    if (attribute == SA_PKEY_TABLE_RECORD && !(sa->mad.method & MAD_RESPONSE))
        sa_requests_add(d, sa);
    if (!says || sa->mad.status != 0)
        return;
    if (attribute == SA_PKEY_TABLE_RECORD)
        pkey_table(d, sa);
    else if (attribute == SA_PORT_INFO_RECORD)
        read_records(d, sa, PORT_RECORD_INFO + PORT_INFO_SIZE, port_info_record,
                     (struct delivery *)d);
    else if (attribute == SA_GUID_INFO_RECORD)
        read_records(d, sa, GUID_RECORD_SIZE, guid_record, (struct delivery *)d);
}
