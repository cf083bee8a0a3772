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

/* A library that hangs as long as this ends the process. The record (record.h) stays. */
enum { HANG_S = 60 };

static void report(enum attachment_event event, const char *before, const GError *error)
{
    struct attacher_report r = {.event = event};

    snprintf(r.text, sizeof(r.text), "%s%s", before, error ? error->message : "");
    send(STDIN_FILENO, &r, sizeof(r), MSG_NOSIGNAL);
}

/* Reports how an order ended; frees ERROR. */
static bool report_end(bool good, enum attachment_event otherwise, GError *error)
{
    report(good ? ATTACHER_DONE : otherwise, "", error);
    g_clear_error(&error);
    return good;
}

/* An earlier attacher was killed: its sniffer points to a queue pair that is gone. */
static void detach_earlier(struct adapter *adapter)
{
    GError *error = NULL;

    if (adapter->attached.qpn == 0)
        return;
    if (adapter_detach(adapter, &error))
        report(ATTACHER_NOTE,
               "an earlier capture was killed with its second process: its sniffer, which was "
               "still attached, is detached",
               NULL);
    else
        report(ATTACHER_NOTE,
               "the sniffer that an earlier capture left attached cannot be detached: ", error);
    g_clear_error(&error);
}

static void attach(struct adapter *adapter, uint32_t qpn)
{
    GError *error = NULL;
    bool good;

    detach_earlier(adapter);
    good = adapter_attach(adapter, qpn, &error);
    report_end(good, ATTACHER_REFUSED, error);
}

static bool detach(struct adapter *adapter)
{
    GError *error = NULL;
    bool good = adapter_detach(adapter, &error);

    return report_end(good, ATTACHER_LEFT, error);
}

/* Waits for the next order. Returns false if the capture has ended, or this process is to end. */
static bool next_order(struct attacher_order *order)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!helper_stopped && (poll(&fd, 1, -1) > 0 || errno == EINTR))
        if (fd.revents)
            return recv(STDIN_FILENO, order, sizeof(*order), 0) == (ssize_t)sizeof(*order);
    return false;
}

static void carry_out(struct adapter *adapter, const struct attacher_order *order)
{
    alarm(HANG_S);
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

    report(ATTACHER_READY, "", NULL);
    while (next_order(&order)) {
        carry_out(adapter, &order);
        ordered = true;
    }
    alarm(HANG_S);
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
    helper_catch_signals(false);
}

static bool parse(struct adapter *adapter, char **argv)
{
    unsigned long port = strtoul(argv[2], NULL, 10);

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

    if (argc != 5 || !parse(&adapter, argv))
        return 2;
    isolate();
    alarm(HANG_S);
    if (!adapter_open(&adapter, argv[4][0] ? argv[4] : NULL, &error)) {
        report(ATTACHER_REFUSED, "", error);
        g_clear_error(&error);
        adapter_close(&adapter);
        return 1;
    }
    alarm(0);
    return run(&adapter);
}
