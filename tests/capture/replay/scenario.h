/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scenario of the simulated libibverbs: which devices exist, which calls fail, what they
 * receive, and which errors occur. It is read from the file that the environment variable
 * IPOIB_REPLAY names. Each line has a word and its values:
 */
/* clang-format off: a table
 *
 *   device NAME            starts a device; all that follows belongs to it
 *   transport iwarp        not an InfiniBand device
 *   sysfs FOLDER           its folder in sysfs; the number of dropped frames is written to
 *                          ports/1/hw_counters/out_of_buffer there, if it exists
 *   max-qp-wr N, max-cqe N its limits
 *   clock KHZ|wallclock    completions contain the device's counter, or the time of day
 *   clock-ahead MS         this far ahead of the host's time;  clock-drift PPM: the counter is this
 *                          much faster than KHZ
 *   ports N                default 1, all alike
 *   port active|down ib|ethernet|none
 *   lid N, lmc N, mtu N, gid ADDRESS, pkeys N...
 *   fail VERB ERRNO        that verb fails: list open pd mr channel cq qp-ud qp-raw init rtr flow
 *                          attach umad query-device query-port
 *   later VERB ERRNO       the same, but only after the queue pair or the device has failed
 *   group MGID MLID QKEY [FROM [TO]]  a group of the SA; it exists from FROM to TO, in ms after the
 *                          first request to the SA. Two groups with the same MGID, one after the
 *                          other, are a group that is deleted and created again
 *   sa-log FILE            the SA writes to it which JoinStates of which groups are joined and
 *                          left, and at the end "queued BYTES" for each response that was not
 *                          received
 *   sa-status STATUS [ATTRIBUTE [METHOD]]  the SA answers requests (for that attribute, with that
 *                          method) with this status, and does not do them;
 *                          sa-sleeps MS: it answers nothing so long after the first request
 *                          sa-slow MS [ATTRIBUTE [METHOD]]: it answers requests (for that attribute,
 *                          with that method) after this time. The library waits as long as the
 *                          program says, as the kernel does, then gives the request back
 *   sa-spoils ATTRIBUTE METHOD AT VALUE [LACKS]  the SA's answers with success to such requests have
 *                          these two bytes at that offset of the first record, and lack LACKS
 *                          bytes at their end
 *   sa-refuses STATUS      joins are rejected;  sa-silent FROM [TO]: the SA does not answer, in ms
 *                          as for a group
 *   sa-makes on            a FullMember's join with a Q_Key creates a missing group, which goes with
 *                          its last FullMember
 *   sa-recreates MS        after this time since the first request, all groups are deleted and
 *                          created again; sa-recreates-state N: the port's JoinState in them then, as
 *                          joined by its host; default 0: none
 *   sa-members N           number of additional records in the table of all groups: other ports'
 *                          memberships of the first group, and solicited-node groups of partition
 *                          0x8002
 *   memlock on             memory is registered up to RLIMIT_MEMLOCK, as for a user without
 *                          CAP_IPC_LOCK
 *   frames FILE            a classic pcap of link type 247 or 1: its frames arrive, repeatedly
 *   synthetic BYTES        or synthetic frames of that size, with their number (8 bytes,
 *                          big-endian) at the end; a queue pair that is attached to groups gets
 *                          datagrams of that size to the first group
 *   total N                number of frames (default: those of the file once; synthetic: no limit)
 *   rate N                 frames per second; a frame without a posted receive is lost. Without a
 *                          rate, frames wait for receives
 *   burst N                N frames arrive at once; without a rate, when the program has found the
 *                          queue empty
 *   thread on              a thread delivers frames by the clock, not the program's calls; only
 *                          with a rate
 *   wait on                frames wait for receives, with a rate, too
 *   sm on                  a subnet manager runs on its ports
 *   firmware FILE          frames arrive while this file exists, as if the firmware's sniffer were
 *                          attached to the queue pair (mstflint.c)
 *   cold on                frames are in no cache of the processor, as after a device's DMA
 *                          (x86-64)
 *   bill FILE              at the end, the CPU time of the capture is written to it, see bill.h
 *   at N WHAT [VALUE]      after N frames ...
 *   after MS WHAT [VALUE]  this time after the start of the flow ...
 *   when FILE WHAT [VALUE] when this file exists ...
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
    uint64_t when; /* frames, or ns since the start of the flow */
    char *file;    /* or when it exists; else NULL */
    char what[16];
    uint64_t value;
    bool done;
};

struct failure {
    char verb[16];
    int error;
    bool later;
};

struct played_group {
    union ibv_gid mgid;
    uint16_t mlid;
    uint32_t qkey;
    uint64_t from, to; /* ms */
};

struct packet_store {
    uint8_t *bytes;
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
    bool sa_makes;
    uint64_t silent_from, silent_to;  /* ms */
    uint16_t sa_status, sa_status_of; /* 0: no such status; of all attributes */
    uint8_t sa_status_method;         /* 0: of all methods */
    struct {
        uint8_t method;
        uint16_t attribute, value;
        int at, lacks;
    } sa_spoils;
    uint32_t sa_slow;       /* ms */
    uint16_t sa_slow_of;    /* 0: all attributes */
    uint8_t sa_slow_method; /* 0: all methods */
    uint32_t sa_sleeps;     /* ms since the first request, without a response */
    uint32_t sa_recreates;  /* ms; 0: never */
    uint8_t sa_recreates_state;
    uint32_t sa_members;
    struct failure failures[MAX_FAILURES];
    int failure_count;
    struct packet_store packets;
    uint32_t synthetic;
    uint64_t total, rate, burst;
    bool threaded, waits, cold, memlock, is_sm;
    char bill[200], firmware[200];
    struct incident incidents[MAX_INCIDENTS];
    int incident_count;
};

/*
 * Reads the file and returns the number of devices. If the file is wrong, prints a message and ends
 * the program.
 */
int scenario_read(const char *path, struct scenario *devices);

/* The error with which VERB fails, or 0. */
int scenario_failure(const struct scenario *s, const char *verb);
/* The same, also of those that fail later. */
int scenario_failure_later(const struct scenario *s, const char *verb);

#endif
