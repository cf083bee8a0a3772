# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture in which every frame was captured twice, as by a mirror of both ports, has the findings of
the plain one, each once, of the first capture of its packet (doc/reports.md, "Packets captured twice").

One variant of each rule: frame N of the plain capture is 2N - 1 and 2N in the doubled one."""
import json

import pytest

from frames import variants
from frames.variants import FAIL, forms
from frames.variants import evidence  # it fills the table of variants
from support import capfile, check

assert evidence
OF_RULE = {v.rule: v for v in reversed(variants.VARIANTS) if v.early == FAIL}


def findings(path, frame):
    """Rule, outcome, entity, value, number of findings, and their frames in the plain capture."""
    report = json.loads(check.run("--format", "json", str(path)).stdout)
    return sorted(
        (
            r["id"],
            r["outcome"],
            c["subject"],
            c["actual"],
            c["count"],
            [frame(n) for n in c["frames"]],
        )
        for r in report["results"]
        if r["outcome"] in ("fail", "suspected", "deviation")
        for c in r["cases"]
    )


@pytest.mark.parametrize("rule", OF_RULE)
def test_each_finding_is_reported_once(rule, tmp_path):
    plain, doubled = tmp_path / "plain.pcap", tmp_path / "doubled.pcap"
    w = OF_RULE[rule].world()
    twice = [record for record in w.records() for _ in range(2)]
    plain.write_bytes(forms.infiniband(w)[0])
    doubled.write_bytes(capfile.pcap(capfile.INFINIBAND, twice, nanoseconds=True))
    wanted = findings(plain, lambda n: n)
    assert rule in [f[0] for f in wanted]
    assert findings(doubled, lambda n: (n + 1) / 2) == wanted
