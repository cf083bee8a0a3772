/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * findings CAPTURE: how often each rule passed, failed and could not be judged, one line a rule that was judged:
 * identifier, passes, failures, inconclusive, first frame that failed. For tests/findings.py.
 */
#include <pcap/pcap.h>
#include <stdio.h>

#include "rules/judge.h"

static struct {
    unsigned count[3], first;
} tally[RULE_COUNT];

static void note(void *user, uint32_t frame, const struct finding *f)
{
    (void)user;
    tally[f->rule].count[f->outcome]++;
    if (f->outcome == OUTCOME_FAIL && tally[f->rule].first == 0)
        tally[f->rule].first = frame;
}

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = argc == 2 ? pcap_open_offline(argv[1], error) : NULL;
    if (!pcap) {
        fprintf(stderr, "findings: %s\n", argc == 2 ? error : "usage: findings CAPTURE");
        return 3; /* libpcap cannot read it */
    }
    struct judge *j = judge_new(note, NULL);
    struct pcap_pkthdr *h;
    const u_char *p;
    while (pcap_next_ex(pcap, &h, &p) == 1)
        judge_frame(j, pcap_datalink(pcap), view_make(p, h->caplen, h->len));
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (tally[i].count[0] + tally[i].count[1] + tally[i].count[2])
            printf("%s %u %u %u %u\n", rules[i].id, tally[i].count[OUTCOME_PASS], tally[i].count[OUTCOME_FAIL],
                   tally[i].count[OUTCOME_INCONCLUSIVE], tally[i].first);
    judge_free(j);
    pcap_close(pcap);
    return 0;
}
