/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SA client: requests to the SA of a port's subnet and its responses, through libibumad. */
#ifndef IPOIB_HCA_CLIENT_H
#define IPOIB_HCA_CLIENT_H

#include <glib.h>

#include "wire/sa.h"

/* A request to the SA. */
struct sa_query {
    uint8_t method;
    uint16_t attribute;
    uint32_t modifier; /* AttributeModifier; 0 but for tables that IBA 15.2.5 names */
    uint64_t mask, sm_key;
    uint8_t record[SA_DATA_SIZE];
    /*
     * An SA that is slow is listened to for longer than a request is repeated: milliseconds in
     * which it is sent three times, and within which a busy SA is asked again. Later it is sent
     * twice more. 0: the whole wait.
     */
    unsigned tries_ms;
};

/* Response times that are kept of a query: a busy SA answers several of its tries. */
enum { SA_TIMED = 16 };

/* The response. */
struct sa_response {
    uint16_t status;
    GByteArray *records; /* owned by the caller: the records, back to back; one record for a Get */
    uint32_t stride;     /* bytes from one record to the next; 0: a single record */
    uint8_t mad[MAD_SIZE]; /* first MAD of the response, as received */
    unsigned busy;         /* responses with status busy, to this try or earlier ones */
    /* How long each response took, the busy ones too; a try that the kernel repeats is one. */
    gint64 took_us[SA_TIMED];
    unsigned timed;
};

/* Maximum response in bytes: a table of 1.2 million MCMemberRecords. */
enum { SA_LARGEST = 64 << 20 };

enum sa_outcome {
    SA_OK,
    SA_NOTHING,     /* no response in time */
    SA_TOO_LARGE,   /* the response was larger than SA_LARGEST and was dropped */
    SA_FAILED,      /* the request could not be sent, or nothing can be received */
    SA_INTERRUPTED, /* interrupted by *stop */
};

struct umad_sa;

/* Returns 0 or an errno value. */
int umad_sa_open(struct umad_sa **sa, const char *device, unsigned port);
/* Closes and frees. NULL does nothing. */
void umad_sa_close(struct umad_sa *sa);

/*
 * Sends a request, and repeats it if there is no response or the SA is busy, for at most MS
 * milliseconds in total. A late response to an earlier try counts. SA_OK with MAD_STATUS_BUSY: the
 * SA was busy all the time. ERROR: SIZE bytes for a message, also with SA_TOO_LARGE.
 */
enum sa_outcome umad_sa_query(struct umad_sa *sa, const struct sa_query *q, int ms,
                              const volatile int *stop, struct sa_response *a, char *error,
                              size_t size);

/*
 * Starts to receive and acknowledge the SA's Reports (IBA 13.4.8.2). Returns SA_NOTHING if another
 * program on this port receives them.
 */
enum sa_outcome umad_sa_watch(struct umad_sa *sa);
/*
 * Waits at most MS milliseconds for the next Report. SA_FAILED: no more Reports can be received;
 * ERROR: SIZE bytes for the reason.
 */
enum sa_outcome umad_sa_next_notice(struct umad_sa *sa, int ms, const volatile int *stop,
                                    uint8_t notice[NOTICE_SIZE], char *error, size_t size);

/* Current state of the port; it changes with the SM. */
struct sa_port {
    uint8_t gid[GID_SIZE]; /* default GID: the subnet prefix and the port's GUID */
    uint16_t lid, sm_lid;
    uint8_t sm_sl;
    bool active;
};
/* Reads the current state of the port. Returns false if the port no longer exists. */
bool umad_sa_port(const struct umad_sa *sa, struct sa_port *port);

#endif
