/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-probe. */
#ifndef IPOIB_PROBE_OPTIONS_H
#define IPOIB_PROBE_OPTIONS_H

#include "cli/option_table.h"
#include "report/program.h"

/* Which addresses of a host name are used. */
enum family { FAMILY_ANY, FAMILY_IPV4, FAMILY_IPV6 };

/* A target. */
struct target_option {
    char *name;  /* for a host name, includes the chosen address */
    bool fabric; /* the SA's groups and this port's memberships; otherwise an address */
    bool node;   /* this host's ports and interfaces */
    bool ipv6;
    char zone[32];  /* interface of an IPv6 address ("fe80::1%ib0"); "": none */
    uint8_t ip[16]; /* for IPv4 the first 4 bytes; for a prefix the first address */
    bool prefix;
    uint32_t n; /* number of addresses */
};

struct options {
    const char *device; /* InfiniBand device or network interface; NULL: as choose.h says */
    unsigned port;      /* 0: not given */
    uint16_t pkey;      /* 0: not given */
    bool why;           /* only whether the peer replies, and why not */
    bool all_ports;     /* the target fabric: ports that are not in use too */
    bool has_source, source_ipv6;
    uint8_t source[16];
    bool disruptive, strict, list, dry_run;
    bool verbose;        /* the text report lists every stage and rule */
    const char *explain; /* a rule; NULL: none */
    const char *deviations;
    enum format format;
    const char *node;    /* node name for merged reports; NULL: not given */
    const char *capture; /* -w */
    const char *output;  /* -o; NULL: stdout */
    enum family family;
    unsigned rate;                   /* packets per second */
    unsigned timeout_ms;             /* for each response */
    unsigned count;                  /* requests of a watched peer; 0: until a signal */
    unsigned interval;               /* seconds between them; 0: not given */
    const char *baseline;            /* earlier report of a sweep; NULL: none */
    unsigned delay;                  /* seconds that the target node waits at most */
    const char *state;               /* folder of the state of the target node; NULL: the default */
    bool nagios;                     /* exit statuses of a plugin of Nagios */
    GPtrArray *only;                 /* rule selectors, NULL-terminated; empty: all rules */
    struct rule_selection selection; /* none if only stages are selected */
    GPtrArray *stages;               /* selectors of stages, of those in only; empty: all stages */
    GArray *targets;                 /* struct target_option */
};

/*
 * Returns -1 if OPTIONS are filled in, otherwise the exit status: after --help and --version, or
 * after a message about wrong usage. Call probe_options_clear() in either case.
 */
int probe_options_read(struct options *o, int argc, char **argv);
void probe_options_clear(struct options *o);

/* Is the stage selected by --only, or is none? */
bool probe_options_select_stage(const struct options *o, const char *id);

/* True if the only target is this node. */
bool probe_options_only_node(const struct options *o);
/* True if no target is an address. */
bool probe_options_only_fabric(const struct options *o);

extern const struct cli_program probe_program;

#endif
