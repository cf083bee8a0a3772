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

/* The library's read4 and write4 return the number of bytes. */
enum { WORD = 4 };

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
    errno = 0;
    adapter->device = adapter->library.open(adapter->pci);
    return adapter->device || status_fail_open(errno, error);
}

/* Reads which kind of adapter it is. Returns NULL and sets ERROR if it is none that is known. */
static const struct adapter_kind *read_kind(const struct adapter *adapter, GError **error)
{
    const struct adapter_kind *kind;
    uint32_t id = 0;

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

/* Attaches or detaches one direction. */
static bool send_command(const struct adapter *adapter, uint32_t qpn, bool received, bool attach,
                         GError **error)
{
    const struct sniffer_command command = {
        .received = received, .attach = attach, .port = adapter->port, .qpn = qpn};
    uint8_t bytes[SNIFFER_COMMAND_LEN];
    int status;

    sniffer_command_put(bytes, &command);
    status = adapter->library.command(adapter->device, SNIFFER_OPCODE, bytes, sizeof(bytes), 0);
    return status == 0 || status_fail_command(status, error);
}

/* Detaches both directions, the second also if the first cannot be detached. */
static bool detach_directions(struct adapter *adapter, GError **error)
{
    struct attached *a = &adapter->attached;

    if (a->sent && send_command(adapter, a->qpn, false, false, error))
        a->sent = false;
    if (a->received && send_command(adapter, a->qpn, true, false, a->sent ? NULL : error))
        a->received = false;
    return !a->sent && !a->received;
}

bool adapter_detach(struct adapter *adapter, GError **error)
{
    struct attached *a = &adapter->attached;

    if ((a->sent || a->received) && (!unlock(adapter, error) || !detach_directions(adapter, error)))
        return false;
    a->qpn = 0;
    return record_write(adapter->record, a, error);
}

/* Sent packets first, as ibdump does. */
static bool attach_directions(struct adapter *adapter, uint32_t qpn, GError **error)
{
    struct attached *a = &adapter->attached;

    a->sent = adapter->wants_sent && send_command(adapter, qpn, false, true, error);
    if (adapter->wants_sent && !a->sent)
        return false;
    a->received = adapter->wants_received && send_command(adapter, qpn, true, true, error);
    return !adapter->wants_received || a->received;
}

/* What is to be attached is recorded first: this process can be killed at any time. */
bool adapter_attach(struct adapter *adapter, uint32_t qpn, GError **error)
{
    const struct attached planned = {qpn, adapter->wants_sent, adapter->wants_received};

    adapter->attached = (struct attached){.qpn = qpn};
    if (record_write(adapter->record, &planned, error) && unlock(adapter, error) &&
        attach_directions(adapter, qpn, error))
        return true;
    if (!adapter_detach(adapter, NULL))
        g_prefix_error(
            error,
            "the packets that the port sends are still copied, until the next capture on it: ");
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
