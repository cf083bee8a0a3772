/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers into packets. */
#include "wire/put.h"
