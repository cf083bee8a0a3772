/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept between two runs. See state.h. */
#include "probe/node/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/fail.h"
#include "cli/folder.h"
#include "probe/link/sysfs.h"

#define ANY_VERSION "ipoib-probe node "
#define FIRST_LINE  ANY_VERSION "1"
#define LAST_LINE   "end"
#define FILE_NAME   "node"
#define NEW_NAME    "new-node"

enum { LARGEST = 1 << 20, FIELDS = 8 };

static int64_t microseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

G_GNUC_PRINTF(2, 3) static bool refuse(struct node_state *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return false;
}

/* ---- the text */

static const char *or_dash(const char *word)
{
    return *word ? word : "-";
}

static void put_link(GString *out, const struct node_memory *m)
{
    g_string_append_printf(out, "link %s %s %u 0x%04x %d %d %d", or_dash(m->interface),
                           or_dash(m->device), m->port, m->pkey, m->asked, m->at_odds, m->waited);
    for (unsigned i = 0; i < PORT_COUNTERS; i++)
        if (m->counters.known[i])
            g_string_append_printf(out, " %" G_GUINT64_FORMAT, m->counters.value[i]);
        else
            g_string_append(out, " -");
    g_string_append_c(out, '\n');
}

GString *node_state_text(const struct node_state *s, const GArray *links)
{
    GString *out = g_string_new(FIRST_LINE "\n");
    g_string_append_printf(out, "boot %s\ntime %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                           or_dash(s->boot), s->now_us, s->now_wall_us);
    for (guint i = 0; i < links->len; i++)
        put_link(out, &g_array_index(links, struct node_memory, i));
    g_string_append(out, LAST_LINE "\n");
    return out;
}

static void take_word(const char *word, char *out, size_t size)
{
    g_strlcpy(out, strcmp(word, "-") == 0 ? "" : word, size);
}

static bool take_number(const char *word, unsigned base, uint64_t *value)
{
    char *end;
    *value = strtoull(word, &end, (int)base);
    return g_ascii_isxdigit(*word) && !*end;
}

static bool take_counters(char *const *words, struct port_counters *c)
{
    for (unsigned i = 0; i < PORT_COUNTERS; i++) {
        c->known[i] = strcmp(words[i], "-") != 0;
        if (c->known[i] && !take_number(words[i], 10, &c->value[i]))
            return false;
    }
    return true;
}

static bool take_link(char *const *words, struct node_memory *m)
{
    uint64_t port, pkey, flags[3];
    bool good = g_strv_length((char **)words) == FIELDS + PORT_COUNTERS &&
                take_number(words[3], 10, &port) && take_number(words[4], 16, &pkey);
    for (unsigned i = 0; good && i < 3; i++)
        good = take_number(words[5 + i], 10, &flags[i]);
    if (!good || !take_counters(words + FIELDS, &m->counters))
        return false;
    take_word(words[1], m->interface, sizeof m->interface);
    take_word(words[2], m->device, sizeof m->device);
    m->port = (unsigned)port;
    m->pkey = (uint16_t)pkey;
    m->asked = flags[0];
    m->at_odds = flags[1];
    m->waited = flags[2];
    return true;
}

static bool take_links(struct node_state *s, char **lines)
{
    for (; *lines && strcmp(*lines, LAST_LINE) != 0; lines++) {
        struct node_memory m = {.port = 0};
        char **words = g_strsplit(*lines, " ", -1);
        bool good = words[0] && strcmp(words[0], "link") == 0 && take_link(words, &m);
        g_strfreev(words);
        if (!good)
            return false;
        g_array_append_val(s->links, m);
    }
    return *lines && lines[1] && !*lines[1] && !lines[2]; /* nothing follows */
}

/* Both are after 1970, and the boot. */
static bool take_times(struct node_state *s, const char *line)
{
    char **words = g_strsplit(line, " ", -1);
    uint64_t boot_us, wall_us;
    bool good = g_strv_length(words) == 3 && strcmp(words[0], "time") == 0 &&
                take_number(words[1], 10, &boot_us) && take_number(words[2], 10, &wall_us) &&
                boot_us <= INT64_MAX && wall_us <= INT64_MAX;
    s->boot_us = good ? (int64_t)boot_us : 0;
    s->wall_us = good ? (int64_t)wall_us : 0;
    g_strfreev(words);
    return good;
}

static bool is_of_another_version(const char *text)
{
    return g_str_has_prefix(text, ANY_VERSION) && !g_str_has_prefix(text, FIRST_LINE "\n") &&
           g_str_has_suffix(text, LAST_LINE "\n");
}

bool node_state_parse(struct node_state *s, const char *text)
{
    char **lines = g_strsplit(text, "\n", -1), boot[40] = "";
    bool good = g_strv_length(lines) > 3 && strcmp(lines[0], FIRST_LINE) == 0 &&
                sscanf(lines[1], "boot %39s", boot) == 1 && take_times(s, lines[2]) &&
                take_links(s, lines + 3);
    g_strfreev(lines);
    if (!good)
        refuse(s, is_of_another_version(text) ? "it is of another version of ipoib-probe"
                                              : "it is damaged");
    else if (strcmp(boot, or_dash(s->boot)) != 0)
        good = refuse(s, "it is of another boot");
    else if (s->boot_us > s->now_us)
        good = refuse(s, "its time is in the future");
    if (!good)
        g_array_set_size(s->links, 0);
    s->usable = good;
    return good;
}

/* ---- the file */

/* The folder is private, but a backup program or an administrator may have put a file there. */
static bool is_own(struct node_state *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return refuse(s, "it is no file");
    if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return refuse(s, "it belongs to another user, or others may write to it");
    return st.st_size <= LARGEST || refuse(s, "it is damaged");
}

static void read_all(struct node_state *s, int fd)
{
    GString *text = g_string_new(NULL);
    char bytes[4096];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0 && text->len <= LARGEST)
        g_string_append_len(text, bytes, n);
    if (n == 0 && strlen(text->str) == text->len)
        node_state_parse(s, text->str);
    else
        refuse(s, "it is damaged");
    g_string_free(text, TRUE);
}

