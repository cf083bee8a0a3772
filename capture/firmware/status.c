/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Failures of the firmware path. See status.h. */
#include "capture/firmware/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>

#include "cli/fail.h"

enum {
    SECURE_HOST = 0xcafe, /* the register of an adapter whose host may not access it */
    NO_ANSWER = 0xffff,
};

/* mstflint's error codes of a firmware command (mtcr_com_defs.h). */
enum {
    ICMD_CR_FAIL = 0x200,
    ICMD_INVALID_OPCODE,
    ICMD_INVALID_CMD,
    ICMD_OPERATIONAL_ERROR,
    ICMD_BAD_PARAM,
    ICMD_BUSY,
    ICMD_INIT_FAILED,
    ICMD_NOT_SUPPORTED,
    ICMD_SEMAPHORE_TIMEOUT,
    ICMD_EXECUTE_TIMEOUT,
    ICMD_INTERFACE_BUSY,
    ICMD_NOT_READY,
    ICMD_UNSUPPORTED_VERSION,
    ICMD_UNKNOWN_STATUS, /* as an error that is not known here */
    ICMD_ICM_NOT_AVAILABLE,
    ICMD_WRITE_PROTECT,
    ICMD_NO_SEMAPHORE = ICMD_CR_FAIL + 0x11, /* not in Debian 12's version */
};

static bool file_contains(const char *path, const char *text)
{
    char line[200] = "";
    FILE *f = fopen(path, "re");

    if (!f)
        return false;
    if (!fgets(line, sizeof(line), f))
        line[0] = '\0';
    fclose(f);
    return strstr(line, text) != NULL;
}

static bool is_locked_down(void)
{
    static const char file[] = "/sys/kernel/security/lockdown";

    return file_contains(file, "[integrity]") || file_contains(file, "[confidentiality]");
}

static bool has(cap_t all, cap_value_t which)
{
    cap_flag_value_t value = CAP_CLEAR;

    return cap_get_flag(all, which, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

/* Whether this root has fewer rights than the host's: in a container. */
static bool is_confined(void)
{
    cap_t all = cap_get_proc();
    bool lacks = !all || !has(all, CAP_SYS_ADMIN) || !has(all, CAP_SYS_RAWIO);

    cap_free(all);
    return lacks || !file_contains("/proc/self/uid_map", "4294967295");
}

/* What keeps a root user from the adapter's PCI registers. */
static const char *obstacle(void)
{
    if (is_locked_down())
        return "the kernel is locked down (Secure Boot), so no program can reach the adapter's "
               "registers: boot without lockdown";
    if (is_confined())
        return "this container may not reach the adapter's registers: run ipoib-capture on the "
               "host, or in a container with all capabilities and the host's /sys (docker run "
               "--privileged)";
    return "the adapter does not answer, or another firmware tool holds its lock: end that, and look "
           "for errors of mlx5_core in dmesg";
}

bool status_fail_open(int number, GError **error)
{
    if (number == ENOTSUP)
        return fail_with(error, "mstflint does not know this adapter: install a newer mstflint");
    if (number == ENOENT || number == ENODEV || number == ENXIO)
        return fail_with(
            error,
            "mstflint does not find the adapter's PCI function (%s): in a container, mount the host's /sys",
            strerror(number));
    return fail_with(error, "mstflint cannot open the adapter (%s): %s",
                     number ? strerror(number) : "no reason given", obstacle());
}

bool status_fail_access(GError **error)
{
    return fail_with(error, "the adapter's registers cannot be accessed: %s", obstacle());
}

#define UNKNOWN_COMMAND "the adapter's firmware does not know the command: update the firmware"
#define BUSY                                                                                       \
    "the adapter's command interface is busy: end other firmware tools (mstflint, mstconfig, "     \
    "ibdump), and try again"
#define REFUSED                                                                                    \
    "the adapter's firmware refuses the command for this port: another sniffer (ibdump) may be "   \
    "attached to it: end that"
#define LOOK "look for errors of mlx5_core in dmesg"

/* The errors that are known. is_refusal: see status_is_refusal(). */
static const struct command_failure {
    int status;
    bool is_refusal;
    const char *text;
} failures[] = {
    {ICMD_INVALID_OPCODE, true, UNKNOWN_COMMAND},
    {ICMD_INVALID_CMD, true, UNKNOWN_COMMAND},
    {ICMD_OPERATIONAL_ERROR, true, REFUSED},
    {ICMD_BAD_PARAM, true, REFUSED},
    {ICMD_BUSY, true, BUSY},
    {ICMD_INIT_FAILED, true,
     "mstflint cannot reach the adapter's command interface: install a newer mstflint, and " LOOK},
    {ICMD_NOT_SUPPORTED, true,
     "mstflint cannot send firmware commands to this adapter: install a newer mstflint"},
    {ICMD_SEMAPHORE_TIMEOUT, true, BUSY},
    {ICMD_EXECUTE_TIMEOUT, false,
     "the adapter's firmware does not complete the command: " LOOK
     ", and reset the adapter (mstfwreset)"},
    {ICMD_NO_SEMAPHORE, true, BUSY},
    {ICMD_INTERFACE_BUSY, true, BUSY},
    {ICMD_NOT_READY, true, BUSY},
    {ICMD_UNSUPPORTED_VERSION, true,
     "mstflint does not know the version of the adapter's command interface: install a newer "
     "mstflint"},
    {ICMD_ICM_NOT_AVAILABLE, true,
     "the adapter's firmware has no memory for commands: load the driver mlx5_core, and " LOOK},
    {ICMD_WRITE_PROTECT, true,
     "the adapter's firmware may be in a restricted mode: switch it off on the machine that manages "
     "the adapter (mstprivhost)"},
};

static const struct command_failure *find_failure(int status)
{
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (failures[i].status == status)
            return &failures[i];
    return NULL;
}

bool status_is_refusal(int status)
{
    const struct command_failure *failure = find_failure(status);

    return failure && failure->is_refusal;
}

bool status_fail_command(int status, GError **error)
{
    const struct command_failure *failure = find_failure(status);

    if (status == ICMD_CR_FAIL)
        return status_fail_access(error);
    return fail_with(error, "%s (mstflint error 0x%x)",
                     failure ? failure->text
                             : "the firmware command failed for a reason that is not known: " LOOK,
                     (unsigned)status);
}

bool status_fail_hardware(unsigned id, GError **error)
{
    if (id == SECURE_HOST)
        return fail_with(error, "the adapter's firmware may be in a restricted mode (secure host): "
                                "the adapter's administrator must open it (mstconfig, key)");
    if (id == NO_ANSWER)
        return fail_with(error, "the adapter does not answer: it was removed, or is being reset");
    return fail_with(error,
                     "the adapter has hardware id 0x%x, which is not in the list of adapters with "
                     "a known sniffer: nothing was written to it",
                     id);
}
