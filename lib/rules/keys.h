/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of Q_Keys and P_Keys that several checks use. Private to rules/. */
#ifndef IPOIB_RULES_KEYS_H
#define IPOIB_RULES_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/pkey.h"

/*
 * Is it a controlled Q_Key (high-order bit 1)? Only privileged software may set such a Q_Key (IBA
 * 10.2.4).
 */
static inline bool is_controlled(uint32_t qkey)
{
    return qkey >> 31;
}

#endif
