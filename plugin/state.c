/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a capture file. It is created on first use and freed when the file is closed or read
 * again.
 */
#include "plugin/state.h"

#include <epan/prefs.h>

static struct fabric *fabric;
static struct events *events;
static int pref_interfaces = INTERFACES_AUTO;

/* Created on first use, because Wireshark does not define the order of init routines. */
struct fabric *state_fabric(void)
{
    if (!fabric) {
        fabric = fabric_new();
        fabric_take_interfaces(fabric, (enum interfaces_mode)pref_interfaces);
    }
    return fabric;
}

const struct fabric_facts *state_facts(void)
{
    return fabric_facts(state_fabric());
}

struct events *state_events(void)
{
    if (!events)
        events = events_new();
    return events;
}

struct connection *state_connection(uint32_t number)
{
    const struct connection *c = number ? connections_at(state_facts()->connections, number - 1)
                                        : NULL;
    return (
        struct connection *)c; /* struct classification has no const; the plugin only reads it */
}

static void state_close(void)
{
    events_free(events);
    events = NULL;
    fabric_free(fabric);
    fabric = NULL;
}

static void register_preference(void)
{
    static const enum_val_t modes[] = {{"auto", "By what they show", INTERFACES_AUTO},
                                       {"one", "All on one subnet", INTERFACES_ONE},
                                       {"each", "Each on a subnet of its own", INTERFACES_EACH},
                                       {NULL, NULL, -1}};
    prefs_register_enum_preference(
        prefs_find_module("ipoib"), "interfaces", "Capture interfaces",
        "Which interfaces of a capture see the same subnet: a card with two ports writes both directions of a cable as two interfaces",
        &pref_interfaces, modes, FALSE);
}

void state_register(void)
{
    register_preference();
    register_cleanup_routine(state_close);
}
