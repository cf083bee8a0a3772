/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays mstflint's library for tests: it records each call in the file "calls" of its own folder,
 * since the process that loads it has no environment, and behaves as the file "script" there says.
 * While a sniffer is attached, the file "attached" exists; a device of scenario.h ("firmware FILE")
 * then delivers frames. Lines of the script:
 *
 *   id N            the hardware id (default 0x20f, ConnectX-6)
 *   gone N          from the Nth read on, registers read as 0xffffffff
 *   open ERRNO      mopen() fails
 *   read, write     mread4() or mwrite4() fails
 *   status N CODE   the Nth command ends with this error code of mstflint
 *   obeys N         the Nth command does what it says, also if it ends with an error code
 *   crash           mopen() crashes
 *   hang WHAT       open, command, or the Nth command ("hang 3"): it does not return;
 *                   half a second later the file "hangs" exists
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void *mopen(const char *name);
EXPORT int mclose(void *device);
EXPORT int mread4(void *device, unsigned address, uint32_t *value);
EXPORT int mwrite4(void *device, unsigned address, uint32_t value);
EXPORT int icmd_send_command(void *device, int opcode, void *data, int size, int skip_write);

static unsigned commands, reads;

/* A file beside this library. */
static const char *beside(const char *name)
{
    static char path[4096];
    Dl_info info;

    if (!dladdr(&commands, &info))
        abort();
    snprintf(path, sizeof(path), "%s", info.dli_fname);
    strcpy(strrchr(path, '/') + 1, name);
    return path;
}

/* The number after the first line of the script that starts with WORDS; -1: none. */
static long scripted(const char *words)
{
    FILE *f = fopen(beside("script"), "r");
    char line[200];
    long found = -1;

    while (f && found < 0 && fgets(line, sizeof(line), f))
        if (strncmp(line, words, strlen(words)) == 0)
            found = strtol(line + strlen(words), NULL, 0);
    if (f)
        fclose(f);
    return found;
}

static void record(const char *call)
{
    FILE *f = fopen(beside("calls"), "a");

    if (!f)
        abort();
    fprintf(f, "%s\n", call);
    fclose(f);
}

enum { HANG_US = 500000 };

static void hang_if(const char *words)
{
    if (scripted(words) < 0)
        return;
    usleep(HANG_US); /* the caller has begun to wait */
    fclose(fopen(beside("hangs"), "a"));
    while (scripted(words) >= 0)
        pause();
}

EXPORT void *mopen(const char *name)
{
    char call[200];

    snprintf(call, sizeof(call), "mopen %s", name);
    record(call);
    hang_if("hang open");
    if (scripted("crash") >= 0)
        raise(SIGKILL);
    fprintf(stderr, "played mstflint: a message\n");
    if (scripted("open ") < 0)
        return &commands;
    errno = (int)scripted("open ");
    return NULL;
}

EXPORT int mclose(void *device)
{
    record(device == &commands ? "mclose" : "mclose of something else");
    return 0;
}

EXPORT int mread4(void *device, unsigned address, uint32_t *value)
{
    char call[100];

    (void)device;
    snprintf(call, sizeof(call), "mread4 0x%x", address);
    record(call);
    if (scripted("read") >= 0)
        return -1;
    *value = scripted("id ") >= 0 ? (uint32_t)scripted("id ") : 0x20f;
    if (scripted("gone ") >= 0 && ++reads >= (unsigned)scripted("gone "))
        *value = 0xffffffff;
    return 4;
}

EXPORT int mwrite4(void *device, unsigned address, uint32_t value)
{
    char call[100];

    (void)device;
    snprintf(call, sizeof(call), "mwrite4 0x%x 0x%x", address, value);
    record(call);
    return scripted("write") >= 0 ? -1 : 4;
}

#ifndef PLAY_OTHER_VERSION
static int attached[2]; /* sent, received */

static void note_sniffer(const unsigned char *data)
{
    attached[data[7] & 1] = data[5] & 1;
    if (!attached[0] && !attached[1])
        unlink(beside("attached"));
    else
        fclose(fopen(beside("attached"), "a"));
}

EXPORT int icmd_send_command(void *device, int opcode, void *data, int size, int skip_write)
{
    const unsigned char *bytes = data;
    char call[200], words[40];
    int len = snprintf(call, sizeof(call), "icmd 0x%x ", (unsigned)opcode);
    long status;

    (void)device;
    for (int i = 0; i < size && i < 64; i++)
        len += snprintf(call + len, sizeof(call) - (size_t)len, "%s%02x",
                        i && i % 4 == 0 ? " " : "", bytes[i]);
    snprintf(call + len, sizeof(call) - (size_t)len, " %d", skip_write);
    record(call);
    commands++;
    hang_if("hang command");
    snprintf(words, sizeof(words), "hang %u", commands);
    hang_if(words);
    snprintf(words, sizeof(words), "status %u ", commands);
    status = scripted(words);
    snprintf(words, sizeof(words), "obeys %u", commands);
    if (status <= 0 || scripted(words) >= 0)
        note_sniffer(bytes);
    return status > 0 ? (int)status : 0;
}
#endif
