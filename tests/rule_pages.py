#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of doc/rules/: all there, up to date, readable; their display filters compile, their links lead somewhere;
and script/rule-pages notices every fault that these texts can have.

Environment: IPOIB_SRC, IPOIB_TSHARK. Output: TAP."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import SRC, TSHARK, faultless, finish, skip, tap

PAGES = os.path.join(SRC, "doc/rules")
CAPTURE = os.path.join(SRC, "testdata/datagram.pcap")
RULES = 144
HEADINGS = ["What it means", "How it is judged", "How to see it", "What to do"]
SHORTEST = {"What it means": 80, "How it is judged": 40, "How to see it": 30, "What to do": 8}
FINDING = re.compile(r"ipoib\.(rule|note)\.")
HOSTS = ("https://www.rfc-editor.org/rfc/rfc4391#section-", "https://www.rfc-editor.org/rfc/rfc4755#section-",
         "https://datatracker.ietf.org/doc/html/draft-ietf-ipoib-link-multicast-0")
AT_ONCE = 20  # filters that one tshark compiles, joined by ||


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def identifiers():
    """Of rules/table.def, read in another way than the script does."""
    return re.findall(r'^RULE\(\w+, "([^"]+)", ', read(os.path.join(SRC, "rules/table.def")), re.MULTILINE)


def sections(text):
    """Heading: text of a page."""
    parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def filters(text):
    """The display filters that a page shows, as a reader copies them."""
    listed = re.search(r"^Display filters:\n\n((?:- .*\n(?:  .*\n)*)*)", text, re.MULTILINE)
    return re.findall(r"^- `([^`]+)`: ", listed.group(1), re.MULTILINE) if listed else []


def compiles(expression):
    """None, or what tshark says against a display filter."""
    r = subprocess.run(TSHARK + ["-r", CAPTURE, "-Y", expression, "-c", "1"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, text=True, check=False)
    return None if r.returncode == 0 else r.stderr.strip() or "exit status %d" % r.returncode


def broken_filters(wanted):
    """[(filter, complaint)]; many are compiled at once, one by one only where that fails."""
    broken = []
    for at in range(0, len(wanted), AT_ONCE):
        group = wanted[at:at + AT_ONCE]
        if compiles(" || ".join("(%s)" % f for f in group)):
            broken += [(f, why) for f, why in ((f, compiles(f)) for f in group) if why]
    return broken


def knows_findings():
    out = subprocess.run(TSHARK + ["-G", "fields"], capture_output=True, text=True, check=True).stdout
    return {"ipoib.rule.id", "ipoib.note.id", "ipoib.rule.deviation"} <= {line.split("\t")[2] for line in out.splitlines()
                                                                           if line.startswith("F\t")}


def check_filters(pages):
    wanted = sorted({f for text in pages.values() for f in filters(text)})
    raw = [f for f in wanted if not FINDING.search(f)]
    tap(compiles("ipoib.no_such_field == 1") is not None, "a filter that does not compile is noticed")
    broken = broken_filters(raw)
    tap(len(raw) > 100 and not broken, "%d filters on fields compile" % len(raw),
        ["%s: %s" % b for b in broken] or "there are too few")
    found = [f for f in wanted if FINDING.search(f)] + ["ipoib.rule.deviation == 1"]
    name = "%d filters on findings compile" % len(found)
    if not knows_findings():
        skip(name, "the plugin does not register ipoib.rule.id and ipoib.note.id")
        return
    faultless(name, ["%s: %s" % b for b in broken_filters(found)])


def check_links(pages):
    wrong = []
    for name, text in pages.items():
        for target in re.findall(r"\]\(([^)]*)\)", text):
            good = target.startswith(HOSTS) if "://" in target else os.path.isfile(os.path.join(PAGES, target))
            if not good:
                wrong.append("%s: %s" % (name, target))
    faultless("every link leads to a page or a document", wrong)
    index = re.findall(r"^\| \[([^]]+)\]\(([^)]+)\.md\) \|", pages["README.md"], re.MULTILINE)
    tap([a for a, _ in index] == [b for _, b in index] and sorted(a for a, _ in index) == sorted(identifiers()),
        "the index names each rule once", index)


def faults_of_style(name, text):
    faults = []
    if "\t" in text or re.search(r" $", text, re.MULTILINE) or not text.endswith("\n") or "\n\n\n" in text:
        faults.append("%s: tab, trailing space or needless empty line" % name)
    if text.count("`") % 2 or not text.isascii() or re.search(r"[*<]", re.sub(r"`[^`]*`", "", text)):
        faults.append("%s: a lone `, or a character that is not plain text" % name)
    there = sections(text)
    if [h for h in there if h != "Known deviations"] != HEADINGS:
        faults.append("%s: headings %s" % (name, list(there)))
    for heading, shortest in SHORTEST.items():
        body = there.get(heading, "").replace("[All rules](README.md)", "").strip()
        if len(body) < shortest:
            faults.append("%s: %s: too short" % (name, heading))
        for paragraph in re.split(r"\n\n|\n(?=- )", body):
            if not paragraph.endswith((".", "?", "Display filters:", "Commands:")):
                faults.append("%s: %s: no full stop: %s" % (name, heading, paragraph))
    return faults


def copy_tree(folder):
    """What the script needs, to spoil it."""
    for name in ("rules", "doc"):
        os.makedirs(os.path.join(folder, name))
    shutil.copytree(PAGES, os.path.join(folder, "doc/rules"))
    shutil.copytree(os.path.join(SRC, "rules/deviations"), os.path.join(folder, "rules/deviations"))
    for name in ("rules/table.def", "rules/pages.def"):
        shutil.copy(os.path.join(SRC, name), os.path.join(folder, name))
    os.makedirs(os.path.join(folder, "script"))
    shutil.copy(os.path.join(SRC, "script/rule-pages"), os.path.join(folder, "script"))


def script(folder, *arguments):
    return subprocess.run([sys.executable, os.path.join(folder, "script/rule-pages"), *arguments],
                          capture_output=True, text=True, check=False)


def replaced(path, old, new):
    text = read(path)
    assert text.count(old) >= 1, "%s: nothing to spoil: %s" % (path, old)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(old, new, 1))


