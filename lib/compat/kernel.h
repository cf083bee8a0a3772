/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of the kernel's interface that older C libraries do not name: Debian 11, RHEL 8. */
#ifndef IPOIB_COMPAT_KERNEL_H
#define IPOIB_COMPAT_KERNEL_H

#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8, the same on all architectures but Alpha */
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#endif
