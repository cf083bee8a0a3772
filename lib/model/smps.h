/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subnet management: what SMPs say of ports, and the routes by which they address them (IBA 14.2);
 * only for the files of model/.
 */
#ifndef IPOIB_MODEL_SMPS_H
#define IPOIB_MODEL_SMPS_H

#include "model/subnet_state.h"

/* limit: number of routes kept. */
struct routes *routes_new(unsigned limit, struct undone *undone);
void routes_free(struct routes *all);
void routes_merge(struct routes *all);

/* Learn from an SMP. */
void learn_smp(const struct delivery *d, const struct smp *smp);

#endif
