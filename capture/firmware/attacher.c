/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The helper process that attaches the sniffer. See attacher.h. */
#include "capture/firmware/attacher.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/firmware/adapter.h"
#include "capture/firmware/function.h"
#include "capture/helper/helper.h"
#include "cli/fail.h"

static void report(enum attachment_event event, const char *text)
{
    struct attacher_report r = {.event = event};

    snprintf(r.text, sizeof(r.text), "%s", text);
    send(STDIN_FILENO, &r, sizeof(r), MSG_NOSIGNAL);
}

/* Reports how an order ended; frees ERROR. */
static bool report_end(bool good, enum attachment_event otherwise, GError *error)
{
    report(good ? ATTACHER_DONE : otherwise, error ? error->message : "");
    g_clear_error(&error);
    return good;
}

static bool fail_earlier(const struct adapter *adapter, GError **error)
{
    char path[RECORD_PATH_SIZE], *cause = g_strdup((*error)->message);

    record_path(path, adapter->pci, adapter->port);
    g_clear_error(error);
    fail_with(error,
              "the sniffer that an earlier capture left attached cannot be detached: %s; if the "
              "adapter was reset since, remove %s",
              cause, path);
    g_free(cause);
    return false;
}

/*
 * An earlier attacher was killed: its sniffer points to a queue pair that is gone. Without its
 * record, nobody could detach it any more, so the record stays until it is detached.
 */
static bool detach_earlier(struct adapter *adapter, GError **error)
{
    if (adapter->attached.qpn == 0)
        return true;
    if (!adapter_detach(adapter, error))
        return fail_earlier(adapter, error);
    report(ATTACHER_NOTE,
           "an earlier capture was killed with its second process: its sniffer, which was still "
           "attached, is detached");
    return true;
}

/* REFUSED: nothing is attached to the queue pair, although what an earlier one left may be. */
static void attach(struct adapter *adapter, uint32_t qpn)
{
    GError *error = NULL;
    bool good = detach_earlier(adapter, &error) && adapter_attach(adapter, qpn, &error);

    report_end(good, adapter->attached.qpn == qpn ? ATTACHER_LEFT : ATTACHER_REFUSED, error);
}

static bool detach(struct adapter *adapter)
{
    GError *error = NULL;
    bool good = adapter_detach(adapter, &error);

    return report_end(good, ATTACHER_LEFT, error);
}

/* Waits for the next order. Returns false if the capture has ended. */
static bool next_order(struct attacher_order *order)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    while (poll(&fd, 1, -1) > 0 || errno == EINTR)
        if (fd.revents)
            return recv(STDIN_FILENO, order, sizeof(*order), 0) == (ssize_t)sizeof(*order);
    return false;
}

static void carry_out(struct adapter *adapter, const struct attacher_order *order)
{
    if (order->qpn)
        attach(adapter, order->qpn);
    else
        detach(adapter);
    alarm(0);
}

/* Returns the exit status. */
static int run(struct adapter *adapter)
{
    struct attacher_order order;
    bool ordered = false, good = true;

    report(ATTACHER_READY, "");
    while (next_order(&order)) {
        carry_out(adapter, &order);
        ordered = true;
    }
    if (ordered && adapter->attached.qpn) /* never what an earlier capture left, without an order */
        good = detach(adapter);
    adapter_close(adapter);
    return good ? 0 : 1;
}

/* Nothing of the user's process stays: environment, folder, file mode mask, signals. */
static void isolate(void)
{
    clearenv();
    umask(S_IRWXG | S_IRWXO);
    if (chdir("/") != 0)
        _exit(2);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    signal(SIGALRM, SIG_DFL);
    helper_ignore_signals();
}

static bool parse(struct adapter *adapter, char **argv)
{
    unsigned long port = strtoul(argv[2], NULL, 10);

    adapter->attached.device = strtoull(argv[5], NULL, 10);
    adapter->pci = argv[1];
    adapter->port = (uint8_t)port;
    adapter->wants_sent = strcmp(argv[3], "rx") != 0;
    adapter->wants_received = strcmp(argv[3], "tx") != 0;
    return pci_address_is_valid(argv[1]) && port >= 1 && port <= UINT8_MAX;
}

int attacher_main(int argc, char **argv)
{
    struct adapter adapter = {.record = -1};
    GError *error = NULL;

    if (argc != 6 || !parse(&adapter, argv))
        return 2;
    isolate();
    if (!adapter_open(&adapter, argv[4][0] ? argv[4] : NULL, &error)) {
        report_end(false, ATTACHER_REFUSED, error);
        adapter_close(&adapter);
        return 1;
    }
    alarm(0);
    return run(&adapter);
}
