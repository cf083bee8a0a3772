# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual pages of doc/man: mandoc reports nothing, and each page has exactly the options of
--help."""
import os
import re
import subprocess

import pytest

from support.needs import needs
from support.paths import BIN, SRC

MAN = os.path.join(SRC, "doc", "man")
# Each program, and the calls whose texts list its options.
HELPS = {
    "ipoib-capture": [["--help"], ["convert", "--help"]],
    "ipoib-check": [["--help"]],
    "ipoib-probe": [["--help"]],
}
PAGES = sorted(os.listdir(MAN))
OPTION = re.compile(r"(?<![\w-])(--?[a-zA-Z0-9][a-zA-Z0-9-]*)")


def help_options(program):
    """The options that start a line of the help, or follow one that does."""
    found = set()
    for call in HELPS[program]:
        text = subprocess.run(
            [os.path.join(BIN, program), *call], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        for line in text.splitlines():
            if re.match(r" {0,6}-", line):
                found.update(OPTION.findall(re.split(r" {2,}", line.strip())[0]))
    return found


def page_options(path):
    """The options of a page's paragraphs: mdoc's ".It Fl d , -device Ar DEV", man's lines after .TP
    and .TQ."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().replace("\\-", "-").splitlines()
    items = [
        re.split(" (?:Ar|Cm) ", line[len(".It Fl ") :])[0]
        for line in lines
        if line.startswith(".It Fl ")
    ]
    if items:
        return {"-" + word.strip() for item in items for word in item.split(" , ")}
    at = lines.index(".SH OPTIONS")
    end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith(".SH"))
    heads = [
        line for before, line in zip(lines[at:end], lines[at + 1 : end]) if before in (".TP", ".TQ")
    ]
    return set(OPTION.findall(re.sub(r'[",]|\.BR? ', " ", " ".join(heads)).replace("\\fI", " ")))


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_has_no_complaint(page):
    needs("mandoc", "docs")
    run = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", os.path.join(MAN, page)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.stdout == ""


def test_every_program_has_a_page():
    assert set(HELPS) <= {page.rsplit(".", 1)[0] for page in PAGES}


@pytest.mark.parametrize("page", [p for p in PAGES if p.rsplit(".", 1)[0] in HELPS])
def test_page_has_the_options_of_help(page):
    helped = help_options(page.rsplit(".", 1)[0])
    assert len(helped) > 5, f"--help lists too few options: {helped}"
    assert page_options(os.path.join(MAN, page)) == helped
