/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a scenario. See scenario.h. */
#include "scenario.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void wrong(const char *path, int line, const char *what)
{
    fprintf(stderr, "replay: %s:%d: %s\n", path, line, what);
    exit(99);
}

static int error_number(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } names[] = {{"EPERM", EPERM},           {"EACCES", EACCES}, {"EINVAL", EINVAL},
                 {"ENOMEM", ENOMEM},         {"ENOSYS", ENOSYS}, {"EIO", EIO},
                 {"EOPNOTSUPP", EOPNOTSUPP}, {"ENOTSUPP", 524}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].error;
    return atoi(name);
}

static bool load(struct packet_store *store, const char *path)
{
    FILE *f = fopen(path, "rb");
    uint32_t header[6], record[4];
    size_t room = 1 << 16, packets = 1024;

    if (!f || fread(header, sizeof(header), 1, f) != 1)
        return false;
    if ((header[0] != 0xa1b2c3d4 && header[0] != 0xa1b23c4d) ||
        (header[5] != 247 && header[5] != 1))
        return false;
    store->bytes = malloc(room);
    store->begins = calloc(packets + 1, sizeof(size_t));
    while (fread(record, sizeof(record), 1, f) == 1) {
        size_t at = store->begins[store->count];

        if (at + record[2] > room)
            store->bytes = realloc(store->bytes, room = 2 * (room + record[2]));
        if (store->count + 2 > packets)
            store->begins = realloc(store->begins, ((packets *= 2) + 1) * sizeof(size_t));
        if (fread(store->bytes + at, 1, record[2], f) != record[2])
            return false;
        store->begins[++store->count] = at + record[2];
    }
    fclose(f);
    return store->count > 0;
}

static void defaults(struct scenario *s, const char *name)
{
    memset(s, 0, sizeof(*s));
    snprintf(s->name, sizeof(s->name), "%s", name);
    s->max_qp_wr = 32768;
    s->max_cqe = 4194303;
    s->ports = 1;
    s->state = IBV_PORT_ACTIVE;
    s->link_layer = IBV_LINK_LAYER_INFINIBAND;
    s->lid = 1;
    s->mtu = 2048;
    s->gid.raw[0] = 0xfe;
    s->gid.raw[1] = 0x80;
    s->gid.raw[15] = 1;
    s->pkeys[0] = 0xffff;
    s->pkey_count = 1;
    s->total = UINT64_MAX;
    s->silent_from = UINT64_MAX;
}

static bool set_port(struct scenario *s, const char *state, const char *link)
{
    s->state = strcmp(state, "active") == 0 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    s->link_layer = strcmp(link, "ib") == 0         ? IBV_LINK_LAYER_INFINIBAND
                    : strcmp(link, "ethernet") == 0 ? IBV_LINK_LAYER_ETHERNET
                                                    : IBV_LINK_LAYER_UNSPECIFIED;
    return true;
}

static bool set_clock(struct scenario *s, const char *value)
{
    s->wallclock = strcmp(value, "wallclock") == 0;
    s->clock_khz = s->wallclock ? 0 : strtoull(value, NULL, 0);
    return true;
}

static bool add_failure(struct scenario *s, const char *verb, const char *error, bool later)
{
    struct failure *f = &s->failures[s->failure_count++];

    snprintf(f->verb, sizeof(f->verb), "%s", verb);
    f->error = error_number(error);
    f->later = later;
    return s->failure_count < MAX_FAILURES;
}

static bool add_incident(struct scenario *s, char **words, int count)
{
    struct incident *i = &s->incidents[s->incident_count++];

    if (s->incident_count == MAX_INCIDENTS || count < 3)
        return false;
    i->by_time = strcmp(words[0], "after") == 0;
    if (strcmp(words[0], "when") == 0)
        i->file = strdup(words[1]);
    else
        i->when = strtoull(words[1], NULL, 0) * (i->by_time ? 1000000 : 1);
    snprintf(i->what, sizeof(i->what), "%s", words[2]);
    i->value = count > 3 ? strtoull(words[3], NULL, 0) : 0;
    return true;
}

