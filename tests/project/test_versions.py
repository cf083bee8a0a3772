# SPDX-License-Identifier: GPL-2.0-or-later
"""The version and the oldest versions of libraries are the same wherever they are stated."""
import glob
import os
import re

from support.paths import SRC


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
    assert f" {version} (" in read("CHANGES")


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
