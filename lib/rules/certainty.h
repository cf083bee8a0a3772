/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that decide when a fact is certain, one for each kind (fact_kinds.def), and what
 * they share. Private to rules/fact*.c.
 */
#ifndef IPOIB_RULES_CERTAINTY_H
#define IPOIB_RULES_CERTAINTY_H

#include "rules/fact.h"

typedef struct certainty certainty_of(const struct check_context *s, const struct fact *f);

#define FACT(name, function, tables, words) certainty_of function;
#include "rules/fact_kinds.def"
#undef FACT

static inline struct certainty uncertain(const char *missing)
{
    return (struct certainty){.when = FACT_UNCERTAIN, .missing = missing};
}

/* The value of the fact was captured in this frame: a packet that contradicts it is suspicious. */
static inline struct certainty captured_in(uint32_t frame, struct certainty c)
{
    c.captured_in = frame;
    return c;
}

static inline struct certainty certain(void)
{
    return (struct certainty){.when = FACT_IS_CERTAIN};
}

static inline struct certainty certain_if(bool holds, const char *missing)
{
    return holds ? certain() : uncertain(missing);
}

static inline struct certainty certain_at(enum certain_when when, const struct endport *port)
{
    return (struct certainty){.when = when, .port = port};
}

/* Which packet was not captured, so that requests_are_complete() is false. */
static inline const char *why_not_complete(const struct endport *port)
{
    if (!port || !port->initialised_frame)
        return "the SM's PortInfo Set that brought the port up was not captured";
    return "a packet of the port's GSI (QP1) was not captured";
}

/*
 * No request of the port to the SA after the frame `since`, from QP1 or, as far as the SA's
 * responses can show it, from another queue pair (fact_sa.c).
 */
struct certainty no_request_since(const struct check_context *s, const struct endport *port,
                                  uint32_t since);

/* The same if the port's GSI sends the packet: its PSN already shows the requests from QP1. */
struct certainty no_request_before_own(const struct check_context *s, const struct endport *port,
                                       uint32_t since);

static inline bool requests_are_complete(const struct endport *port)
{
    return port && endport_requests_are_complete(port);
}

#endif
