# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual pages of doc/man: mandoc reports nothing, the options are those that script/manuals
writes, and each page has the options of --help in its order, with the same letter, name, argument
and explanation."""
import collections
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
LINE_LEN = 79
# text: what the option does; in the manual page, more may follow
Option = collections.namedtuple("Option", "letter name argument text")
FORMS = re.compile(r"(?:-(\w))?(?:, )?(?:--([a-z]\S*))?(?: (\S+))?$")


def forms(text):
    """The letter, name and argument of "-o, --output FILE"; an absent one is None."""
    found = FORMS.match(text)
    assert found and (found[1] or found[2]), text
    return found.groups()


def help_text(call):
    program = os.path.join(BIN, call[0])
    return subprocess.run(
        [program, *call[1:]], stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def help_lines(call):
    """The options of --help, with the lines of the explanation, which start below its first word."""
    found, is_open = [], False
    for line in help_text(call).splitlines():
        if re.match(r" {2}-| {6}--", line):
            first, *rest = re.split(r" {2,}", line.strip(), maxsplit=1)
            found.append([*forms(first), rest])
            is_open = True
        elif not line:
            is_open = False
        elif is_open:
            found[-1][-1].append(line.strip())
    return found


def help_options(call):
    return [Option(*words, " ".join(text)) for *words, text in help_lines(call)]


def mdoc_forms(line):
    """'.It Fl o , -output Ar FILE' as --help has it."""
    names, _, argument = re.sub(" (?:Ar|Cm) ", "\0", line[len(".It Fl ") :]).partition("\0")
    names = ", ".join("-" + name for name in names.split(" , "))
    return forms(f"{names} {argument.replace(' ', '')}".strip())


def page_options(path):
    """The options of a page, in mdoc's lists, with the text that follows."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    found = []
    for line in lines:
        if line.startswith(".It Fl "):
            found.append([*mdoc_forms(line), []])
        elif found and line.startswith((".", "'")):
            found[-1][-1].append(None)
        elif found:
            found[-1][-1].append(re.sub(r"\\f[BIR]", "", line).replace("\\-", "-"))
    return [Option(*words, text_before_macro(text)) for *words, text in found]


def text_before_macro(lines):
    return " ".join(lines[: lines.index(None)] if None in lines else lines)


@pytest.mark.parametrize("page", PAGES)
def test_mandoc_reports_no_problem(page):
    needs("mandoc", "docs")
    run = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", os.path.join(MAN, page)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.stdout == ""


def test_options_are_those_of_the_tables():
    subprocess.run([os.path.join(SRC, "script/manuals"), "--check"], check=True)


def test_every_program_has_a_page():
    assert set(HELPS) <= {page.rsplit(".", 1)[0] for page in PAGES}


@pytest.mark.parametrize("page", [p for p in PAGES if p.rsplit(".", 1)[0] in HELPS])
def test_page_has_the_options_of_help(page):
    program = page.rsplit(".", 1)[0]
    helped = [o for call in HELPS[program] for o in help_options([program, *call])]
    shown = page_options(os.path.join(MAN, page))
    assert len(helped) > 5, f"--help lists too few options: {helped}"
    assert [o[:3] for o in shown] == [o[:3] for o in helped]
    for of_page, of_help in zip(shown, helped):
        sentence = of_help.text[0].upper() + of_help.text[1:] + "."
        assert (of_page.text + " ").startswith(sentence + " ")


@pytest.mark.parametrize("program", HELPS)
def test_lines_of_help_fit_a_terminal(program):
    for call in HELPS[program]:
        lines = help_text([program, *call]).splitlines()
        assert not [line for line in lines if len(line) > LINE_LEN]


@pytest.mark.parametrize("program", HELPS)
def test_explanation_is_one_line(program):
    for call in HELPS[program]:
        explained = help_lines([program, *call])
        assert not [words for words in explained if len(words[-1]) != 1]
