/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deviant -d DEVICE [-a IPV4] [--FAULT]: an IPoIB station with one fault (faults.def); runs until
 * SIGTERM. It prints "ready" and its IPv6 address as soon as it is on the link. deviant --table:
 * prints the faults, with tabs between option, how it is probed, what is found, and what it does.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "probe/link/groups.h"
#include "probe/link/link.h"
#include "probe/link/transport.h"
#include "probe/link/wirelog.h"
#include "probe/run/options.h"
#include "probe/run/target.h"
#include "probe/run/text.h"
#include "tests/probe/deviant/deviant.h"
#include "wire/encap.h"

struct fault {
    const char *option, *probed, *found, *does;
};

static const struct fault faults[FAULT_COUNT] = {
#define FAULT(symbol, option, probed, found, does) [FAULT_##symbol] = {option, probed, found, does},
#include "tests/probe/deviant/faults.def"
#undef FAULT
};

static volatile int stop;

static void on_signal(int number)
{
    stop = number;
}

static int print_table(void)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++)
        printf("%s\t%s\t%s\t%s\n", faults[i].option, faults[i].probed, faults[i].found,
               faults[i].does);
    return 0;
}

static void take(struct deviant *d, const struct ud_from *from)
{
    struct encap e;
    bool own = from->lid == d->link.transport->facts.lid &&
               (from->qpn == d->link.transport->qpn || (d->other && from->qpn == d->other->qpn));
    if (own || !takes(d, from) || encap_decode(from->bytes, &e) != WIRE_OK)
        return;
    struct view v = view_from(from->bytes, ENCAP_SIZE);
    if (e.type == TYPE_ARP)
        take_arp(d, from, v);
    else if (e.type == TYPE_IPV4)
        take_ipv4(d, from, v);
    else if (e.type == TYPE_IPV6)
        take_ipv6(d, from, v);
}

static int serve(struct deviant *d)
{
    char ip[48];
    struct ud_from from;
    text_ip(true, d->ip6, ip);
    printf("ready %s\n", ip);
    fflush(stdout);
    while (!stop) {
        enum transport_result result = d->link.transport->ops->receive(d->link.transport, 1000,
                                                                       &from);
        if (result == TRANSPORT_OK)
            take(d, &from);
        else if (result == TRANSPORT_ERROR) {
            fprintf(stderr, "deviant: %s\n", d->link.transport->error);
            return 1;
        }
    }
    return 0;
}

static int run(struct deviant *d, const char *device)
{
    GError *why = NULL;
    bool opened = verbs_open(&d->link.transport, device, 0, &stop, &why) == OPENED &&
                  (d->fault != FAULT_QPN_OTHER ||
                   verbs_open(&d->other, device, 0, &stop, &why) == OPENED);
    int status = 1;
    if (opened && station_open(d, &why))
        status = serve(d);
    else
        fprintf(stderr, "deviant: %s\n", why->message);
    g_clear_error(&why);
    if (d->link.transport) {
        groups_leave(&d->target);
        d->link.transport->ops->close(d->link.transport);
    }
    if (d->other)
        d->other->ops->close(d->other);
    return status;
}

static bool read_fault(struct deviant *d, const char *option)
{
    for (unsigned i = 0; i < FAULT_COUNT; i++)
        if (strcmp(faults[i].option, option) == 0) {
            d->fault = (enum fault_number)i;
            return true;
        }
    return false;
}

static bool read_arguments(struct deviant *d, int argc, char **argv, const char **device)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-d") == 0 && i + 1 < argc)
            *device = argv[++i];
        else if (strcmp(argv[i], "-a") == 0 && i + 1 < argc &&
                 inet_pton(AF_INET, argv[i + 1], d->ip4) == 1)
            i++;
        else if (strncmp(argv[i], "--", 2) != 0 || !read_fault(d, argv[i] + 2))
            return false;
    }
    return *device != NULL;
}

int main(int argc, char **argv)
{
    static struct deviant d = {.ip4 = {10, 0, 0, 9}};
    static const struct options options = {.rate = 100000, .timeout_ms = 500};
    const char *device = NULL;
    struct sigaction action = {.sa_handler = on_signal};
    if (argc == 2 && strcmp(argv[1], "--table") == 0)
        return print_table();
    if (!read_arguments(&d, argc, argv, &device)) {
        fprintf(stderr, "usage: deviant -d DEVICE [-a IPV4] [--FAULT]\n       deviant --table\n");
        return 2;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    d.run = (struct run){.options = &options, .stop = &stop};
    d.target = (struct target){.run = &d.run, .link = &d.link, .log = wirelog_new(NULL, NULL)};
    groups_open(&d.link);
    int status = run(&d, device);
    groups_close(&d.link);
    wirelog_free(d.target.log, NULL);
    return status;
}
