/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/link/advice.h"

#include <inttypes.h>
#include <stdio.h>

#include "probe/link/choice.h"
#include "probe/link/transport.h"
#include "wire/view.h"

void advice_name_port(const struct probe_link *l, struct port_words *w)
{
    const struct port_facts *f = &l->transport->facts;
    const struct choice *c = l->choice;
    bool chosen = c && c->device[0] && c->port;
    const char *device = chosen ? c->device : f->device;
    unsigned port = chosen ? c->port : f->port;
    snprintf(w->diags, sizeof w->diags, "-C %s -P %u", device, port);
    snprintf(w->stat, sizeof w->stat, "%s %u", device, port);
    snprintf(w->guid, sizeof w->guid, "0x%016" PRIx64, be64(f->gid + 8));
    if (c && c->interface[0])
        snprintf(w->probe, sizeof w->probe, "-d %s", c->interface);
    else
        snprintf(w->probe, sizeof w->probe, "-d %s -p %u", device, port);
}
