/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions to the subnet administrator of a port's subnet, and its answers, by libibumad. */
#ifndef IPOIB_HCA_CLIENT_H
#define IPOIB_HCA_CLIENT_H

#include <glib.h>

#include "wire/sa.h"

/* A question to the subnet administrator. */
struct sa_question {
    uint8_t method;
    uint16_t attribute;
    uint64_t mask, sm_key;
    uint8_t record[SA_DATA_SIZE];
};

/* Its answer. */
struct sa_answer {
    uint16_t status;
    GByteArray *records;   /* the caller's: what came, back to back; of a Get one record */
    uint32_t stride;       /* octets from one record to the next; 0: a single one */
    uint8_t mad[MAD_SIZE]; /* the response's first MAD, as it came */
};

/* Of the largest answer that is taken: of a table of 1.2 million MCMemberRecords. */
enum { SA_LARGEST = 64 << 20 };

enum sa_heard {
    SA_HEARD,
    SA_NOTHING,     /* no answer in time */
    SA_TOO_LARGE,   /* the answer came, is larger than SA_LARGEST, and was dropped */
    SA_FAILED,      /* it could not be asked */
    SA_INTERRUPTED, /* by *stop */
};

struct umad_sa;

/* 0, or an errno. */
int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port);
void umad_sa_close(struct umad_sa *sa);

/*
 * Asks, again if there is no answer or the SA says that it is busy, within so many milliseconds in
 * all. SA_HEARD with MAD_STATUS_BUSY: it was busy all the time. error: size octets for what went
 * wrong, also with SA_TOO_LARGE.
 */
enum sa_heard umad_sa_ask(struct umad_sa *sa, const struct sa_question *q, int ms,
                          const volatile int *stop, struct sa_answer *a, char *error, size_t size);

/*
 * From now on the SA's Reports are taken, and answered (IBA 13.4.8.2). SA_NOTHING: another program
 * of this port takes them.
 */
enum sa_heard umad_sa_watch(struct umad_sa *sa);
/*
 * The next of them, within so many milliseconds. SA_FAILED: none can be received any more; error:
 * size octets for why.
 */
enum sa_heard umad_sa_next_notice(struct umad_sa *sa, int ms, const volatile int *stop,
                                  uint8_t notice[NOTICE_SIZE], char *error, size_t size);

/* What the port is now: it changes with the SM. */
struct sa_port {
    uint8_t gid[GID_SIZE]; /* the default GID prefix and the port's GUID */
    uint16_t lid, sm_lid;
    uint8_t sm_sl;
    bool active;
};
bool umad_sa_port(const struct umad_sa *sa, struct sa_port *port);

#endif
