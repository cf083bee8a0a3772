/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays the registers of a ConnectX-6 for the real mstflint, which reaches them by the file
 * "config" of the PCI function in sysfs: by the vendor-specific capability at VSC there. The
 * library that is loaded in place of the system's libibverbs has these functions, so a process
 * without an environment has them too. Only a file "config" beside a file "registers"
 * (tests/support/firmware.py) is played. The layouts are those of mstflint's source
 * (mtcr_ul_com.c, mtcr_ul_icmd_cif.c).
 *
 * "calls" beside it lists the unlock word and the commands as in mstflint.c, and "attached" exists
 * while a sniffer is attached. Each command ends with the status in the register STATUS.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Registers of the capability, from VSC on. */
enum { VSC = 0x60, SPACE = 1, ADDRESS = 4, DATA = 5, VSC_WORDS = 6 };
#define FLAG               (UINT32_C(1) << 31) /* of ADDRESS: write; in a read: done */
#define SPACE_IS_SUPPORTED (UINT32_C(1) << 29)

/* Address spaces, and where the file "registers" has them. */
enum {
    OF_CR_SPACE = 2,
    OF_COMMANDS = 3,
    OF_SEMAPHORES = 10,
    COMMANDS = 0x4000000,
    SEMAPHORES = 0x4200000,
    SIZE = 0x4300000,
    STATUS = SIZE - 4,
    UNLOCK = 0x23f0,
    CONTROL = COMMANDS, /* bits 16-31: opcode, 8-15: status, 0: busy */
    MAILBOX = COMMANDS + 0x100000,
};

#define EXPORT __attribute__((visibility("default")))

EXPORT ssize_t pread64(int fd, void *out, size_t len, off_t at);
EXPORT ssize_t pwrite64(int fd, const void *in, size_t len, off_t at);

static uint32_t *registers, vsc[VSC_WORDS] = {[2] = 1 /* counter */};
static char folder[400];

/* Finds the registers of the function whose "config" FD is. */
static bool find(int fd)
{
    char link[40], path[sizeof(folder) + 20];
    ssize_t n;
    int file;

    if (registers)
        return true;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, folder, sizeof(folder) - 1);
    folder[n > 0 ? n : 0] = '\0';
    if (n < 7 || strcmp(folder + n - 7, "/config") != 0)
        return false;
    folder[n - 7] = '\0';
    snprintf(path, sizeof(path), "%s/registers", folder);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    registers = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return registers != MAP_FAILED;
}

static uint32_t *at_address(uint32_t where)
{
    return &registers[(where % SIZE) / 4];
}

static FILE *beside(const char *name)
{
    char path[sizeof(folder) + 20];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return fopen(path, "ae");
}

static void note_sniffer(uint32_t directions)
{
    static bool attached[2]; /* sent, received */
    char path[sizeof(folder) + 20];

    attached[directions & 1] = directions >> 16 & 1;
    snprintf(path, sizeof(path), "%s/attached", folder);
    if (attached[0] || attached[1])
        fclose(beside("attached"));
    else
        unlink(path);
}

static void execute(uint32_t control)
{
    FILE *calls = beside("calls");
    uint32_t status = *at_address(STATUS);

    fprintf(calls, "icmd 0x%x", control >> 16);
    for (uint32_t i = 0; i < 4; i++)
        fprintf(calls, " %08x", *at_address(MAILBOX + 4 * i));
    fprintf(calls, " 0\n");
    fclose(calls);
    if (control >> 16 == 0xc002 && status == 0)
        note_sniffer(*at_address(MAILBOX + 4));
    *at_address(CONTROL) = (control & 0xffff0000) | status << 8;
}

static void note_write(uint32_t address, uint32_t value)
{
    FILE *calls = beside("calls");

    fprintf(calls, "mwrite4 0x%x 0x%x\n", address, value);
    fclose(calls);
}

/* Carries out the access that was written to ADDRESS. */
static void access_register(void)
{
    uint32_t space = vsc[SPACE] & 0xffff;
    uint32_t address = (vsc[ADDRESS] & ~FLAG) + (space == OF_COMMANDS     ? COMMANDS
                                                 : space == OF_SEMAPHORES ? SEMAPHORES
                                                                          : 0);

    if (!(vsc[ADDRESS] & FLAG))
        vsc[DATA] = *at_address(address);
    else if (space != OF_SEMAPHORES || *at_address(address) == 0 || vsc[DATA] == 0)
        *at_address(address) = vsc[DATA]; /* a semaphore that is held is not given away */
    if ((vsc[ADDRESS] & FLAG) && space == OF_CR_SPACE)
        note_write(address, vsc[DATA]);
    if ((vsc[ADDRESS] & FLAG) && address == CONTROL && (vsc[DATA] & 1))
        execute(vsc[DATA]);
    vsc[ADDRESS] ^= FLAG; /* done */
}

static bool is_played(int fd, size_t len, off_t at)
{
    return len == 4 && at > VSC && at < VSC + 4 * VSC_WORDS && at % 4 == 0 && find(fd);
}

EXPORT ssize_t pread64(int fd, void *out, size_t len, off_t at)
{
    if (!is_played(fd, len, at))
        return syscall(SYS_pread64, fd, out, len, at);
    memcpy(out, &vsc[(at - VSC) / 4], 4);
    return 4;
}

EXPORT ssize_t pwrite64(int fd, const void *in, size_t len, off_t at)
{
    if (!is_played(fd, len, at))
        return syscall(SYS_pwrite64, fd, in, len, at);
    memcpy(&vsc[(at - VSC) / 4], in, 4);
    vsc[SPACE] |= SPACE_IS_SUPPORTED;
    if (at == VSC + 4 * ADDRESS)
        access_register();
    return 4;
}
