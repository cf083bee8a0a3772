/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of commands in advices: the names that this port has in other programs. */
#ifndef IPOIB_PROBE_ADVICE_H
#define IPOIB_PROBE_ADVICE_H

#include "probe/link/link.h"

struct port_words {
    char diags[96]; /* "-C mlx5_0 -P 1": options of infiniband-diags */
    char stat[80];  /* "mlx5_0 1": arguments of ibstat */
    char guid[20];  /* "0x0002c90300000001" */
    char probe[80]; /* "-d ib0", or "-d mlx5_0 -p 1": options of ipoib-probe */
};

/* "ip link set ib0 up"; a child works only if its parent is up too. Free with g_free(). */
char *advice_set_up(const char *interface);
/*
 * How to get an IPoIB interface on this port and partition: a child, if the port has an interface
 * in another partition; else the driver is missing, or says in the kernel's log why it made no
 * interface. Free with g_free().
 */
char *advice_create_interface(const struct probe_link *l);
/*
 * "ibroute -M -C mlx5_0 -P 1 2  # MLID 0xc000 must lead to LID 4"; switch_lid 0: unknown. Free with
 * g_free().
 */
char *advice_look_at_multicast(const struct probe_link *l, uint16_t mlid, uint16_t switch_lid,
                               uint16_t lid);
void advice_name_port(const struct probe_link *l, struct port_words *w);

/*
 * An SA that does not answer: is its host alive? slow: its answers before took so long that silence
 * would prove nothing. history: what it has answered in this run (sa_history()). Sets *words and
 * *command, both to be freed with g_free().
 */
void advice_on_silent_sa(const struct probe_link *l, bool slow, const char *history, char **words,
                         char **command);

#endif
