# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the table of rules (lib/rules/table.def)."""
import collections
import os
import re

from support.paths import SRC

Rule = collections.namedtuple("Rule", "symbol id document title level seen")
ROW = re.compile(
    r'^RULE\((\w+), "([^"]+)", (\w+), "[^"]*",\s+"([^"]*)", (\w+), \w+, \w+, (\w+),', re.MULTILINE
)


def read():
    with open(os.path.join(SRC, "lib/rules/table.def"), encoding="utf-8") as f:
        text = f.read()
    rules = [Rule(*row) for row in ROW.findall(text)]
    assert len(rules) == len(re.findall(r"^RULE\(", text, re.MULTILINE)), "a row is not read"
    return rules
