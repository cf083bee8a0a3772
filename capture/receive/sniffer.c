/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sniffer mode. See sniffer.h. */
#include "capture/receive/sniffer.h"

#include <errno.h>
#include <string.h>

#include "capture/receive/sniffqp.h"
#include "cli/privileges.h"

static void destroy_flow(struct sniffer *s)
{
    if (s->flow)
        ibv_destroy_flow(s->flow);
    s->flow = NULL;
}

static void drop_qp(struct sniffer *s)
{
    destroy_flow(s);
    if (s->qp)
        ibv_destroy_qp(s->qp);
    s->qp = NULL;
}

static int create_flow(struct sniffer *s)
{
    struct ibv_flow_attr attr = {
        .type = IBV_FLOW_ATTR_SNIFFER,
        .size = sizeof(attr),
        .port = s->device->port,
    };

    errno = 0;
    s->flow = ibv_create_flow(s->qp, &attr);
    return s->flow ? 0 : errno ? errno : EOPNOTSUPP;
}

/*
 * Whether the kernel's driver attaches a flow to a UD queue pair. mlx5's driver must never get such
 * a request: it attaches the flow to a receive object that only a RAW_PACKET queue pair has, so the
 * frames would go to an object that is not this queue pair's. So the drivers are listed that are
 * known to be safe: mlx4's, and that of the virtual fabric (testbed/).
 */
static bool can_sniff_by_ud(const struct device *device)
{
    const struct ibv_device *d = device->context->device;

    return !device_is_ethernet(device) &&
           (device_has_driver(d, "mlx4") || device_has_driver(d, "vqib"));
}

/* Adds to a refusal whether a UD queue pair may be tried on the port. */
static struct refusal of_port(const struct sniffer *s, struct refusal refusal)
{
    refusal.ud_unsafe = !device_is_ethernet(s->device) && !can_sniff_by_ud(s->device);
    return refusal;
}

/*
 * Creates a queue pair of TYPE and tests whether a flow can be attached; leaves none if it fails.
 * No receives are posted, so no frame is delivered.
 */
static struct refusal try_type(struct sniffer *s, enum ibv_qp_type type)
{
    struct refusal refusal = sniffqp_create(&s->ring, type, &s->qp);
    int error;

    if (refusal.step != REFUSED_NOT)
        return of_port(s, refusal);
    error = create_flow(s);
    if (error == 0)
        destroy_flow(s);
    else
        drop_qp(s);
    return error == 0 ? refusal : of_port(s, refused(REFUSED_FLOW, error));
}

/*
 * libpcap uses RAW_PACKET, the only type for Ethernet; ibdump uses UD on InfiniBand ports of mlx4
 * devices. There, if UD is refused, RAW_PACKET is tried.
 */
static struct refusal try_types(struct sniffer *s)
{
    struct refusal first, second;

    if (s->device->context->device->transport_type == IBV_TRANSPORT_IWARP)
        return refused(REFUSED_TRANSPORT, EOPNOTSUPP);
    if (!can_sniff_by_ud(s->device))
        return try_type(s, IBV_QPT_RAW_PACKET);
    first = try_type(s, IBV_QPT_UD);
    if (first.step == REFUSED_NOT)
        return first;
    second = try_type(s, IBV_QPT_RAW_PACKET);
    return second.step == REFUSED_NOT ? second : refusal_main(first, second);
}

bool sniffer_create(struct sniffer *s, struct device *device, const struct rx_plan *plan,
                    GError **error)
{
    memset(s, 0, sizeof(*s));
    s->device = device;
    return rxring_create(&s->ring, device, plan, error);
}

/* Returns whether the step succeeded; sets ERROR if not. */
static bool granted(const struct sniffer *s, struct refusal refusal, GError **error)
{
    refusal.again = s->again;
    return refusal.step == REFUSED_NOT || refusal_fail(error, s->device, refusal, "sniffer");
}

/* --- feed operations */

/*
 * Creates the queue pair and tests whether the device allows the sniffer; no frame is delivered
 * yet.
 */
static bool feed_prepare(struct feed *feed, GError **error)
{
    struct sniffer *s = feed->self;

    return granted(s, try_types(s), error);
}

static bool feed_start(struct feed *feed, GError **error)
{
    struct sniffer *s = feed->self;
    int number = rxring_attach(&s->ring, s->qp);

    if (number != 0)
        return granted(s, refused(REFUSED_RECEIVE, number), error);
    number = create_flow(s);
    return number == 0 || granted(s, of_port(s, refused(REFUSED_FLOW, number)), error);
}

static void feed_stop(struct feed *feed)
{
    destroy_flow(feed->self);
}

static bool feed_restart(struct feed *feed, GError **error)
{
    struct sniffer *s = feed->self;
    bool good;

    s->again = true;
    drop_qp(s);
    privileges_raise(PRIVILEGE_RAW | PRIVILEGE_LOCK);
    good = rxring_renew(&s->ring, error) && feed_prepare(feed, error) && feed_start(feed, error);
    privileges_lower();
    return good;
}

struct feed sniffer_feed(struct sniffer *s)
{
    static const struct feed_ops ops = {
        FEED_OF_RING,        .mode = "sniffer", .prepare = feed_prepare,
        .start = feed_start, .stop = feed_stop, .restart = feed_restart};

    return feed_of_ring(&ops, s->device, &s->ring, s);
}

/* --- destroy, try */

void sniffer_destroy(struct sniffer *s)
{
    drop_qp(s);
    rxring_destroy(&s->ring);
}

struct refusal sniffer_try(struct device *device)
{
    struct rx_plan plan = {.entries = 16, .entry_len = 4096};
    struct refusal refusal;
    struct sniffer s;

    if (!sniffer_create(&s, device, &plan, NULL))
        return refused(REFUSED_QP, errno);
    refusal = try_types(&s);
    sniffer_destroy(&s);
    return refusal;
}
