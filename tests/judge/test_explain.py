# SPDX-License-Identifier: GPL-2.0-or-later
"""--explain RULE of ipoib-check and ipoib-probe: the page of doc/rules as text, on a terminal of 80
columns."""
import os
import re
import subprocess

import pytest

from support.paths import BIN, SRC

PAGES = os.path.join(SRC, "doc/rules")
IDS = sorted(n[:-3] for n in os.listdir(PAGES) if n != "README.md")
EVENT_PAGES = os.path.join(SRC, "doc/events")
EVENTS = sorted(n[:-3] for n in os.listdir(EVENT_PAGES) if n != "README.md")
STAGES = [n for n in os.listdir(os.path.join(SRC, "doc/stages")) if n != "README.md"]
HEADINGS = ["WHAT IT MEANS", "HOW IT IS CHECKED", "HOW TO SEE IT", "WHAT TO DO"]


def explain(rule, tool="ipoib-check"):
    command = [os.path.join(BIN, tool), "--explain", rule]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def words_of_page(rule):
    """The words of the texts of a page, without Markdown's markup and link targets."""
    with open(os.path.join(PAGES, rule + ".md"), encoding="utf-8") as f:
        text = f.read().split("\n## ", 1)[1].replace("[All rules](README.md)", "")
    text = re.sub(r"\]\([^)]*\)", "", text)
    return re.findall(r"[A-Za-z]{3,}", text.replace("[", "").lower())


@pytest.fixture(scope="module")
def texts():
    return {rule: explain(rule).stdout for rule in IDS}


def test_every_page_is_explained_with_all_its_words(texts):
    for rule, text in texts.items():
        assert text.startswith(rule + "\n\n"), rule
        assert [h for h in HEADINGS if f"\n{h}\n" not in text] == [], rule
        shown = re.findall(r"[A-Za-z]{3,}", text[text.index(HEADINGS[0]) :].lower())
        assert shown == words_of_page(rule), rule


def test_texts_fit_a_terminal_and_have_no_marks(texts):
    for rule, text in texts.items():
        for line in text.splitlines():
            is_code = line.startswith("  ") and not line.startswith("   ")
            assert len(line) < 80 or is_code or "http" in line, (rule, line)
            assert not re.search(r"`|\]\(|^\||^#", line) or is_code, (rule, line)
        assert "\n\n\n" not in text and text.endswith("\n") and not text.endswith("\n\n"), rule


def test_filters_and_commands_stay_one_line():
    text = explain("rfc4391.6.reserved-zero").stdout
    assert '\n  ipoib.rule.id == "rfc4391.6.reserved-zero"\n' in text
    assert "\n  ipoib.reserved != 0\n" in text


def test_both_tools_print_the_same_page():
    """ipoib-probe adds how it checks the rule."""
    rule = "rfc4391.6.type"
    page, of_probe = explain(rule).stdout, explain(rule, "ipoib-probe").stdout
    assert page and of_probe.startswith(page + "\nHOW THE PROBE CHECKS IT\n- ")
    stage = "fabric.join"
    assert explain(stage, "ipoib-probe").stdout == explain(stage).stdout != ""


def test_a_beginning_that_one_rule_has_is_enough():
    assert explain("rfc4391.6.reserved-z").stdout == explain("rfc4391.6.reserved-zero").stdout


@pytest.mark.parametrize(
    "rule, why",
    [
        (
            "rfc4391.6",
            "rules, events and stages begin with 'rfc4391.6': rfc4391.6.encapsulation-header, ",
        ),
        ("", f"{len(IDS) + len(EVENTS) + len(STAGES)} rules, events and stages begin with ''"),
        ("rfc9999", "no rule, event or stage begins with 'rfc9999'"),
        ("\x1b[2J", r"no rule, event or stage begins with '\x1b[2J'"),
    ],
)
@pytest.mark.parametrize("tool", ["ipoib-check", "ipoib-probe"])
def test_a_name_of_no_or_several_rules_is_an_error(tool, rule, why):
    r = explain(rule, tool)
    assert (r.returncode, r.stdout) == (2, "")
    assert why in r.stderr


def test_every_event_has_a_page_with_its_filter():
    """lib/analysis/events.def, doc/events and its index have the same names."""
    with open(os.path.join(SRC, "lib/analysis/events.def"), encoding="utf-8") as f:
        names = re.findall(r'^EVENT\(\w+, "(\w+)", "([^"]+)"\)', f.read(), re.M)
    with open(os.path.join(EVENT_PAGES, "README.md"), encoding="utf-8") as f:
        index = re.findall(r"^\| \[`(\w+)`\]\(\1\.md\) \| (.+) \|$", f.read(), re.M)
    assert sorted(n for n, _ in names) == EVENTS and index == names
    for name in EVENTS:
        text = explain(name).stdout
        assert text.startswith(name + "\n\n") and "All events" not in text
        assert f"\n  ipoib.analysis.{name}\n" in text
        for heading in ("WHAT IT MEANS", "HOW IT IS FOUND", "HOW TO SEE IT", "WHAT TO DO"):
            assert f"\n{heading}\n" in text, name


def test_output_goes_to_a_file(tmp_path):
    path = tmp_path / "page"
    command = [os.path.join(BIN, "ipoib-check"), "--explain", "rfc4391.6.type", "-o", str(path)]
    subprocess.run(command, check=True)
    assert path.read_text() == explain("rfc4391.6.type").stdout