static bool set_switch(struct scenario *s, const char *word, const char *value)
{
    if (strcmp(value, "on") != 0)
        return false;
    if (strcmp(word, "thread") == 0)
        s->threaded = true;
    else if (strcmp(word, "wait") == 0)
        s->waits = true;
    else if (strcmp(word, "memlock") == 0)
        s->memlock = true;
    else if (strcmp(word, "sa-makes") == 0)
        s->sa_makes = true;
    else if (strcmp(word, "sm") == 0)
        s->is_sm = true;
    else
        s->cold = true;
    return true;
}

static bool add_group(struct scenario *s, char **words, int count)
{
    struct played_group *g = &s->groups[s->group_count++];

    if (count < 4 || s->group_count == MAX_GROUPS ||
        inet_pton(AF_INET6, words[1], g->mgid.raw) != 1)
        return false;
    g->mlid = (uint16_t)strtoul(words[2], NULL, 0);
    g->qkey = (uint32_t)strtoul(words[3], NULL, 0);
    g->from = count > 4 ? strtoull(words[4], NULL, 0) : 0;
    g->to = count > 5 ? strtoull(words[5], NULL, 0) : UINT64_MAX;
    return true;
}

static bool set_silence(struct scenario *s, char **words, int count)
{
    s->silent_from = strtoull(words[1], NULL, 0);
    s->silent_to = count > 2 ? strtoull(words[2], NULL, 0) : UINT64_MAX;
    return true;
}

static bool set_status(struct scenario *s, char **words, int count)
{
    s->sa_status = (uint16_t)strtoul(words[1], NULL, 0);
    s->sa_status_of = count > 2 ? (uint16_t)strtoul(words[2], NULL, 0) : 0;
    s->sa_status_method = count > 3 ? (uint8_t)strtoul(words[3], NULL, 0) : 0;
    return true;
}

static bool set_slow(struct scenario *s, char **words, int count)
{
    s->sa_slow = (uint32_t)strtoul(words[1], NULL, 0);
    s->sa_slow_of = count > 2 ? (uint16_t)strtoul(words[2], NULL, 0) : 0;
    s->sa_slow_method = count > 3 ? (uint8_t)strtoul(words[3], NULL, 0) : 0;
    return true;
}

static bool set_spoils(struct scenario *s, char **words, int count)
{
    if (count < 5)
        return false;
    s->sa_spoils.attribute = (uint16_t)strtoul(words[1], NULL, 0);
    s->sa_spoils.method = (uint8_t)strtoul(words[2], NULL, 0);
    s->sa_spoils.at = (int)strtol(words[3], NULL, 0);
    s->sa_spoils.value = (uint16_t)strtoul(words[4], NULL, 0);
    s->sa_spoils.lacks = count > 5 ? (int)strtol(words[5], NULL, 0) : 0;
    return true;
}

static bool set_number(struct scenario *s, const char *word, const char *value)
{
    uint64_t n = strtoull(value, NULL, 0);

    if (strcmp(word, "max-qp-wr") == 0)
        s->max_qp_wr = (int)n;
    else if (strcmp(word, "max-cqe") == 0)
        s->max_cqe = (int)n;
    else if (strcmp(word, "ports") == 0)
        s->ports = (int)n;
    else if (strcmp(word, "lid") == 0)
        s->lid = (uint16_t)n;
    else if (strcmp(word, "lmc") == 0)
        s->lmc = (uint8_t)n;
    else if (strcmp(word, "mtu") == 0)
        s->mtu = (unsigned)n;
    else if (strcmp(word, "synthetic") == 0)
        s->synthetic = (uint32_t)n;
    else if (strcmp(word, "total") == 0)
        s->total = n;
    else if (strcmp(word, "rate") == 0)
        s->rate = n;
    else if (strcmp(word, "burst") == 0)
        s->burst = n;
    else if (strcmp(word, "sa-refuses") == 0)
        s->sa_refuses = (uint16_t)n;
    else if (strcmp(word, "sa-sleeps") == 0)
        s->sa_sleeps = (uint32_t)n;
    else if (strcmp(word, "sa-recreates") == 0)
        s->sa_recreates = (uint32_t)n;
    else if (strcmp(word, "sa-members") == 0)
        s->sa_members = (uint32_t)n;
    else if (strcmp(word, "sa-recreates-state") == 0)
        s->sa_recreates_state = n & 15;
    else if (strcmp(word, "clock-ahead") == 0)
        s->clock_ahead = strtoll(value, NULL, 0) * 1000000;
    else if (strcmp(word, "clock-drift") == 0)
        s->clock_drift = strtoll(value, NULL, 0);
    else
        return false;
    return true;
}

