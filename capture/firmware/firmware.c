/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sniffer of the firmware. See firmware.h. */
#include "capture/firmware/firmware.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/firmware/attacher.h"
#include "capture/receive/sniffqp.h"
#include "capture/write/stop.h"
#include "cli/fail.h"
#include "cli/say.h"

enum {
    PATIENCE_MS = 20000, /* for each step of the attacher */
    STEP_MS = 50,
    END_MS = 600, /* for its end */
};

/* --- messages of the attacher */

static bool fail_ended(const struct firmware *f, GError **error)
{
    if (!f->may_be_attached)
        return fail_with(error, "the process that attaches the sniffer has crashed in mstflint's "
                                "library, or was killed; nothing is attached: try again, or "
                                "install another version of mstflint");
    return fail_with(
        error, "the process that attaches the sniffer has ended; if the sniffer was attached, it "
               "stays so until the next capture on this port");
}

static bool fail_late(const struct firmware *f, const char *step, GError **error)
{
    return fail_with(error,
                     "mstflint's library does not answer (%s, process %d): another firmware tool "
                     "may hold the adapter's lock: end it%s",
                     step, f->attacher.pid, strcmp(step, "detach") == 0 ? "" : ", and try again");
}

/* Handles one report. Returns whether it ends the wait: *GOOD is then what became of the step. */
static bool take_report(struct firmware *f, struct attacher_report *r, bool *good, GError **error)
{
    r->text[sizeof(r->text) - 1] = '\0';
    if (r->event == ATTACHER_NOTE) {
        say("%s port %u: %s", device_name(f->device), f->device->port, r->text);
        return false;
    }
    if (r->event == ATTACHER_REFUSED)
        f->may_be_attached = false;
    *good = r->event == ATTACHER_READY || r->event == ATTACHER_DONE ||
            fail_with(error, "%s", r->text);
    return true;
}

/* Waits STEP_MS for a report. Returns whether the wait ends, as take_report(). */
static bool await_step(struct firmware *f, bool *good, GError **error)
{
    struct pollfd fd = {.fd = f->attacher.fd, .events = POLLIN};
    struct attacher_report r;
    ssize_t n;

    poll(&fd, 1, STEP_MS);
    n = recv(f->attacher.fd, &r, sizeof(r), MSG_DONTWAIT);
    if (n == (ssize_t)sizeof(r))
        return take_report(f, &r, good, error);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    *good = fail_ended(f, error);
    return true;
}

/* Waits for the end of a step; a signal that comes meanwhile ends the wait. */
static bool await(struct firmware *f, const char *step, GError **error)
{
    uint64_t end = steady_time() + (uint64_t)PATIENCE_MS * 1000000;
    int signals = stop_signals();
    bool good = false;

    while (stop_signals() == signals && steady_time() < end)
        if (await_step(f, &good, error))
            return good;
    return stop_signals() > signals ? fail_with(error, "interrupted") : fail_late(f, step, error);
}

/* An attacher that has ended cannot get the order, but its last reports are still to be read. */
static bool order(struct firmware *f, uint32_t qpn, const char *step, GError **error)
{
    const struct attacher_order message = {.qpn = qpn};

    f->may_be_attached |= qpn != 0;
    send(f->attacher.fd, &message, sizeof(message), MSG_NOSIGNAL);
    if (!await(f, step, error))
        return false;
    f->may_be_attached = qpn != 0;
    return true;
}

/* --- the attacher */

/*
 * The attacher checks this itself, but a program with file capabilities is not to start it at all:
 * this message is the same without the library.
 */
static bool check_user(GError **error)
{
    if (getuid() == 0 && geteuid() == 0)
        return true;
    return fail_with(error, "the firmware's sniffer needs root: %s",
                     getauxval(AT_SECURE) ? "file capabilities (setcap) are not enough for it: run "
                                            "ipoib-capture as root (sudo)"
                                          : "run ipoib-capture as root (sudo)");
}

/* Before memory is registered: a user who cannot have this sniffer gets no advice about memory. */
static bool find_function(struct firmware *f, GError **error)
{
    return check_user(error) && pci_function_find(f->device->context->device, f->pci, error);
}

static bool start_attacher(struct firmware *f, GError **error)
{
    static const char *const directions[] = {
        [DIRECTION_BOTH] = "both", [DIRECTION_TX] = "tx", [DIRECTION_RX] = "rx"};
    char port[8], inode[24], *direction = g_strdup(directions[f->direction]);
    char *library = g_strdup(f->library ? f->library : "");
    char *argv[] = {(char[]){"ipoib-capture"},
                    (char[]){ATTACHER_COMMAND},
                    f->pci,
                    port,
                    direction,
                    library,
                    inode,
                    NULL};
    const struct helper_plan plan = {.what = "the process that attaches the sniffer",
                                     .argv = argv,
                                     .isolated = true,
                                     .kept = f->device->context->cmd_fd};

    snprintf(port, sizeof(port), "%u", f->device->port);
    snprintf(inode, sizeof(inode), "%" PRIu64, pci_function_inode(f->device->context->device));
    bool ok = helper_start(&f->attacher, &plan, error) && await(f, "open", error);
    g_free(direction);
    g_free(library);
    return ok;
}

static void report_late_end(const struct firmware *f)
{
    if (f->may_be_attached)
        say("mstflint's library is slow to answer: process %d detaches the sniffer in the "
            "background, and ends within minutes",
            f->attacher.pid);
    else
        say("mstflint's library is slow to answer; nothing is attached: process %d ends in the "
            "background, within minutes",
            f->attacher.pid);
}

