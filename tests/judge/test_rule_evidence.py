# SPDX-License-Identifier: GPL-2.0-or-later
"""The column "rests on" of lib/rules/table.def names what findings rest on (rule_evidence.c): in all
captures of the tests, no finding rests on anything else, and each word of the column is seen."""
import os
import re
import subprocess

import pytest

from frames import variants
from frames.variants import evidence  # it fills the table of variants
from support import capfile, corpus
from support.paths import BUILD, SRC

assert evidence
PROGRAM = os.path.join(BUILD, "bin/rule-evidence")
ROW = re.compile(
    r'^RULE\(\w+, "([^"]+)",[^"]*"[^"]*",\s+"[^"]*", \w+, \w+, \w+, \w+, ([\w |]+),', re.MULTILINE
)
NONE = {"ON_NOTHING"}
# what a rule rests on if no capture shows its findings in one frame
WITHOUT_ONE_FRAME = {"ON_EXCHANGE", "ON_MODEL"}


def words(text):
    return set(text.split(" | "))


@pytest.fixture(scope="module")
def table():
    """Rule to the words of the column."""
    with open(os.path.join(SRC, "lib/rules/table.def"), encoding="utf-8") as f:
        text = f.read()
    rows = {rule: words(column) for rule, column in ROW.findall(text)}
    assert len(rows) == len(re.findall(r"^RULE\(", text, re.MULTILINE))
    return rows


def measure(folder, captures):
    """Rule to what its findings rest on in these captures."""
    paths = []
    for number, data in enumerate(captures):
        paths.append(folder / str(number))
        paths[-1].write_bytes(data)
    done = subprocess.run([PROGRAM, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {rule: words(of) for rule, of in (s.split("\t") for s in done.stdout.splitlines())}


def of_variants(rules):
    """The captures of the variants of these rules."""
    assert evidence.RESULTS and variants.VARIANTS
    worlds = (v.world() for v in variants.VARIANTS if v.rule in rules)
    return [capfile.pcap(capfile.INFINIBAND, w.records(), nanoseconds=True) for w in worlds]


def together(one, two):
    both = (one | two) - NONE
    return both - WITHOUT_ONE_FRAME if "ON_ONE_FRAME" in both else both


@pytest.fixture(scope="module")
def found(tmp_path_factory, table):
    """Of testdata, fixtures and scenarios; and of the variants of rules whose column has more."""
    seen = measure(tmp_path_factory.mktemp("captures"), corpus.everything().values())
    rest = {rule for rule, column in table.items() if column - seen[rule] - NONE}
    more = measure(tmp_path_factory.mktemp("variants"), of_variants(rest))
    return {rule: together(seen[rule], more[rule]) or NONE for rule in table}


def test_findings_rest_on_what_the_table_says(table, found):
    assert found == table
