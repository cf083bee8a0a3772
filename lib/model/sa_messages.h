/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of the SA class (IBA 15.2); only for the files of model/. */
#ifndef IPOIB_MODEL_SA_MESSAGES_H
#define IPOIB_MODEL_SA_MESSAGES_H

#include "model/subnet_state.h"

/* Learn from a message of the SA class. */
void learn_sa_message(const struct delivery *d, const struct sa *sa);

#endif
