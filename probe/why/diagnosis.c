/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/why/diagnosis.h"

bool diagnosis_holds(struct diagnosis *d, char *evidence, char *command)
{
    d->evidence = evidence;
    d->command = command;
    return true;
}
