/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <stdio.h>

#include "rules/claims/claim_state.h"
#include "rules/suspicions/suspicions.h"

enum { PORT_TEXT = INET6_ADDRSTRLEN + 32 };

/* The port's GID and LID, as far as they are known. */
static void put_port(const struct endport *port, char *out, size_t size)
{
    char gid[INET6_ADDRSTRLEN];
    if (!endport_has_gid(port))
        snprintf(out, size, "LID %u", port->lid);
    else
        snprintf(out, size, "port %s, LID %u", inet_ntop(AF_INET6, port->gid, gid, sizeof gid),
                 port->lid);
}

/* The packet that decides the claim. */
static void put_awaited(const struct check_context *s, const struct claim *f, char *out,
                        size_t size)
{
    char port[PORT_TEXT];
    put_port(f->port, port, sizeof port);
    if (f->when == FACT_AT_DATAGRAM)
        snprintf(out, size, "the next datagram of the requester (LID %u)", f->request.lid);
    else if (f->lacks_copy && f->port_is_complete)
        snprintf(out, size, "a copy of the packet from the other capture point");
    else if (f->when == FACT_AT_SMP)
        snprintf(out, size, "the next SMP response of %s", port);
    else if (f->since && (f->port_is_complete || claim_is_decided_by_sa(f)))
        snprintf(out, size, "the next packet of the SA (LID %u)",
                 subnet_sa_lid(s->f->subnet, f->port->interface));
    else
        snprintf(out, size, "the next SA request or CM message of %s", port);
}

/* A filter may have left out all packets of QP1: then it is not known what the port asked the SA.
 */
static bool lacks_gsi(const struct check_context *s, const struct claim *f)
{
    const struct endport *port = endport_of(f->port);
    return f->when == FACT_AT_REQUEST && !port->gsi.last_frame &&
           !subnet_sa_sequence(s->f->subnet, port->interface);
}

static struct reporter reporter_of(const struct check_context *s, const struct claim *f)
{
    struct reporter r = *s->r;
    r.sender = &f->sender;
    r.frame = f->fault_frame;
    r.value = f->has_number ? &f->value : NULL;
    r.name = f->name;
    return r;
}

void claim_report_undecided(const struct check_context *s, struct claim *f, const char *ending)
{
    char awaited[PORT_TEXT + 64], why[PORT_TEXT + 192];
    struct reporter r = reporter_of(s, f);
    r.interface = f->port->interface;
    put_awaited(s, f, awaited, sizeof awaited);
    snprintf(why, sizeof why, "waits for %s: %s", awaited, ending);
    bool was_reported = is_reported(&r, f->rule, &f->about, f->value);
    if (was_reported || lacks_gsi(s, f))
        suspicions_drop(s, f->rule, &f->about);
    if (lacks_gsi(s, f))
        report_inconclusive(&r, f->rule, NULL, "the capture has no packet of QP1 (SA, CM)");
    else if (!f->is_unproved && !f->is_suspected && !was_reported)
        report_unproved(&r, f->rule, &f->about, f->expected, f->actual, why);
    f->is_unproved = true;
}

static void report_proved(const struct reporter *r, const struct claim *f)
{
    report_fail_about(r, f->rule, &f->about, NULL, 0, f->expected, f->actual);
}

bool claim_report_proved(const struct check_context *s, const struct claim *f, bool held)
{
    struct reporter r = reporter_of(s, f);
    if (!is_new(&r, f->rule, &f->about, f->value))
        return false;
    r.held = held;
    report_proved(&r, f);
    return true;
}

void claim_report_standing(const struct check_context *s, const struct claim *f)
{
    struct reporter r = reporter_of(s, f);
    r.proved_frame = f->proved_frame;
    report_proved(&r, f);
}

/* It may be reported again, of another packet. */
void claim_withdraw(const struct check_context *s, const struct claim *f, const char *why)
{
    struct reporter r = reporter_of(s, f);
    r.interface = f->port->interface;
    forget_reported(&r, f->rule, &f->about);
    report_unproved(&r, f->rule, &f->about, f->expected, f->actual, why);
}
