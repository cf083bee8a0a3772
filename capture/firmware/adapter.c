/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An open adapter. See adapter.h. */
#include "capture/firmware/adapter.h"

#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "capture/firmware/command.h"
#include "capture/firmware/lockfolder.h"
#include "capture/firmware/status.h"
#include "cli/fail.h"

enum {
    WORD = 4, /* the library's read4 and write4 return the number of bytes */
    /*
     * A call of the library that takes as long as this ends the process; the record (record.h)
     * stays. The library itself gives up earlier if it can.
     */
    HANG_S = 120,
};

/*
 * Root itself: with file capabilities or the set-user-ID bit, another user would have the library
 * run as root.
 */
static bool check_user(GError **error)
{
    if (getuid() == 0 && geteuid() == 0 && getauxval(AT_SECURE) == 0)
        return true;
    return fail_with(
        error,
        "the firmware's sniffer needs root: file capabilities (setcap) are not enough for it");
}

static bool open_device(struct adapter *adapter, GError **error)
{
    alarm(HANG_S);
    errno = 0;
    adapter->device = adapter->library.open(adapter->pci);
    return adapter->device || status_fail_open(errno, error);
}

/* Reads which kind of adapter it is. Returns NULL and sets ERROR if it is none that is known. */
static const struct adapter_kind *read_kind(const struct adapter *adapter, GError **error)
{
    const struct adapter_kind *kind;
    uint32_t id = 0;

    alarm(HANG_S);
    if (adapter->library.read4(adapter->device, HARDWARE_ID, &id) != WORD) {
        status_fail_access(error);
        return NULL;
    }
    kind = adapter_kind(id);
    if (!kind)
        status_fail_hardware(id & 0xffff, error);
    return kind;
}

bool adapter_open(struct adapter *adapter, const char *library, GError **error)
{
    adapter->record = -1;
    alarm(HANG_S);
    if (!check_user(error) || !mst_library_load(&adapter->library, library, error) ||
        !lockfolder_check(adapter->pci, error))
        return false;
    adapter->record = record_open(adapter->pci, adapter->port, &adapter->attached, error);
    return adapter->record >= 0 && open_device(adapter, error) && read_kind(adapter, error);
}

/* The word that must be written before commands. The adapter may have been removed since. */
static bool unlock(const struct adapter *adapter, GError **error)
{
    const struct adapter_kind *kind = read_kind(adapter, error);

    if (!kind)
        return false;
    return adapter->library.write4(adapter->device, kind->unlock, UNLOCK_WORD) == WORD ||
           status_fail_access(error);
}

/* Attaches or detaches one direction of adapter->attached.qpn. Returns the library's status. */
static int send_command(const struct adapter *adapter, bool received, bool attach)
{
    const struct sniffer_command command = {.received = received,
                                            .attach = attach,
                                            .port = adapter->port,
                                            .qpn = adapter->attached.qpn};
    _Alignas(uint64_t) uint8_t bytes[SNIFFER_COMMAND_LEN]; /* the library reads words */

    alarm(HANG_S);
    sniffer_command_put(bytes, &command);
    return adapter->library.command(adapter->device, SNIFFER_OPCODE, bytes, sizeof(bytes), 0);
}

static bool attach_direction(const struct adapter *adapter, bool received, bool *may_be,
                             GError **error)
{
    int status = send_command(adapter, received, true);

    *may_be = !status_is_refusal(status);
    return status == 0 || status_fail_command(status, error);
}

static bool detach_direction(const struct adapter *adapter, bool received, bool *may_be,
                             GError **error)
{
    int status = *may_be ? send_command(adapter, received, false) : 0;

    *may_be = status != 0;
    return status == 0 || status_fail_command(status, error);
}

/* Detaches both directions, the second also if the first cannot be detached. */
static bool detach_directions(struct adapter *adapter, GError **error)
{
    struct attached *a = &adapter->attached;
    bool good = detach_direction(adapter, false, &a->sent, error);

    return detach_direction(adapter, true, &a->received, good ? error : NULL) && good;
}

bool adapter_detach(struct adapter *adapter, GError **error)
{
    struct attached *a = &adapter->attached;
    bool good = (!a->sent && !a->received) ||
                (unlock(adapter, error) && detach_directions(adapter, error));

    if (good)
        a->qpn = 0;
    return record_write(adapter->record, a, good ? error : NULL) && good;
}

/* Sent packets first, as ibdump does. */
static bool attach_directions(struct adapter *adapter, GError **error)
{
    struct attached *a = &adapter->attached;

    return (!adapter->wants_sent || attach_direction(adapter, false, &a->sent, error)) &&
           (!adapter->wants_received || attach_direction(adapter, true, &a->received, error));
}

/* What is to be attached is recorded first: this process can be killed at any time. */
bool adapter_attach(struct adapter *adapter, uint32_t qpn, GError **error)
{
    struct attached *a = &adapter->attached;
    const struct attached planned = {a->device, qpn, adapter->wants_sent, adapter->wants_received};

    *a = (struct attached){.device = a->device, .qpn = qpn};
    if (record_write(adapter->record, &planned, error) && unlock(adapter, error) &&
        attach_directions(adapter, error))
        return true;
    if (!adapter_detach(adapter, NULL))
        g_prefix_error(error, "packets of the port may still be copied; the next capture on it "
                              "tries to end that: ");
    return false;
}

void adapter_close(struct adapter *adapter)
{
    if (adapter->device)
        adapter->library.close(adapter->device);
    if (adapter->record >= 0)
        close(adapter->record);
    adapter->device = NULL;
    adapter->record = -1;
}