/* Closes the socket: the attacher detaches, if that is not done yet, and ends. */
static void end_attacher(struct firmware *f)
{
    int status = -1; /* unknown */

    if (f->attacher.fd < 0)
        return;
    close(f->attacher.fd);
    f->attacher.fd = -1;
    if (!helper_has_ended(&f->attacher, END_MS, &status))
        report_late_end(f);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        f->may_be_attached = false;
}

/* --- feed operations */

static bool name_port(const struct firmware *f, GError **error)
{
    g_prefix_error(error, "%s port %u: ", device_name(f->device), f->device->port);
    return false;
}

/* At the start: names the port, and what works without this sniffer. */
static bool refuse(const struct firmware *f, GError **error)
{
    char *cause = g_strdup((*error)->message);

    g_clear_error(error);
    fail_with(error, "%s port %u: %s; without the sniffer, use --mode multicast",
              device_name(f->device), f->device->port, cause);
    g_free(cause);
    return false;
}

static void drop_qp(struct firmware *f)
{
    if (f->qp)
        ibv_destroy_qp(f->qp);
    f->qp = NULL;
}

static bool make_qp(struct firmware *f, GError **error)
{
    struct refusal refusal = sniffqp_create(&f->ring, IBV_QPT_UD, &f->qp);

    refusal.again = f->again;
    return refusal.step == REFUSED_NOT || refusal_fail(error, f->device, refusal, "firmware");
}

static bool feed_prepare(struct feed *feed, GError **error)
{
    struct firmware *f = feed->self;

    if (!make_qp(f, error))
        return false;
    if (!start_attacher(f, error))
        return refuse(f, error);
    feed->fd = f->attacher.fd;
    return true;
}

static bool feed_start(struct feed *feed, GError **error)
{
    struct firmware *f = feed->self;
    int number = rxring_attach(&f->ring, f->qp);

    if (number != 0)
        return refusal_fail(error, f->device, refused(REFUSED_RECEIVE, number), "firmware");
    feed->is_started = order(f, f->qp->qp_num, "attach", error);
    return feed->is_started || (f->again ? name_port(f, error) : refuse(f, error));
}

/* Returns false and sets ERROR if the port still copies packets. */
static bool detach(struct feed *feed, GError **error)
{
    struct firmware *f = feed->self;

    if (!feed->is_started)
        return true;
    feed->is_started = false;
    if (order(f, 0, "detach", error))
        return true;
    g_prefix_error(error, "%s port %u: the sniffer cannot be detached: ", device_name(f->device),
                   f->device->port);
    return false;
}

static void feed_stop(struct feed *feed)
{
    GError *error = NULL;

    feed->has_failed |= !detach(feed, &error);
    say_error(NULL, &error);
}

static bool feed_restart(struct feed *feed, GError **error)
{
    struct firmware *f = feed->self;

    f->again = true;
    if (!detach(feed, error))
        return false;
    drop_qp(f);
    return rxring_renew(&f->ring, error) && make_qp(f, error) && feed_start(feed, error);
}

/* The attacher reports something without an order only if it ends. */
static bool feed_tend(struct feed *feed, GError **error)
{
    struct firmware *f = feed->self;
    struct pollfd fd = {.fd = f->attacher.fd, .events = POLLIN};
    bool good = true;

    if (poll(&fd, 1, 0) <= 0 || !await_step(f, &good, error) || good)
        return true;
    feed->is_started = false;
    feed->fd = -1;
    return name_port(f, error);
}

struct feed firmware_feed(struct firmware *f)
{
    static const struct feed_ops ops = {
        FEED_OF_RING,        .mode = "sniffer", .accepts_at_start = true, .prepare = feed_prepare,
        .start = feed_start, .stop = feed_stop, .restart = feed_restart,  .tend = feed_tend};

    return feed_of_ring(&ops, f->device, &f->ring, f);
}

/* --- create, destroy, try */

bool firmware_is_usual(const struct device *device)
{
    return !device_is_ethernet(device) && device_has_driver(device->context->device, "mlx5");
}

bool firmware_create(struct firmware *f, struct device *device, const struct firmware_plan *plan,
                     GError **error)
{
    memset(f, 0, sizeof(*f));
    f->device = device;
    f->attacher.fd = -1;
    f->library = plan->library;
    f->direction = plan->direction;
    if (device_is_ethernet(device))
        return fail_with(
            error,
            "%s port %u: the firmware's sniffer is for InfiniBand ports: use --sniffer verbs",
            device_name(device), device->port);
    if (!device_has_driver(device->context->device, "mlx5"))
        return fail_with(
            error, "%s port %u: the firmware's sniffer is for mlx5 devices: use --sniffer verbs",
            device_name(device), device->port);
    if (!find_function(f, error))
        return refuse(f, error);
    return rxring_create(&f->ring, device, &plan->rx, error);
}

/*
 * A destroyed queue pair's number could be given to another program, which the packets would reach
 * then. So the queue pair and its memory stay until this process and the attacher have ended.
 */
static void keep_queue_pair(struct firmware *f)
{
    static struct firmware kept;

    kept = *f;
    (void)kept;
    f->device->stays_open = true;
}

void firmware_destroy(struct firmware *f)
{
    end_attacher(f); /* first: the sniffer needs the queue pair */
    if (f->may_be_attached) {
        keep_queue_pair(f);
        return;
    }
    drop_qp(f);
    rxring_destroy(&f->ring);
}

bool firmware_try(struct device *device, const char *library, GError **error)
{
    struct firmware f = {.device = device, .attacher.fd = -1, .library = library};
    bool good = find_function(&f, error) && start_attacher(&f, error);

    end_attacher(&f);
    return good;
}
