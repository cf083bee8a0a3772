/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of reading and writing capture files. See error.h. */
#include "pcapio/error.h"

G_DEFINE_QUARK(pcapio - error - quark, pcapio_error)
