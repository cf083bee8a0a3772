/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of an input that leave its frames plausible. libFuzzer changes bytes at random, so nearly
 * every packet would have wrong lengths and a wrong ICRC, and the code would refuse it early. These
 * functions let libFuzzer change the bytes, and then correct some of the lengths and CRCs.
 *
 * A harness calls one of the mutate_ functions in its LLVMFuzzerCustomMutator().
 */
#ifndef IPOIB_FUZZ_MUTATE_H
#define IPOIB_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

enum {
    REPAIR_OUTER = 1,   /* lengths of ERF, IP and UDP before the InfiniBand headers */
    REPAIR_HEADERS = 2, /* lengths of LRH and GRH */
    REPAIR_IP = 4,      /* length and checksum of the IP header after the encapsulation header */
    REPAIR_CRCS = 8,    /* ICRC and VCRC */
    REPAIR_ALL = 15,
};

/* Corrects these in a frame of which every byte was captured. linktype: LINKTYPE_*. */
void mutate_repair(int linktype, uint8_t *frame, size_t n, unsigned what);

/* An input with head bytes before one frame; the first byte gives the link type. */
size_t mutate_frame(uint8_t *data, size_t size, size_t most, unsigned seed, size_t head);

/* An input that is a capture (fuzz/frames.h). */
size_t mutate_capture(uint8_t *data, size_t size, size_t most, unsigned seed);

/* libFuzzer's own; not there in the programs that replay inputs. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

#endif