# What is spoilt, how, and what --check must say of it: exit status and a word.
SPOILT = [
    ("a page that somebody edited", "doc/rules/rfc4391.6.type.md", "Type", "Typ", 1, "rfc4391.6.type.md"),
    ("a text that changed", "rules/pages.def", "The two octets behind Type", "Two octets behind Type", 1, "reserved-zero"),
    ("a sentence of the table that changed", "rules/table.def", "The ARP hardware type is 32.", "It is 32.", 1, "README.md"),
    ("a reason of a deviation that changed", "rules/deviations/linux.conf", "reason=Linux accepts both",
     "reason=Linux takes both", 1, "simultaneous"),
    ("a page of no rule", "rules/pages.def", "PAGE(RFC4391_6_TYPE,", "PAGE(RFC4391_6_TYPES,", 2, "RFC4391_6_TYPES"),
    ("a rule without a page", "rules/table.def", 'RULE(RFC4391_6_TYPE, "rfc4391.6.type"',
     'RULE(RFC4391_6_NEW, "rfc4391.6.new", RFC4391, "6", MUST, FACT, NODE, P, "New.")\nRULE(RFC4391_6_TYPE, "rfc4391.6.type"',
     2, "RFC4391_6_NEW"),
    ("two pages of a rule", "rules/pages.def", "PAGE(RFC4391_6_TYPE,", "PAGE(RFC4391_6_RESERVED_ZERO,", 2, "second page"),
    ("an unknown word of the table", "rules/table.def", "MUST, KEYWORD, NODE, A,", "MUSS, KEYWORD, NODE, A,", 2, "MUSS"),
    ("a symbol that is not its identifier's", "rules/table.def", '"rfc4391.6.type"', '"rfc4391.6.kind"', 2, "do not match"),
    ("a link to no rule", "rules/pages.def", "`rfc4391.6.other-types`", "`rfc4391.6.no-types`", 2, "no rule"),
    ("a missing comma", "rules/pages.def", '.",\n', '."\n', 2, "expected"),
    ("a sentence without an end", "rules/pages.def", '.",\n', '",\n', 2, "end of a sentence"),
    ("a filter without its mark", "rules/pages.def", '"= ipoib.short', '"ipoib.short', 2, "ipoib.short"),
    ("a deviation of no rule", "rules/deviations/linux.conf", "[rfc4755.3.3.simultaneous]", "[rfc4755.3.3.none]", 2,
     "no such rule"),
    ("a listed deviation that no list has", "rules/deviations/linux.conf", "[rfc4755.3.3.simultaneous]", "[rfc4755.4.type]", 2,
     "no list has one"),
]


def check_script():
    r = script(SRC, "--check")
    tap(r.returncode == 0 and not r.stderr, "script/rule-pages --check", r.stderr)
    for name, path, old, new, status, word in SPOILT:
        with tempfile.TemporaryDirectory() as folder:
            copy_tree(folder)
            replaced(os.path.join(folder, path), old, new)
            r = script(folder, "--check")
            tap(r.returncode == status and word in r.stderr, "noticed: " + name, "%d: %s" % (r.returncode, r.stderr))
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(folder)
        os.rename(os.path.join(folder, "doc/rules/rfc4391.6.type.md"), os.path.join(folder, "doc/rules/rfc4391.6.old.md"))
        r = script(folder, "--check")
        tap(r.returncode == 1 and "rfc4391.6.type.md is missing" in r.stderr and "rfc4391.6.old.md belongs" in r.stderr,
            "noticed: a page too few and a page too many", r.stderr)
        r = script(folder)
        again = script(folder, "--check")
        tap(r.returncode == 0 and again.returncode == 0, "written, it is up to date", r.stderr + again.stderr)


def main():
    pages = {os.path.basename(p): read(p) for p in glob.glob(os.path.join(PAGES, "*.md"))}
    ids = identifiers()
    check_script()
    tap(len(ids) == RULES and set(pages) == {i + ".md" for i in ids} | {"README.md"}, "a page for each of %d rules" % RULES,
        "%d rules, %d pages" % (len(ids), len(pages) - 1))
    wrong = [i for i in ids if not pages.get(i + ".md", "").startswith("# %s\n\n" % i)]
    faultless("each page's heading is its rule", wrong)
    faults = [f for name, text in sorted(pages.items()) if name != "README.md" for f in faults_of_style(name, text)]
    faultless("texts are whole, plain and end in full stops", faults)
    check_links(pages)
    check_filters(pages)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
