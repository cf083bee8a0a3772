/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two files in memory, for code that opens files by name: a kernel's file costs a harness more time
 * than reading or writing it. The linker passes the calls of the file functions here
 * (fuzz/CMakeLists.txt); calls for other files reach the C library.
 */
#ifndef IPOIB_FUZZ_MEMORY_FILES_H
#define IPOIB_FUZZ_MEMORY_FILES_H

#include <glib.h>

enum memory_file { MEMORY_INPUT, MEMORY_OUTPUT, MEMORY_FILES };

/* The name to open it by. Each file can be open once at a time. */
const char *memory_file_name(enum memory_file i);
/* Its content, which the caller may change while it is closed. */
GByteArray *memory_file_bytes(enum memory_file i);

#endif
