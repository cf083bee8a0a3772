/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the stand-in for libibverbs plays: the devices that there are, what they refuse, what they
 * receive, and what befalls them. Read from the file that the environment variable IPOIB_REPLAY
 * names; a word and its values a line:
 */
/* clang-format off: a table
 *
 *   device NAME            begins a device; all that follows is its own
 *   transport iwarp        it is no InfiniBand device
 *   sysfs FOLDER           its place in sysfs; there ports/1/hw_counters/out_of_buffer counts what it loses, if it exists
 *   max-qp-wr N, max-cqe N its limits
 *   clock KHZ|wallclock    completions carry the device's counter, or the time of day
 *   clock-ahead MS         that time of day, before the host's;  clock-drift PPM: the counter is so much faster than KHZ
 *   ports N                default 1, all alike
 *   port active|down ib|ethernet|none
 *   lid N, lmc N, mtu N, gid ADDRESS, pkeys N...
 *   fail VERB ERRNO        that verb fails: list open pd mr channel cq qp-ud qp-raw init rtr flow attach umad
 *   group MGID MLID QKEY [FROM [TO]]  a group of the SA's; it comes and goes so many ms after the SA is first asked; of two
 *                          with one MGID, one after the other, the second is the first deleted and made anew
 *   sa-log FILE            there the SA writes which states (JoinState) of which group are joined and left, and at the end
 *                          "queued BYTES" of each answer that was not received
 *   sa-refuses STATUS      of joins;  sa-silent FROM [TO]: it does not answer then, ms as a group's
 *   sa-anew MS             so long after the first question all groups are deleted and made anew;
 *                          sa-anew-state N: the JoinState that the port has in them then, of its host; default 0: none
 *   sa-members N           so many records more has the table of all groups: other ports' memberships of the first group,
 *                          and solicited-node groups of partition 0x8002
 *   memlock on             memory is registered up to RLIMIT_MEMLOCK, as of a user without CAP_IPC_LOCK
 *   frames FILE            a classic pcap of link type 247 or 1: these frames come, again and again
 *   synthetic OCTETS       or made ones of that size, with their number (8 octets, big-endian) at the end; to a queue pair
 *                          that is attached to groups, datagrams of that size to the first group
 *   total N                so many frames come (default: those of the file once; synthetic: without end)
 *   rate N                 so many a second; what finds no receive posted is lost. Without it, frames wait for receives
 *   burst N                so many come at once; without a rate, when the program has found the queue empty
 *   thread on              a thread lets frames come by the clock, not the program's calls; only with a rate
 *   wait on                with a rate too, frames wait for receives
 *   cold on                what comes is in no cache of the processor's, as after a device's DMA (x86-64)
 *   bill FILE              at the end the processor time that the capture took is written into it, see bill.h
 *   at N WHAT [VALUE]      when N frames have come ...
 *   after MS WHAT [VALUE]  when the flow is so old ...
 *     error STATUS         ... the next frame's completion has that status (ibv_wc_status)
 *     drop N               ... the next N frames are lost
 *     qp-error, cq-error, poll-error, post-error, remove, port-down, port-up, lid N, pause MS
 */
/* clang-format on */
#ifndef REPLAY_SCENARIO_H
#define REPLAY_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

enum { MAX_DEVICES = 8, MAX_INCIDENTS = 4096, MAX_FAILURES = 16, MAX_PKEYS = 128, MAX_GROUPS = 64 };

struct incident {
    bool by_time;
    uint64_t when; /* frames, or nanoseconds since the flow began */
    char what[16];
    uint64_t value;
    bool done;
};

struct failure {
    char verb[16];
    int error;
};

struct played_group {
    union ibv_gid mgid;
    uint16_t mlid;
    uint32_t qkey;
    uint64_t from, to; /* ms */
};

struct packet_store {
    uint8_t *octets;
    size_t *begins; /* count + 1 of them */
    size_t count;
};

struct scenario {
    char name[64], sysfs[200];
    bool iwarp, wallclock;
    uint64_t clock_khz;
    int64_t clock_ahead, clock_drift; /* ns; ppm */
    int max_qp_wr, max_cqe, ports;
    enum ibv_port_state state;
    uint8_t link_layer, lmc;
    uint16_t lid;
    unsigned mtu;
    union ibv_gid gid;
    uint16_t pkeys[MAX_PKEYS];
    int pkey_count;
    struct played_group groups[MAX_GROUPS];
    int group_count;
    char sa_log[200];
    uint16_t sa_refuses;
    uint64_t silent_from, silent_to; /* ms */
    uint32_t sa_anew;                /* ms; 0: never */
    uint8_t sa_anew_state;
    uint32_t sa_members;
    struct failure failures[MAX_FAILURES];
    int failure_count;
    struct packet_store packets;
    uint32_t synthetic;
    uint64_t total, rate, burst;
    bool threaded, waits, cold, memlock;
    char bill[200];
    struct incident incidents[MAX_INCIDENTS];
    int incident_count;
};

/*
 * Reads the file; ends the program after a message if it is wrong. Returns how many devices there
 * are.
 */
int scenario_read(const char *path, struct scenario *devices);

/* The error with which VERB fails, or 0. */
int scenario_failure(const struct scenario *s, const char *verb);

#endif
