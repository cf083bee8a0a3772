/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a harness that takes whole captures (fuzz/frames.h) on files: each capture unchanged, and
 * 100 times with 4 bytes changed. It has its own random number generator, so that every run is the
 * same.
 */
#include <glib.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/frames.h"
#include "fuzz/linktypes.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

enum { ROUNDS = 100, FAULTS = 4, INPUT_MAX = 1 << 18 };

static uint32_t state = 1;

static uint32_t next_random(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static unsigned linktype_index(int linktype)
{
    for (unsigned i = 0; i < LINKTYPES; i++)
        if (linktype_of((uint8_t)i) == linktype)
            return i;
    return 0;
}

static GByteArray *input_of(const char *path)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *h;
    const u_char *frame;
    pcap_t *pcap = pcap_open_offline(path, error);
    if (!pcap)
        return NULL;
    GByteArray *out = g_byte_array_new();
    while (pcap_next_ex(pcap, &h, &frame) == 1 && out->len + h->caplen < INPUT_MAX) {
        uint32_t cut = h->len - h->caplen;
        uint8_t header[FUZZ_FRAME_HEADER] = {(uint8_t)linktype_index(pcap_datalink(pcap)),
                                             3,
                                             (uint8_t)(h->caplen >> 8),
                                             (uint8_t)h->caplen,
                                             (uint8_t)(cut >> 8),
                                             (uint8_t)cut};
        g_byte_array_append(out, header, sizeof header);
        g_byte_array_append(out, frame, h->caplen);
    }
    pcap_close(pcap);
    return out;
}

static unsigned long replay(const GByteArray *input)
{
    uint8_t *p = g_memdup2(input->data, input->len);
    LLVMFuzzerTestOneInput(p, input->len);
    for (unsigned i = 0; i < ROUNDS && input->len; i++) {
        memcpy(p, input->data, input->len);
        for (unsigned k = 0; k < FAULTS; k++)
            p[next_random() % input->len] ^= (uint8_t)(1 + next_random() % 255);
        LLVMFuzzerTestOneInput(p, input->len);
    }
    g_free(p);
    return 1 + ROUNDS;
}

int main(int argc, char **argv)
{
    unsigned long n = 0;
    for (int i = 1; i < argc; i++) {
        GByteArray *input = input_of(argv[i]);
        if (!input)
            continue; /* libpcap cannot read it */
        n += replay(input);
        g_byte_array_unref(input);
    }
    printf("%sok 1 - %lu captures, with and without faults\n1..1\n", n > 1000 ? "" : "not ", n);
    return n > 1000 ? 0 : 1;
}
