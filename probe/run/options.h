/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of ipoib-probe. */
#ifndef IPOIB_PROBE_OPTIONS_H
#define IPOIB_PROBE_OPTIONS_H

#include "report/program.h"

/* Which addresses of a host name are taken. */
enum family { FAMILY_ANY, FAMILY_IPV4, FAMILY_IPV6 };

/* What is probed. */
struct target_option {
    char *name;  /* of a host name also the address that was taken */
    bool fabric; /* the SA's groups and this port's standing; else an address */
    bool ipv6;
    uint8_t
        ip[16]; /* the first 4 octets of IPv4; of a prefix the first address that is asked for */
    bool prefix;
    uint32_t n; /* addresses */
};

struct options {
    const char *device; /* NULL: the first with an InfiniBand port */
    unsigned port;      /* 0: the first that is active */
    uint16_t pkey;      /* 0: index 0's */
    bool has_source, source_ipv6;
    uint8_t source[16];
    bool disruptive, strict, list, dry_run, help, version;
    const char *explain; /* a rule; NULL: none */
    const char *deviations;
    enum format format;
    const char *node;    /* for who merges reports; NULL: not given */
    const char *capture; /* -w */
    const char *output;  /* -o; NULL: stdout */
    enum family family;
    unsigned rate;       /* packets a second */
    unsigned timeout_ms; /* for each answer */
    GPtrArray *only;     /* selectors, NULL at the end; empty: all rules */
    struct selection selection;
    GArray *targets; /* struct target_option */
};

/* False after a message: the usage is wrong. To be cleared either way. */
bool options_read(struct options *o, int argc, char **argv);
void options_clear(struct options *o);

/* No address is among the targets. */
bool options_only_fabric(const struct options *o);

extern const char options_help[];

#endif
