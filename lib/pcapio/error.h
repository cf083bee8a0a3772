/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors of reading and writing capture files. The message says what is wrong with the file and
 * does not contain its name: a program prints "NAME: MESSAGE".
 */
#ifndef IPOIB_PCAPIO_ERROR_H
#define IPOIB_PCAPIO_ERROR_H

#include <glib.h>

enum pcapio_error {
    PCAPIO_ERROR_SYSTEM,    /* a system call failed, or there is too little memory */
    PCAPIO_ERROR_FORMAT,    /* no capture file, or one that this library does not read */
    PCAPIO_ERROR_TRUNCATED, /* the file ends within a record or within compressed data */
    PCAPIO_ERROR_MALFORMED, /* the contents contradict the format */
    PCAPIO_ERROR_SAME_FILE, /* the output is the input itself */
};

#define PCAPIO_ERROR pcapio_error_quark()
GQuark pcapio_error_quark(void);

#endif
