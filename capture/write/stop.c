/* SPDX-License-Identifier: GPL-2.0-or-later */
/* End of a capture. See stop.h. */
#include "capture/write/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_bool requested;
static atomic_int last_signal, signals;
static int wake = -1;

void stop_request(void)
{
    const uint64_t one = 1;

    atomic_store(&requested, true);
    if (write(wake, &one, sizeof(one)) < 0)
        return; /* the counter is at its limit, so it is readable anyway */
}

static const char *_Atomic last_words; /* NULL: a signal does not end the program at once */

static void end_at_once(int number, const char *message)
{
    while (write(STDERR_FILENO, message, strlen(message)) < 0 && errno == EINTR)
        ;
    _exit(128 + number);
}

static void on_signal(int number)
{
    const char *message = atomic_load(&last_words);
    int saved = errno;

    if (message)
        end_at_once(number, message);

    atomic_store(&last_signal, number);
    atomic_fetch_add(&signals, 1);
    stop_request();
    errno = saved;
}

bool stop_catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;

    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake < 0)
        return false;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
        /*
         * If SIGHUP is ignored, keep that: nohup does so on purpose. An ignored SIGINT is replaced:
         * shells ignore it in background jobs of scripts.
         */
        if (caught[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
            before.sa_handler == SIG_IGN)
            continue;
        if (sigaction(caught[i], &action, NULL) != 0)
            return false;
    }
    return true;
}

void stop_at_once(const char *message)
{
    atomic_store(&last_words, message);
}

bool stop_requested(void)
{
    return atomic_load_explicit(&requested, memory_order_acquire);
}

int stop_signal(void)
{
    return atomic_load(&last_signal);
}

int stop_signals(void)
{
    return atomic_load(&signals);
}

int stop_fd(void)
{
    return wake;
}
