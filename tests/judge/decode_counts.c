/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode-counts CAPTURE...: checks captures as ipoib-check does, and counts how often each decoder
 * of lib/wire runs for one frame. Prints each frame for which a decoder runs more than once. Exit
 * status: 1 if there is such a frame, 2 if a capture cannot be read. Linked with --wrap for each
 * decoder.
 */
#include <stdio.h>

#include "pcapio/capfile.h"
#include "rules/checker.h"

enum decoder { IB, ENCAP, ARP, DHCP, SA, SMP, CM, CM_PRIVATE, DECODERS };
static const char *const names[DECODERS] = {"ib_decode",   "encap_decode",     "arp_decode",
                                            "dhcp_decode", "sa_decode",        "smp_decode",
                                            "cm_decode",   "cm_private_decode"};
static unsigned counts[DECODERS];

#define COUNT(decoder, name, parameters, ...)                                                      \
    enum wire_result __real_##name parameters;                                                     \
    enum wire_result __wrap_##name parameters;                                                     \
    enum wire_result __wrap_##name parameters                                                      \
    {                                                                                              \
        counts[decoder]++;                                                                         \
        return __real_##name(__VA_ARGS__);                                                         \
    }
/* NOLINTBEGIN(clang-diagnostic-reserved-identifier): the linker sets these names */
COUNT(IB, ib_decode, (struct view v, enum ib_start start, struct ib_packet *p), v, start, p)
COUNT(ENCAP, encap_decode, (struct view v, struct encap *e), v, e)
COUNT(ARP, arp_decode, (struct view v, struct arp *a, bool *have_fixed), v, a, have_fixed)
COUNT(DHCP, dhcp_decode, (struct view v, struct dhcp *d), v, d)
COUNT(SA, sa_decode, (struct view v, struct sa *sa, bool *have_mad), v, sa, have_mad)
COUNT(SMP, smp_decode, (struct view v, struct smp *s), v, s)
COUNT(CM, cm_decode, (struct view v, struct cm *cm, bool *have_ids), v, cm, have_ids)
COUNT(CM_PRIVATE, cm_private_decode, (struct view v, const struct cm *cm, struct cm_private *p), v,
      cm, p)
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static void ignore(void *user, uint32_t frame, const struct finding *f)
{
    (void)user;
    (void)frame;
    (void)f;
}

/* True if no decoder ran twice for the frame. total: sum over all frames. */
static bool is_once(const char *path, uint32_t frame, unsigned total[DECODERS])
{
    bool once = true;
    for (unsigned i = 0; i < DECODERS; i++) {
        if (counts[i] > 1)
            printf("%s: frame %u: %s ran %u times\n", path, frame, names[i], counts[i]);
        once &= counts[i] <= 1;
        total[i] += counts[i];
        counts[i] = 0;
    }
    return once;
}

/* Returns the exit status. */
static int check(const char *path, unsigned total[DECODERS])
{
    GError *error = NULL;
    struct capfile_frame f;
    struct capfile *file = capfile_open(path, &error);
    int status = 0;
    if (!file) {
        fprintf(stderr, "decode-counts: %s: %s\n", path, error->message);
        g_error_free(error);
        return 2;
    }
    struct checker *checker = checker_new(NULL, NULL, ignore, NULL);
    for (uint32_t n = 1; capfile_next(file, &f, NULL) == CAPFILE_FRAME; n++) {
        checker_frame(checker, &(struct capture_frame){n, f.interface, f.linktype, f.ns,
                                                       view_make(f.bytes, f.caplen, f.wirelen)});
        if (!is_once(path, n, total))
            status = 1;
    }
    checker_free(checker);
    capfile_close(file);
    return status;
}

int main(int argc, char **argv)
{
    unsigned total[DECODERS] = {0};
    int status = 0;
    for (int i = 1; i < argc; i++) {
        int of_one = check(argv[i], total);
        status = of_one > status ? of_one : status;
    }
    for (unsigned i = 0; i < DECODERS; i++)
        printf("%s %u\n", names[i], total[i]);
    return status;
}
