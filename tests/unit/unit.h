/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Included by every unit test: cmocka and the headers that it needs before it. */
#ifndef IPOIB_TESTS_UNIT_H
#define IPOIB_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
