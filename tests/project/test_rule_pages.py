# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of doc/rules/ are complete, current and readable; their display filters compile, their
links lead to files; and script/rule-pages detects every fault that these texts can have.

The rules are those of lib/rules/table.def, which the test parses in another way than the script."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from support import capfile, findings
from support.paths import SRC, testdata
from support.wireshark import registered_fields, tshark

PAGES = os.path.join(SRC, "doc/rules")
HEADINGS = ["What it means", "How it is checked", "How to see it", "What to do"]
EVIDENCE = "Evidence"  # only in the pages of rules that a capture can show
PACKET_ONLY = "The packet only"
# Its result is inconclusive for some packets, whatever else was captured.
INCONCLUSIVE_BY_ITSELF = {"rfc4391.8.u-bit"}
SHORTEST = {
    EVIDENCE: 16,
    "What it means": 80,
    "How it is checked": 40,
    "How to see it": 30,
    "What to do": 8,
}
FINDING = re.compile(r"ipoib\.(rule|note)\.")
HOSTS = (
    "https://www.rfc-editor.org/rfc/rfc4391#section-",
    "https://www.rfc-editor.org/rfc/rfc4755#section-",
    "https://www.rfc-editor.org/rfc/rfc4390#section-",
    "https://datatracker.ietf.org/doc/html/draft-ietf-ipoib-link-multicast-0",
)
AT_ONCE = 20  # filters that one tshark compiles, joined by ||


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def identifiers():
    """The rules of lib/rules/table.def."""
    table = read(os.path.join(SRC, "lib/rules/table.def"))
    found = re.findall(r'^RULE\(\w+, "([^"]+)", ', table, re.MULTILINE)
    assert len(found) == table.count("\nRULE("), "a row of the table that this does not read"
    return found


RULE_IDS = identifiers()
TEXTS = {
    name: read(os.path.join(PAGES, name))
    for name in sorted(os.listdir(PAGES))
    if name.endswith(".md")
}
of_each_page = pytest.mark.parametrize("name", [n for n in TEXTS if n != "README.md"])


def sections(text):
    """Heading: text of a page."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


# ---- the pages


def test_there_is_a_page_for_each_rule():
    assert set(TEXTS) == {i + ".md" for i in RULE_IDS} | {"README.md"}


@pytest.mark.parametrize("rule", RULE_IDS)
def test_heading_is_the_rule(rule):
    assert TEXTS[rule + ".md"].startswith(f"# {rule}\n\n")


def faults_of_style(text):
    faults = []
    if (
        "\t" in text
        or re.search(r" $", text, re.MULTILINE)
        or not text.endswith("\n")
        or "\n\n\n" in text
    ):
        faults.append("tab, trailing space or needless empty line")
    if (
        text.count("`") % 2
        or not text.isascii()
        or re.search(r"[*<]", re.sub(r"`[^`]*`", "", text))
    ):
        faults.append("a lone `, or a character that is not plain text")
    there = sections(text)
    if [h for h in there if h not in ("Known deviations", EVIDENCE)] != HEADINGS:
        faults.append(f"headings {list(there)}")
    for heading, shortest in SHORTEST.items():
        if heading == EVIDENCE and heading not in there:
            continue
        body = there.get(heading, "").replace("[All rules](README.md)", "").strip()
        if len(body) < shortest:
            faults.append(f"{heading}: too short")
        for paragraph in re.split(r"\n\n|\n(?=- )", body):
            if not paragraph.endswith((".", "?", "Display filters:", "Commands:")):
                faults.append(f"{heading}: no full stop: {paragraph}")
    return faults


@of_each_page
def test_text_is_complete_plain_and_ends_in_full_stops(name):
    assert faults_of_style(TEXTS[name]) == []


# ---- the evidence


def shown_by_a_capture():
    table = read(os.path.join(SRC, "lib/rules/table.def"))
    row = r'^RULE\(\w+, "([^"]+)", \w+, "[^"]*",\s+"[^"]*",\s+(\w+), \w+, \w+, (\w+),'
    found = re.findall(row, table, re.MULTILINE)
    assert len(found) == len(RULE_IDS), "a row of the table that this does not read"
    return {rule for rule, level, seen in found if level != "MAY" and seen in ("P", "PA")}


def test_pages_of_rules_that_a_capture_can_show_name_their_evidence():
    """The table at the start of a page names the evidence; a section explains it, unless the packet
    that violates the rule is all of it."""
    in_table = {n[:-3] for n, text in TEXTS.items() if re.search(r"^\| Evidence \| .", text, re.M)}
    assert in_table == shown_by_a_capture()
    explained = {n[:-3] for n, text in TEXTS.items() if EVIDENCE in sections(text)}
    for rule in in_table - explained:
        assert "\n| Evidence | the packet only |\n" in TEXTS[rule + ".md"], rule
    assert explained < in_table


def inconclusive(path, skipped):
    """The rules with an inconclusive result in the capture if its first frames were not captured;
    no packet of it is truncated."""
    counted = findings.counts(path, "--deviations", "none", "--skip", str(skipped))
    return {rule for rule, count in counted.items() if count.inconclusive}


def test_rule_that_needs_earlier_packets_says_so():
    lacking = set()
    for name in ("datagram.pcap", "connected.pcap"):
        path = testdata(name)
        size = len(capfile.read(path).frames)
        for skipped in range(0, size, 5):
            lacking |= inconclusive(path, skipped)
    assert len(lacking) > 15, lacking
    wrong = {
        rule
        for rule in lacking - INCONCLUSIVE_BY_ITSELF
        if re.fullmatch(
            PACKET_ONLY + r"[^.]*\.",
            " ".join(sections(TEXTS[rule + ".md"]).get(EVIDENCE, PACKET_ONLY + ".").split()),
        )
    }
    assert wrong == set()


# ---- links


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_to_a_page_or_a_document(name):
    links = re.findall(r"\]\(([^)]*)\)", TEXTS[name])
    web = [link for link in links if "://" in link]
    files = [link for link in links if "://" not in link]
    assert [link for link in web if not link.startswith(HOSTS)] == []
    assert [f for f in files if not os.path.isfile(os.path.join(PAGES, f.split("#")[0]))] == []


def test_index_names_each_rule_once():
    index = re.findall(r"^\| \[([^]]+)\]\(([^)]+)\.md\) \|", TEXTS["README.md"], re.MULTILINE)
    assert [a for a, b in index if a != b] == []
    assert sorted(a for a, _ in index) == sorted(RULE_IDS)


# ---- display filters


def filters(text):
    """The display filters that a page shows, as a reader copies them."""
    listed = re.search(r"^Display filters:\n\n((?:- .*\n(?:  .*\n)*)*)", text, re.MULTILINE)
    return re.findall(r"^- `([^`]+)`: ", listed.group(1), re.MULTILINE) if listed else []


FILTERS = sorted({f for text in TEXTS.values() for f in filters(text)})


def complaint(expression):
    """tshark's error message for a display filter; None if the filter compiles."""
    r = tshark("-r", testdata("datagram.pcap"), "-Y", expression, "-c", "1")
    return None if r.returncode == 0 else r.stderr.strip() or f"exit status {r.returncode}"


