/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges. See privileges.h. */
#include "probe/privileges.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "verdict/say.h"

/* Of those that the program has. */
static bool keep(cap_t left, cap_t have, cap_value_t which)
{
    cap_flag_value_t has = CAP_CLEAR;
    if (cap_get_flag(have, which, CAP_PERMITTED, &has) != 0 || has != CAP_SET)
        return true;
    return cap_set_flag(left, CAP_PERMITTED, 1, &which, CAP_SET) == 0 && cap_set_flag(left, CAP_EFFECTIVE, 1, &which, CAP_SET) == 0;
}

/*
 * What is left to be done: sending with a controlled Q_Key (CAP_NET_RAW), and registering memory beyond the limit of what
 * may be locked (CAP_IPC_LOCK).
 */
void privileges_drop(bool files)
{
    cap_t have = cap_get_proc(), left = cap_init();
    bool good = have && left && keep(left, have, CAP_NET_RAW) && keep(left, have, CAP_IPC_LOCK) &&
                (!files || keep(left, have, CAP_DAC_OVERRIDE)) && cap_set_proc(left) == 0 &&
                prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (!good)
        say("privileges cannot be given back: %s", strerror(errno));
    cap_free(have);
    cap_free(left);
}
