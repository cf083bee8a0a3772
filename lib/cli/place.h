/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an output file is: the only place that decides whether a program may write to it.
 *
 * Another user who can create files in a folder can put something there before the program writes:
 * a symbolic link to a file of this user, a hard link to it, a file whose contents that user can
 * read, a FIFO. This is refused, whatever the kernel's protected_symlinks, protected_hardlinks,
 * protected_fifos and protected_regular (sysctl(5)) say. The rule, for each link on the way and for
 * what exists at its end:
 *
 * 1. If only this user and root can write to its folder, it is fine.
 * 2. Otherwise it must have only one name (no hard links), and belong to this user, to root, or to
 *    the owner of the folder. The folder's owner counts only if no other user could have created
 *    the folder under its name: /home/alice is alice's, /tmp/alice could be anybody's. A device
 *    counts as root's, because only root can make one.
 * 3. A link of the folder's owner must lead to a file of that owner, or to a new file in a folder
 * of that owner. It must not lead to /proc, where the links depend on the process: the same name is
 * this program's standard output.
 *
 * The links of /proc, such as /proc/PID/cwd, belong to the user of the process, and the rule
 * applies to them too. The program's own descriptors (/dev/stdout, /dev/fd/3, /proc/self/fd/3) are
 * what their opener chose: the program uses the descriptor itself, with its position and O_APPEND.
 */
#ifndef IPOIB_CLI_PLACE_H
#define IPOIB_CLI_PLACE_H

#include <glib.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* A name in an open folder, so that the folder cannot be replaced between two steps. */
struct place {
    int folder;
    char name[NAME_MAX + 1];
    bool exists;
    bool by_kernel; /* a name in /proc; STAT is of what it leads to */
    int descriptor; /* this descriptor of the program itself; -1: none */
    struct stat stat;
};

/*
 * Finds PATH. Returns 0 or an errno value. If the rule above refuses it, the value is EACCES, and
 * *REFUSAL is set to a message to print after PATH. Call place_clear() in all cases.
 */
int place_find(struct place *place, const char *path, GError **refusal);

/* Finds only the folder of PATH: for a file that must not exist. */
int place_find_folder(struct place *place, const char *path, GError **refusal);

void place_clear(struct place *place);

/* Whether both are one file, or will be. */
bool place_is_same(const struct place *a, const struct place *b);

/*
 * Opens what exists there. FLAGS: O_WRONLY; or O_RDONLY for a secret, which must not be a file of
 * another user (EPERM). Returns the descriptor, or -1 with errno; ESTALE: it is another file by
 * now. Does not truncate.
 */
int place_open(const struct place *place, int flags);

/* Creates a file. Returns the descriptor, or -1 with errno; EEXIST: something exists. */
int place_create(const struct place *place, mode_t mode);

/*
 * Creates a file beside it, under a random name. Writes the name to NAME. Returns the
 * descriptor, or -1 with errno.
 */
int place_create_beside(const struct place *place, mode_t mode, char name[NAME_MAX + 1]);

#endif
