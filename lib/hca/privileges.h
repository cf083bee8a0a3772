/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges: what opening the devices needs is given back when they are open. */
#ifndef IPOIB_HCA_PRIVILEGES_H
#define IPOIB_HCA_PRIVILEGES_H

#include <stdbool.h>

/* What the programs still need then, each a bit. */
enum privilege {
    PRIVILEGE_RAW = 1,   /* CAP_NET_RAW: sniffing, and controlled Q_Keys */
    PRIVILEGE_LOCK = 2,  /* CAP_IPC_LOCK: memory beyond the limit of what may be locked */
    PRIVILEGE_FILES = 4, /* CAP_DAC_OVERRIDE: files where their rights alone would not allow it */
};

/*
 * Gives back all capabilities, for good, but those of ACTIVE and RESERVE that the program has.
 * Those of RESERVE alone are without effect until they are raised. Returns false after a message:
 * the program is to end. It is called before any other thread is started, which has the same.
 */
bool privileges_drop(unsigned active, unsigned reserve);

/* Makes these of RESERVE effective, in this thread, until privileges_lower. */
void privileges_raise(unsigned which);
void privileges_lower(void);

#endif
