/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * qpn-skip DEVICE N: creates N queue pairs and destroys them, so that the next one gets a higher
 * number. An HCA assigns QPNs in ascending order. Without this the IPoIB interfaces of all HCAs
 * would have the same QPN, and a test could not detect that two were confused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

static struct ibv_context *open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;

    for (struct ibv_device **d = list; d && *d && !context; d++)
        if (strcmp(ibv_get_device_name(*d), name) == 0)
            context = ibv_open_device(*d);
    if (list)
        ibv_free_device_list(list);
    return context;
}

int main(int argc, char **argv)
{
    struct ibv_context *context = argc == 3 ? open_device(argv[1]) : NULL;
    struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
    struct ibv_cq *cq = context ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
    };

    if (!pd || !cq) {
        fprintf(stderr, "usage: qpn-skip DEVICE N (and a device that opens)\n");
        return 2;
    }
    for (int n = atoi(argv[2]); n > 0; n--) {
        struct ibv_qp *qp = ibv_create_qp(pd, &attr);

        if (!qp) {
            perror("qpn-skip: ibv_create_qp");
            return 1;
        }
        ibv_destroy_qp(qp);
    }
    return 0;
}
