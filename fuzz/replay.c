/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz harness on captures, for compilers without libFuzzer and for the ordinary tests: each
 * frame under each link type, unchanged and with one byte changed.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/linktypes.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/*
 * The copy is on the heap with its exact size, so that AddressSanitizer detects an overread by one
 * byte.
 */
static void run_frame(const unsigned char *frame, size_t size, unsigned linktype, size_t fault,
                      unsigned char with)
{
    unsigned char *p = malloc(size + 1);
    if (!p)
        abort();
    p[0] = (unsigned char)linktype;
    memcpy(p + 1, frame, size);
    if (with)
        p[1 + fault] ^= with;
    LLVMFuzzerTestOneInput(p, size + 1);
    free(p);
}

static unsigned long replay(const char *path)
{
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *h;
    const u_char *frame;
    unsigned long n = 0;
    pcap_t *pcap = pcap_open_offline(path, error);
    if (!pcap) {
        printf("# %s: %s\n", path, error);
        return 0;
    }
    while (pcap_next_ex(pcap, &h, &frame) == 1)
        for (unsigned linktype = 0; linktype < LINKTYPES; linktype++) {
            run_frame(frame, h->caplen, linktype, 0, 0);
            for (size_t fault = 0; fault < h->caplen && fault < 160; fault++, n++)
                run_frame(frame, h->caplen, linktype, fault, fault % 2 ? 0xff : 0x11);
        }
    pcap_close(pcap);
    return n;
}

int main(int argc, char **argv)
{
    unsigned long n = 0;
    for (int i = 1; i < argc; i++)
        n += replay(argv[i]);
    printf("%sok 1 - %lu faulty frames\n1..1\n", n > 1000 ? "" : "not ", n);
    return n > 1000 ? 0 : 1;
}
