/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities. See privileges.h. */
#include "cli/privileges.h"

#include <errno.h>
#include <sys/capability.h>
#include <sys/prctl.h>

/* Capabilities that are effective while nothing is raised. Set once, before other threads start. */
static unsigned lowered;
static bool dropped;

/*
 * Adds the capabilities of WHICH that the program has to the permitted set and, if EFFECTIVE, to
 * the effective set.
 */
static bool keep_capability(cap_t left, cap_t have, unsigned which, bool effective)
{
    static const struct {
        unsigned privilege;
        cap_value_t capability;
    } all[] = {{PRIVILEGE_RAW, CAP_NET_RAW},
               {PRIVILEGE_LOCK, CAP_IPC_LOCK},
               {PRIVILEGE_FILES, CAP_DAC_OVERRIDE},
               {PRIVILEGE_OWNER, CAP_FOWNER},
               {PRIVILEGE_GIVE, CAP_CHOWN}};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        cap_flag_value_t has = CAP_CLEAR;

        if (!(which & all[i].privilege) ||
            cap_get_flag(have, all[i].capability, CAP_PERMITTED, &has) != 0 || has != CAP_SET)
            continue;
        if (cap_set_flag(left, CAP_PERMITTED, 1, &all[i].capability, CAP_SET) != 0 ||
            (effective && cap_set_flag(left, CAP_EFFECTIVE, 1, &all[i].capability, CAP_SET) != 0))
            return false;
    }
    return true;
}

static bool set_capabilities(unsigned active, unsigned reserve)
{
    cap_t have = cap_get_proc(), left = cap_init();
    bool good = have && left && keep_capability(left, have, active, true) &&
                keep_capability(left, have, reserve, false) && cap_set_proc(left) == 0;
    int error = errno;

    cap_free(have);
    cap_free(left);
    errno = error;
    return good;
}

/*
 * PR_SET_NO_NEW_PRIVS: programs started from here get no more capabilities, neither from file
 * capabilities nor because they run as root.
 */
bool privileges_drop(unsigned active, unsigned reserve, GError **error)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !set_capabilities(active, reserve)) {
        g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                    "cannot drop privileges: %s", g_strerror(errno));
        return false;
    }
    lowered = active;
    dropped = true;
    return true;
}

static cap_t suspended; /* what privileges_resume() sets; NULL: not suspended */

bool privileges_suspend(void)
{
    cap_t none = cap_get_proc();
    bool good;

    suspended = cap_get_proc();
    good = suspended && none && cap_clear_flag(none, CAP_EFFECTIVE) == 0 && cap_set_proc(none) == 0;
    cap_free(none);
    return good;
}

bool privileges_resume(void)
{
    bool good = cap_set_proc(suspended) == 0;

    cap_free(suspended);
    suspended = NULL;
    return good;
}

enum { ALL = PRIVILEGE_RAW | PRIVILEGE_LOCK | PRIVILEGE_FILES | PRIVILEGE_OWNER | PRIVILEGE_GIVE };

/*
 * A capability that the program does not have is not an error here: the operation that needs it
 * fails and reports that.
 */
void privileges_raise(unsigned which)
{
    if (dropped)
        set_capabilities(lowered | which, ALL);
}

void privileges_lower(void)
{
    if (dropped)
        set_capabilities(lowered, ALL);
}
