/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops the capabilities that are only needed to open devices and files. */
#ifndef IPOIB_CLI_PRIVILEGES_H
#define IPOIB_CLI_PRIVILEGES_H

#include <glib.h>
#include <stdbool.h>

/* Capabilities that the programs still need afterwards; one bit each. */
enum privilege {
    PRIVILEGE_RAW = 1,   /* CAP_NET_RAW: sniffer and controlled Q_Keys */
    PRIVILEGE_LOCK = 2,  /* CAP_IPC_LOCK: registered memory beyond the memlock limit */
    PRIVILEGE_FILES = 4, /* CAP_DAC_OVERRIDE: files that their permissions would not allow */
    PRIVILEGE_OWNER = 8, /* CAP_FOWNER: the modes of files of others */
    PRIVILEGE_GIVE = 16, /* CAP_CHOWN: a file that is replaced keeps its owner */
};

/*
 * Drops all capabilities permanently, except those of ACTIVE and RESERVE that the program has.
 * Those only in RESERVE are not effective until they are raised. Call it before other threads
 * start, because threads inherit the capabilities. Returns false and sets ERROR (G_FILE_ERROR) if
 * they cannot be dropped: the program must exit.
 */
bool privileges_drop(unsigned active, unsigned reserve, GError **error);

/*
 * Makes no capability effective, to see what is possible without them, until privileges_resume.
 * Only before privileges_drop. Returns false with errno.
 */
bool privileges_suspend(void);
bool privileges_resume(void);

/* Makes the capabilities WHICH effective in this thread until privileges_lower. */
void privileges_raise(unsigned which);
void privileges_lower(void);

#endif
