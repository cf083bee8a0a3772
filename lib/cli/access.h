/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may access an output: the only place that sets modes. An output that has the contents of
 * inputs gets no reader who cannot read them all. Access control lists (acl(5)) are not computed:
 * an input that has one counts as a file of its owner only, and an output loses its own.
 */
#ifndef IPOIB_CLI_ACCESS_H
#define IPOIB_CLI_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

/* Of one file. */
struct access_readers {
    mode_t mode; /* 0600 if the mode does not show them: a pipe, or an access control list */
    uid_t owner;
    gid_t group;
};

struct access_limit {
    bool is_limited; /* the rest is valid: there was an input */
    mode_t mode;     /* the bits that all inputs have */
    bool one_owner;  /* all inputs have it */
    uid_t owner;     /* of the first input */
    gid_t group;     /* of the last input */
};

/* No limit: before the first input. */
extern const struct access_limit access_unlimited;

/* Of the open file FD. */
struct access_readers access_of(int fd);

/* Narrows LIMIT to the readers of an input. */
void access_narrow(struct access_limit *limit, const struct access_readers *readers);

/* Whether a file with these contents can belong to USER, another user than this one. */
bool access_suits_owner(const struct access_limit *limit, uid_t user);

/*
 * Gives the regular file FD the bits of MODE that LIMIT allows; with a limit, also removes its
 * access control list, and MODE's bits for others than the owner if it had one. If the inputs have
 * another group, the group's members count as any other users. Changes nothing that is right.
 * Returns an errno value, 0 on success.
 */
int access_set(int fd, const struct access_limit *limit, mode_t mode);

/*
 * Gives the new file FD the group, the access control list, the mode and the owner of the file OLD
 * (open for reading or writing; -1: it cannot be opened), as far as
 * LIMIT and the system allow. WAS: the state of OLD. If the group or the list cannot be kept, the
 * users that they are about lose their access. Returns an errno value, 0 on success.
 */
int access_keep(int fd, const struct access_limit *limit, int old, const struct stat *was);

/* 0666 less the umask: the mode of a new file that is not private. */
mode_t access_of_new(void);

#endif
