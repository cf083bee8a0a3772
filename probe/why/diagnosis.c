/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/why/diagnosis.h"

#include "probe/exchange/records.h"
#include "probe/exchange/switches.h"
#include "probe/link/advice.h"

bool diagnosis_holds(struct diagnosis *d, char *evidence, char *command)
{
    d->evidence = evidence;
    d->command = command;
    return true;
}

bool diagnosis_not_delivered(struct diagnosis *d, const char *who, uint16_t lid, bool member)
{
    uint16_t at = 0;
    uint8_t port = 0;
    bool hole = switches_forward_group(d->t, d->mlid, lid, &at, &port) == NOT_FORWARDED;
    char *look = advice_look_at_multicast(d->t->link, d->mlid,
                                          at ? at : records_get_switch_lid(d->t, lid), lid),
         *text = g_strdup_printf(
             "%s replies to a request to its queue pair, and not to the group%s", who,
             member ? ", of which the SA says it is a member" : "");
    if (hole)
        diagnosis_holds(
            d,
            g_strdup_printf("%s: the switch with LID %u does not forward MLID 0x%04x to "
                            "its port %u, which leads there",
                            text, at, d->mlid, port),
            g_strdup_printf("on the peer, set the interface down and up, or let the SM "
                            "sweep again; %s",
                            look));
    else
        diagnosis_holds(d, g_strdup(text), g_strdup(look));
    g_free(text);
    g_free(look);
    return true;
}

bool diagnosis_is_not_forwarded(struct diagnosis *d, uint16_t lid)
{
    uint16_t at;
    uint8_t port;
    return lid && switches_forward_group(d->t, d->mlid, lid, &at, &port) == NOT_FORWARDED;
}

void diagnosis_try_partitions(const struct diagnosis *d, GString *command)
{
    const struct port_facts *f = &d->t->link->transport->facts;
    for (unsigned i = 0; i < f->n_pkeys; i++)
        if ((f->pkeys[i] ^ d->t->link->pkey) & 0x7fff && f->pkeys[i] & 0x7fff)
            g_string_append_printf(command, "; ipoib-probe --pkey 0x%04x %.*s", f->pkeys[i],
                                   target_word(d->t), d->t->name);
}
