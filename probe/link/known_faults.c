/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See known_faults.h. */
#include "probe/link/known_faults.h"

#include <string.h>

#include "probe/link/counters.h"
#include "probe/link/sysfs.h"

/* "400 Gb/sec (4X NDR)" */
bool known_faults_is_ndr(const struct probe_link *l)
{
    char *counters = counters_folder(l), *port = counters ? g_path_get_dirname(counters) : NULL,
         *rate = port ? sysfs_read(port, "rate") : g_strdup("");
    bool is = strstr(rate, "NDR)") != NULL;
    g_free(rate);
    g_free(port);
    g_free(counters);
    return is;
}

bool known_faults_explain_ndr(const struct probe_link *l, uint32_t largest)
{
    enum { NDR_LOSES = 1000 };
    return largest < NDR_LOSES && known_faults_is_ndr(l);
}