static bool take_line(struct scenario *s, char **words, int count)
{
    if (count < 2)
        return false;
    if (strcmp(words[0], "transport") == 0)
        return s->iwarp = true;
    if (strcmp(words[0], "sysfs") == 0)
        return snprintf(s->sysfs, sizeof(s->sysfs), "%s", words[1]) > 0;
    if (strcmp(words[0], "bill") == 0)
        return snprintf(s->bill, sizeof(s->bill), "%s", words[1]) > 0;
    if (strcmp(words[0], "firmware") == 0)
        return snprintf(s->firmware, sizeof(s->firmware), "%s", words[1]) > 0;
    if (strcmp(words[0], "thread") == 0 || strcmp(words[0], "wait") == 0 ||
        strcmp(words[0], "cold") == 0 || strcmp(words[0], "memlock") == 0 ||
        strcmp(words[0], "sa-makes") == 0 || strcmp(words[0], "sm") == 0)
        return set_switch(s, words[0], words[1]);
    if (strcmp(words[0], "clock") == 0)
        return set_clock(s, words[1]);
    if (strcmp(words[0], "port") == 0)
        return count == 3 && set_port(s, words[1], words[2]);
    if (strcmp(words[0], "gid") == 0)
        return inet_pton(AF_INET6, words[1], s->gid.raw) == 1;
    if (strcmp(words[0], "fail") == 0)
        return count == 3 && add_failure(s, words[1], words[2], false);
    if (strcmp(words[0], "later") == 0)
        return count == 3 && add_failure(s, words[1], words[2], true);
    if (strcmp(words[0], "group") == 0)
        return add_group(s, words, count);
    if (strcmp(words[0], "sa-silent") == 0)
        return set_silence(s, words, count);
    if (strcmp(words[0], "sa-status") == 0)
        return set_status(s, words, count);
    if (strcmp(words[0], "sa-slow") == 0)
        return set_slow(s, words, count);
    if (strcmp(words[0], "sa-spoils") == 0)
        return set_spoils(s, words, count);
    if (strcmp(words[0], "sa-log") == 0)
        return snprintf(s->sa_log, sizeof(s->sa_log), "%s", words[1]) > 0;
    if (strcmp(words[0], "frames") == 0)
        return load(&s->packets, words[1]) &&
               (s->total == UINT64_MAX ? s->total = s->packets.count : 1);
    if (strcmp(words[0], "at") == 0 || strcmp(words[0], "after") == 0 ||
        strcmp(words[0], "when") == 0)
        return add_incident(s, words, count);
    if (strcmp(words[0], "pkeys") == 0) {
        for (s->pkey_count = 0; s->pkey_count < count - 1 && s->pkey_count < MAX_PKEYS;
             s->pkey_count++)
            s->pkeys[s->pkey_count] = (uint16_t)strtoul(words[1 + s->pkey_count], NULL, 0);
        return true;
    }
    return set_number(s, words[0], words[1]);
}

int scenario_read(const char *path, struct scenario *devices)
{
    FILE *f = fopen(path, "r");
    int count = 0, number = 0;
    char line[1024];

    if (!f)
        wrong(path, 0, "cannot be opened");
    while (fgets(line, sizeof(line), f)) {
        char *words[160], *save, *word = strtok_r(line, " \t\n", &save);
        int n = 0;

        number++;
        for (; word && word[0] != '#' && n < 160; word = strtok_r(NULL, " \t\n", &save))
            words[n++] = word;
        if (n == 0)
            continue;
        if (strcmp(words[0], "device") == 0 && n == 2 && count < MAX_DEVICES)
            defaults(&devices[count++], words[1]);
        else if (count == 0 || !take_line(&devices[count - 1], words, n))
            wrong(path, number, words[0]);
    }
    fclose(f);
    return count;
}

int scenario_failure(const struct scenario *s, const char *verb)
{
    for (int i = 0; i < s->failure_count; i++)
        if (!s->failures[i].later && strcmp(s->failures[i].verb, verb) == 0)
            return s->failures[i].error;
    return 0;
}

int scenario_failure_later(const struct scenario *s, const char *verb)
{
    for (int i = 0; i < s->failure_count; i++)
        if (strcmp(s->failures[i].verb, verb) == 0)
            return s->failures[i].error;
    return 0;
}
