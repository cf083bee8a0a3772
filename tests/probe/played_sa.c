/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated SA for tests/probe/test_probe_node.py: loaded before libibumad, it answers in place
 * of the kernel. PLAYED_SA: what it answers to every request.
 *
 *   member [MTU]  the record of the group, with this MTU code (default: 4, 2048 bytes)
 *   absent        status 0x0300, no records
 *   silent        no answer
 *   busy, refused, no-sa   a status: busy, denied, unsupported method
 *   other         the record of another group
 *   denied        the port cannot be opened: EACCES
 *   gone          the port is gone when the request is to be sent
 *
 * PLAYED_SA_LOG: a file to which each request adds a line: method, attribute, component mask,
 * P_Key of the MGID.
 * PLAYED_SA_RECEIVED: a file to which each request adds the 256 bytes of its MAD, and one byte: how
 * often the kernel is to repeat it if there is no answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "wire/put.h"
#include "wire/sa.h"
#include "wire/smp.h"

enum { FILES = 64, AGENT = 3 };

static uint8_t answers[FILES][MAD_SIZE]; /* by descriptor */

static int plays(const char *what)
{
    const char *answer = getenv("PLAYED_SA");
    return answer && strncmp(answer, what, strlen(what)) == 0;
}

int umad_init(void)
{
    return 0;
}

int umad_open_port(const char *ca_name, int portnum)
{
    (void)ca_name;
    (void)portnum;
    if (plays("denied")) {
        errno = EACCES;
        return -EIO;
    }
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int umad_close_port(int portid)
{
    return close(portid);
}

/* NOLINTBEGIN(readability-non-const-parameter): the type is libibumad's */
int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
                  long method_mask[16 / sizeof(long)])
{
    (void)portid;
    (void)mgmt_class;
    (void)mgmt_version;
    (void)rmpp_version;
    (void)method_mask;
    return AGENT;
}
/* NOLINTEND(readability-non-const-parameter) */

int umad_unregister(int portid, int agentid)
{
    (void)portid;
    (void)agentid;
    return 0;
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
    (void)ca_name;
    memset(port, 0, sizeof *port);
    port->portnum = portnum;
    port->state = PORT_ACTIVE;
    port->base_lid = 3;
    port->sm_lid = 1;
    return plays("gone") ? -ENODEV : 0;
}

int umad_release_port(umad_port_t *port)
{
    (void)port;
    return 0;
}

static void log_request(const uint8_t *mad)
{
    const char *path = getenv("PLAYED_SA_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "0x%02x 0x%04x 0x%x 0x%04x\n", mad[MAD_METHOD], be16(mad + MAD_ATTRIBUTE),
            (unsigned)be64(mad + SA_COMPONENT_MASK), be16(mad + SA_DATA + MCM_MGID + 4));
    fclose(file);
}

static void keep_request(const uint8_t *mad, int retries)
{
    const char *path = getenv("PLAYED_SA_RECEIVED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fwrite(mad, 1, MAD_SIZE, file);
    fputc(retries, file);
    fclose(file);
}

static void make_answer(uint8_t *mad)
{
    const char *answer = getenv("PLAYED_SA");
    uint8_t *record = mad + SA_DATA;
    uint8_t mtu = 4; /* 2048 bytes */
    if (answer && strlen(answer) > sizeof "member")
        mtu = (uint8_t)strtoul(answer + sizeof "member", NULL, 10);
    mad[MAD_METHOD] |= MAD_RESPONSE;
    put16(mad + MAD_STATUS, plays("absent")    ? SA_STATUS_NO_RECORDS
                            : plays("busy")    ? MAD_STATUS_BUSY
                            : plays("refused") ? 0x0700
                            : plays("no-sa")   ? 0x0008
                                               : 0);
    put16(record + MCM_MLID, 0xc000);
    record[MCM_MTU] = (uint8_t)(2 << 6 | mtu);
    if (plays("other"))
        record[MCM_MGID + 15] ^= 1;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
    (void)agentid;
    (void)length;
    (void)timeout_ms;
    log_request(umad_get_mad(umad));
    keep_request(umad_get_mad(umad), retries);
    memcpy(answers[portid], umad_get_mad(umad), MAD_SIZE);
    make_answer(answers[portid]);
    return 0;
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
    if (plays("silent")) {
        usleep((useconds_t)timeout_ms * 1000);
        return -ETIMEDOUT;
    }
    memset(umad, 0, umad_size());
    memcpy(umad_get_mad(umad), answers[portid], MAD_SIZE);
    *length = MAD_SIZE;
    return AGENT;
}