static void read_file(struct node_state *s)
{
    int fd = openat(s->folder, FILE_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        refuse(s, "this is the first run since the boot");
    else if (fd < 0)
        refuse(s, "it cannot be read: %s", strerror(errno));
    else if (is_own(s, fd))
        read_all(s, fd);
    if (fd >= 0)
        close(fd);
}

static char *default_folder(void)
{
    uid_t user = geteuid();
    return user ? g_strdup_printf("/run/user/%u/ipoib-probe", (unsigned)user)
                : g_strdup("/run/ipoib-probe");
}

static bool lock(struct node_state *s, const char *path)
{
    if (flock(s->folder, LOCK_EX | LOCK_NB) == 0)
        return true;
    refuse(s, errno == EWOULDBLOCK ? "%s: another run uses it" : "%s: cannot be locked", path);
    close(s->folder);
    s->folder = -1;
    return false;
}

void node_state_open(struct node_state *s, const char *path)
{
    GError *why = NULL;
    char *folder = path ? g_strdup(path) : default_folder(),
         *boot = sysfs_read("/proc/sys/kernel/random", "boot_id");
    *s = (struct node_state){.now_us = microseconds(CLOCK_BOOTTIME),
                             .now_wall_us = microseconds(CLOCK_REALTIME),
                             .links = g_array_new(FALSE, FALSE, sizeof(struct node_memory))};
    take_word(boot, s->boot, sizeof s->boot);
    s->folder = folder_open_private(folder, &why);
    if (s->folder < 0)
        refuse(s, "%s: %s", folder, why->message);
    else if (lock(s, folder))
        read_file(s);
    g_clear_error(&why);
    g_free(boot);
    g_free(folder);
}

static bool write_all(int fd, const GString *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->str + at, text->len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Beside the old file, which is replaced only by a whole one. */
bool node_state_save(const struct node_state *s, const GArray *links, GError **error)
{
    if (s->folder < 0)
        return true;
    GString *text = node_state_text(s, links);
    unlinkat(s->folder, NEW_NAME, 0);
    int fd = openat(s->folder, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write_all(fd, text);
    int number = errno;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        number = errno;
    }
    if (good && renameat(s->folder, NEW_NAME, s->folder, FILE_NAME) != 0) {
        good = false;
        number = errno;
    }
    if (!good)
        unlinkat(s->folder, NEW_NAME, 0);
    g_string_free(text, TRUE);
    return good ||
           fail_with(error, "the state for the next run cannot be written: %s", strerror(number));
}

void node_state_release(struct node_state *s)
{
    if (s->folder >= 0)
        close(s->folder);
    s->folder = -1;
}

void node_state_close(struct node_state *s)
{
    node_state_release(s);
    g_array_unref(s->links);
}

/* ---- what is in it */

const struct node_memory *node_state_find(const struct node_state *s, const char *interface,
                                          const char *device, unsigned port)
{
    for (guint i = 0; i < s->links->len; i++) {
        const struct node_memory *m = &g_array_index(s->links, struct node_memory, i);
        if (strcmp(m->interface, interface) == 0 && strcmp(m->device, device) == 0 &&
            m->port == port)
            return m;
    }
    return NULL;
}

double node_state_age(const struct node_state *s)
{
    return (double)(s->now_us - s->boot_us) / G_USEC_PER_SEC;
}

double node_state_jump(const struct node_state *s)
{
    double jump = (double)(s->now_wall_us - s->wall_us) / G_USEC_PER_SEC - node_state_age(s);
    return s->usable && (jump >= 2 || jump <= -2) ? jump : 0;
}