def broken_filters(wanted):
    """{filter: error message}; tshark compiles many at once, and one by one only if that fails."""
    broken = {}
    for at in range(0, len(wanted), AT_ONCE):
        group = wanted[at : at + AT_ONCE]
        if complaint(" || ".join(f"({f})" for f in group)):
            broken.update((f, why) for f, why in ((f, complaint(f)) for f in group) if why)
    return broken


def test_filter_that_does_not_compile_is_noticed():
    assert complaint("ipoib.no_such_field == 1") is not None


def test_filters_on_fields_compile():
    wanted = [f for f in FILTERS if not FINDING.search(f)]
    assert len(wanted) > 100, "there are too few"
    assert broken_filters(wanted) == {}


def test_plugin_registers_the_fields_of_findings():
    names = {row[2] for row in registered_fields() if row[0] == "F"}
    assert {"ipoib.rule.id", "ipoib.note.id", "ipoib.rule.deviation"} <= names


def test_filters_on_findings_compile():
    wanted = [f for f in FILTERS if FINDING.search(f)]
    assert wanted, "there are none"
    assert broken_filters(wanted + ["ipoib.rule.deviation == 1"]) == {}


# ---- script/rule-pages


def script(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-B", os.path.join(folder, "script/rule-pages"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path):
    """A copy of the script's input, which a test may change."""
    for name in ("doc/rules", "lib/rules/deviations"):
        shutil.copytree(os.path.join(SRC, name), tmp_path / name)
    (tmp_path / "script").mkdir()
    for name in ("lib/rules/table.def", "lib/rules/fact_kinds.def", "script/rule-pages"):
        shutil.copy(os.path.join(SRC, name), tmp_path / name)
    return tmp_path


def test_pages_are_up_to_date():
    r = script(SRC, "--check")
    assert (r.returncode, r.stderr) == (0, "")


# What changed, the file, the old and the new text, and the result of --check: exit status and a word.
PAGE = "doc/rules/rfc4391.6.type.md"
SPOILT = [
    (
        "a sentence of the table that changed",
        "lib/rules/table.def",
        "The ARP hardware type is 32.",
        "It is 32.",
        1,
        "README.md",
    ),
    (
        "a head that does not say what the table says",
        PAGE,
        "| Level | MUST",
        "| Level | MAY",
        1,
        "rfc4391.6.type.md",
    ),
    (
        "a reason of a deviation that changed",
        "lib/rules/deviations/linux.conf",
        "reason=both of two crossing REQs are accepted",
        "reason=both of two crossing REQs are taken",
        1,
        "simultaneous",
    ),
    (
        "a rule without a text",
        "lib/rules/table.def",
        'RULE(RFC4391_6_TYPE, "rfc4391.6.type"',
        'RULE(RFC4391_6_NEW, "rfc4391.6.new", RFC4391, "6", "New", MUST, FACT, NODE, P, ON_MLID, "New.")\nRULE(RFC4391_6_TYPE, "rfc4391.6.type"',
        2,
        "rfc4391.6.new.md: What it means",
    ),
    (
        "an unknown word of the table",
        "lib/rules/table.def",
        "MUST, KEYWORD, NODE, A,",
        "MUSS, KEYWORD, NODE, A,",
        2,
        "MUSS",
    ),
    (
        "unknown evidence",
        "lib/rules/table.def",
        "ON_MLID",
        "ON_MLIDS",
        2,
        "unknown evidence ON_MLIDS",
    ),
    (
        "a rule with findings that rest on nothing",
        "lib/rules/table.def",
        "ON_MLID",
        "ON_NOTHING",
        2,
        "rests on something",
    ),
    (
        "words of a fact that changed",
        "lib/rules/fact_kinds.def",
        "the port's P_Key table",
        "the P_Keys",
        1,
        "pkey-configured",
    ),
    (
        "a page that needs one packet, and a fact in the table",
        "lib/rules/table.def",
        "ON_ONE_FRAME,",
        "ON_ONE_FRAME | ON_MLID,",
        2,
        "ON_ONE_FRAME and ON_MLID",
    ),
    (
        "a symbol that is not its identifier's",
        "lib/rules/table.def",
        '"rfc4391.6.type"',
        '"rfc4391.6.kind"',
        2,
        "do not match",
    ),
    ("a missing comma", "lib/rules/table.def", '", RFC4391,', '" RFC4391,', 2, "expected"),
    ("a link to no rule", PAGE, "`rfc4391.6.other-types`", "`rfc4391.6.no-types`", 2, "no rule"),
    ("a text without its heading", PAGE, "## What to do", "## To do", 2, "What to do"),
    ("a sentence without an end", PAGE, ".\n\n## How it", "\n\n## How it", 2, "end of a sentence"),
    ("a filter without its mark", PAGE, "\n- `ipoib.mode", "\n- ipoib.mode", 2, "ipoib.mode"),
    ("a link that is not written", PAGE, "[`rfc", "`rfc", 1, "rfc4391.6.type.md"),
    (
        "a deviation of no rule",
        "lib/rules/deviations/linux.conf",
        "[rfc4755.3.3.simultaneous]",
        "[rfc4755.3.3.none]",
        2,
        "no such rule",
    ),
    (
        "a listed deviation that no list has",
        "lib/rules/deviations/linux.conf",
        "[rfc4755.3.3.simultaneous]",
        "[rfc4755.4.type]",
        2,
        "no list has one",
    ),
]


@pytest.mark.parametrize(
    "path, old, new, status, word", [pytest.param(*s[1:], id=s[0]) for s in SPOILT]
)
def test_script_reports_an_error_in_a_page(copy, path, old, new, status, word):
    text = (copy / path).read_text(encoding="utf-8")
    assert old in text, f"{path}: nothing to spoil"
    (copy / path).write_text(text.replace(old, new, 1), encoding="utf-8")
    r = script(copy, "--check")
    assert r.returncode == status, r.stderr
    assert word in r.stderr


def test_script_reports_a_page_without_a_rule(copy):
    (copy / PAGE).rename(copy / "doc/rules/rfc4391.6.old.md")
    r = script(copy, "--check")
    assert r.returncode == 2, r.stderr
    assert "rfc4391.6.old.md: no rule" in r.stderr


def test_script_writes_the_heads_and_the_index(copy):
    table = copy / "lib/rules/table.def"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("The ARP hardware type is 32.", "It is 32."), encoding="utf-8")
    written = script(copy)
    assert written.returncode == 0, written.stderr
    assert "\nIt is 32.\n" in read(copy / "doc/rules/rfc4391.9.2.arp-hardware-type.md")
    assert "| It is 32. |" in read(copy / "doc/rules/README.md")


def test_script_makes_the_page_of_a_new_rule_and_names_the_missing_text(copy):
    (copy / PAGE).unlink()
    written = script(copy)
    assert written.returncode == 2, written.stderr
    assert "rfc4391.6.type.md: What it means" in written.stderr
    assert list(sections(read(copy / PAGE))) == [*HEADINGS[:2], EVIDENCE, *HEADINGS[2:]]
