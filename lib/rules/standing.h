/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of fact.c's table, one for each kind of fact. Private to rules/fact*.c. */
#ifndef IPOIB_RULES_STANDING_H
#define IPOIB_RULES_STANDING_H

#include "rules/fact.h"

typedef struct standing standing_of(const struct check_context *s, const struct fact *f);

#define FACT(name, function, words) standing_of function;
#include "rules/fact_kinds.def"
#undef FACT

static inline struct standing uncertain(const char *missing)
{
    return (struct standing){FACT_UNCERTAIN, NULL, NULL, missing, 0};
}

static inline struct standing certain(void)
{
    return (struct standing){FACT_IS_CERTAIN, NULL, NULL, NULL, 0};
}

static inline struct standing certain_if(bool holds, const char *missing)
{
    return holds ? certain() : uncertain(missing);
}

static inline struct standing at_request_of(const struct endport *port)
{
    return (struct standing){FACT_AT_REQUEST, port, NULL, NULL, 0};
}

static inline struct standing at_smp_of(const struct endport *port)
{
    return (struct standing){FACT_AT_SMP, port, NULL, NULL, 0};
}

/* What is_followed() lacks. */
static inline const char *why_not_followed(const struct endport *port)
{
    if (!port || !port->initialised_frame)
        return "the SM's PortInfo Set that brought the port up was not captured";
    return "a packet of the port's GSI (QP1) was not captured";
}

static inline bool is_followed(const struct endport *port)
{
    return port && endport_is_followed(port);
}

#endif
