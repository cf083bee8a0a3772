# SPDX-License-Identifier: GPL-2.0-or-later
"""The version and the oldest versions of libraries are the same wherever they are stated. The names that
doc/versions.md gives as examples exist."""
import datetime
import glob
import os
import re

from support.paths import BIN, SRC
from support.programs import run


def read(path):
    with open(os.path.join(SRC, path), encoding="utf-8") as f:
        return " ".join(f.read().split())


CMAKE, SPEC = read("CMakeLists.txt"), read("packaging/rpm/ipoib-tools.spec")


def found(pattern, text):
    match = re.search(pattern, text)
    assert match, pattern
    return match[1]


def test_version_of_the_spec():
    version = found(r"project\(ipoib-tools VERSION (\S+)", CMAKE)
    assert found(r"Version: (\S+)", SPEC) == version
    assert f" - {version}-1 - " in SPEC


def test_newest_version_of_changes():
    """A section of what is not released yet may stand before it."""
    with open(os.path.join(SRC, "CHANGES"), encoding="utf-8") as f:
        sections = re.findall(
            r"^(?:(\S+) \((\d{4}-\d\d-\d\d)\)|Unreleased)$", f.read(), re.MULTILINE
        )
    version, date = next(section for section in sections if section[0])
    assert version == found(r"project\(ipoib-tools VERSION (\S+)", CMAKE)
    day = datetime.date.fromisoformat(date).strftime("%a %b %d %Y")
    assert found(r"%changelog \* (\w+ \w+ \d+ \d+) ", SPEC) == day


def test_programs_print_the_version():
    version = found(r"project\(ipoib-tools VERSION (\S+)", CMAKE)
    for name in ("ipoib-check", "ipoib-probe", "ipoib-capture"):
        assert run([os.path.join(BIN, name), "--version"]).stdout == f"{name} {version}\n"


def test_names_of_the_page_exist():
    page = read("doc/versions.md").partition("## Names that do not change")[2]
    rule, event, stage = re.findall(r"`([a-z0-9.-]+)`", page.partition("] ")[0])[:3]
    for folder, name in (("rules", rule), ("events", event.rpartition(".")[2]), ("stages", stage)):
        assert os.path.exists(os.path.join(SRC, "doc", folder, name + ".md")), name
    assert f'"{found(r"causes .`([a-z-]+)`", page)}"' in read("lib/rules/causes.def")
    for outcome in re.findall(r"`([a-z]+)`", found(r"outcomes .([^)]*)", page)):
        assert f" {outcome}" in read("doc/reports.md")


def test_version_of_the_examples():
    version = found(r"project\(ipoib-tools VERSION (\S+)", CMAKE)
    examples = re.compile(r"ipoib-(?:tools|fabric)[-:](\d+\.\d+\.\d+)|\"version\": \"([\d.]+)\"")
    pages = glob.glob(os.path.join(SRC, "*.md")) + glob.glob(os.path.join(SRC, "doc", "*.md"))
    stated = [match for page in pages for match in examples.finditer(read(page))]
    assert len(stated) >= 8
    assert {match[1] or match[2] for match in stated} == {version}


def test_oldest_versions():
    for name in ("libibverbs", "libibumad", "librdmacm", "glib-2.0"):
        assert found(rf"{name}>=([\d.]+)", CMAKE) == found(
            rf"pkgconfig\({name}\) >= ([\d.]+)", SPEC
        )
    cmake, glib = found(r"VERSION ([\d.]+)\)", CMAKE), found(r"glib-2.0>=([\d.]+)", CMAKE)
    assert f"cmake >= {cmake}" in SPEC
    assert f"GLIB_VERSION_{glib.replace('.', '_')}" in CMAKE
    rdma_core = found(r"libibverbs>=\d+\.\d+\.(\d+)", CMAKE)
    assert {
        found(rf"{name}>=[\d]+\.[\d]+\.(\d+)", CMAKE) for name in ("libibumad", "librdmacm")
    } == {rdma_core}
    wireshark = found(r"find_package\(Wireshark (\S+)", CMAKE)
    assert f"pkgconfig(wireshark) >= {wireshark}" in SPEC
    install = read("README.md").partition("## Install")[2].partition("## Uninstall")[0]
    for text in (
        f"cmake {cmake} or newer",
        f"rdma-core {rdma_core} or newer",
        f"GLib {glib} or newer",
        f"Wireshark {wireshark} or newer",
    ):
        assert text in install
