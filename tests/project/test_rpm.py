# SPDX-License-Identifier: GPL-2.0-or-later
"""The RPM packages, built from the source archive by Debian's rpm: contents, modes, requirements, no
scriptlets; installed into an empty root and removed, they leave nothing."""
import collections
import os
import re
import stat
import subprocess

import pytest

from support.needs import needs
from support.paths import SRC
from support.programs import run

SPEC = os.path.join(SRC, "packaging", "rpm", "ipoib-tools.spec")
TOOLS, DOC, PLUGIN = "ipoib-tools", "ipoib-tools-doc", "wireshark-plugin-ipoib"
PROGRAMS = ("ipoib-capture", "ipoib-check", "ipoib-probe")
# What rpmlint reports, and why it stays.
ALLOWED = {
    "no-signature": "who publishes a package signs it",
    "no-packager-tag": "who builds a package sets it",
    "no-group-tag": "distributions of today have no groups",
    "no-url-tag": "the project has no public address of its own",
    "invalid-url": "the source is the archive of script/package --source",
    "invalid-license": "the identifier is SPDX's; this rpmlint lists older names",
    "no-buildroot-tag": "rpm sets it",
    "no-dependency-on": "the documents need no locales-doc",
    "files-duplicate": "bash reads a file for each program",
    "unstripped-binary-or-object": "Debian's rpm does not strip, as others do",
    "manpage-not-compressed": "Debian's rpm does not compress, as others do",
    "no-manual-page-for-binary": "it looks for compressed ones",
}
Entry = collections.namedtuple("Entry", "mode owner group link")


def query(path, *arguments):
    return subprocess.run(
        ["rpm", "-qp", *arguments, path], stdout=subprocess.PIPE, text=True, check=True
    ).stdout


@pytest.fixture(scope="module", name="packages")
def fixture_packages(tmp_path_factory):
    """The files of the packages by the packages' names."""
    needs("rpmbuild", "release")
    top = tmp_path_factory.mktemp("rpm")
    sources = top / "SOURCES"
    sources.mkdir()
    done = run([os.path.join(SRC, "script", "package"), "--source", str(sources)])
    assert done.returncode == 0, done.stdout
    # --nodeps: the packages that the build needs are Debian's
    command = ["rpmbuild", "-bb", "--nodeps", "--define", f"_topdir {top}"]
    done = run([*command, "--define", "_smp_mflags -j2", SPEC])
    assert done.returncode == 0, done.stdout[-4000:]
    found = {
        query(path, "--queryformat", "%{NAME}"): str(path) for path in top.glob("RPMS/*/*.rpm")
    }
    return {name: path for name, path in found.items() if "debug" not in name}


def contents(path):
    """The files and folders of a package."""
    found = {}
    for line in query(path, "--dump").splitlines():
        name, *fields = line.rsplit(" ", 10)
        mode, owner, group, link = fields[3], fields[4], fields[5], fields[9]
        found[name] = Entry(int(mode, 8), owner, group, link)
    return found


def test_three_packages(packages):
    assert set(packages) == {TOOLS, DOC, PLUGIN}
    assert query(packages[DOC], "--queryformat", "%{ARCH}") == "noarch"
    summaries = {query(path, "--queryformat", "%{SUMMARY}") for path in packages.values()}
    assert len(summaries) == 3 and all(len(summary) < 80 for summary in summaries)


def test_contents(packages):
    tools, doc, plugin = (set(contents(packages[name])) for name in (TOOLS, DOC, PLUGIN))
    for name in PROGRAMS:
        assert f"/usr/bin/{name}" in tools
        assert any(re.fullmatch(rf"/usr/share/man/man1/{name}\.1(\.gz)?", path) for path in tools)
        assert f"/usr/share/bash-completion/completions/{name}" in tools
    assert "/usr/share/zsh/site-functions/_ipoib" in tools
    assert any(path.endswith("/extcap/ipoib-capture") for path in tools)
    assert any(path.endswith("/privileges/70-ipoib-tools.rules") for path in tools)
    assert "/usr/share/doc/ipoib-tools/doc/versions.md" in doc
    assert "/usr/share/wireshark/profiles/IPoIB/preferences" in doc
    assert {path.rpartition("/")[2] for path in plugin if path.endswith(".so")} == {
        "ipoib.so",
        "ipoib_pcap247.so",
    }
    for name in (TOOLS, DOC, PLUGIN):
        assert any(path.endswith("/LICENSE") for path in contents(packages[name]))
    files = [path for one in (tools, doc, plugin) for path in one]
    assert not [path for path in files if re.search(r"/(copyright|changelog)$|\.a$|\.la$", path)]


def test_modes(packages):
    for name, package in packages.items():
        for path, entry in contents(package).items():
            assert (entry.owner, entry.group) == ("root", "root"), path
            wanted = 0o644
            if stat.S_ISDIR(entry.mode) or path.startswith("/usr/bin/"):
                wanted = 0o755
            elif path.endswith(".so"):
                wanted = entry.mode & 0o755  # 0644 on Debian, 0755 elsewhere
            if not stat.S_ISLNK(entry.mode):
                assert stat.S_IMODE(entry.mode) == wanted, f"{name}: {path}"


def test_requirements(packages):
    needed = query(packages[PLUGIN], "--requires").splitlines()
    version = subprocess.run(
        ["pkg-config", "--modversion", "wireshark"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    major, minor = map(int, version.split(".")[:2])
    assert f"wireshark-cli >= {major}.{minor}" in needed
    assert f"wireshark-cli < {major}.{minor + 1}" in needed
    tools = query(packages[TOOLS], "--requires")
    for library in ("libibverbs.so.1", "libibumad.so.3", "librdmacm.so.1", "libglib-2.0.so.0"):
        assert library in tools
    assert "wireshark" not in tools
    assert [
        line
        for line in query(packages[DOC], "--requires").splitlines()
        if not line.startswith("rpmlib(")
    ] == []


def test_no_scriptlets(packages):
    for path in packages.values():
        assert query(path, "--scripts", "--triggers") == ""


def test_installed_and_removed(packages, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root: rpm changes its root folder")
    root = tmp_path / "root"
    root.mkdir()
    command = ["rpm", "--force-debian", "--root", str(root), "--nodeps"]
    done = run([*command, "--install", *packages.values()])
    assert done.returncode == 0, done.stdout
    link = next(root.rglob("extcap/ipoib-capture"))
    assert link.resolve() == (root / "usr/bin/ipoib-capture").resolve()
    done = run([str(root / "usr/bin/ipoib-check"), os.path.join(SRC, "testdata/connected.pcap")])
    assert done.returncode == 0 and "CONFORMANT" in done.stdout
    done = run([*command, "--verify", *packages])
    assert done.returncode == 0, done.stdout
    done = run([*command, "--erase", *packages])
    assert done.returncode == 0, done.stdout
    assert [str(path) for path in root.rglob("*") if "ipoib" in path.name.lower()] == []


def test_rpmlint_finds_no_error(packages):
    needs("rpmlint", "release")
    done = run(["rpmlint", SPEC, *packages.values()])
    found = re.findall(r"^(\S+): ([EW]): ([a-z-]+)(.*)$", done.stdout, re.MULTILINE)
    assert [line for line in found if line[2] not in ALLOWED] == [], done.stdout


def test_without_the_plugin():
    needs("rpmspec", "release")
    done = run(["rpmspec", "--parse", "--without", "plugin", SPEC])
    assert done.returncode == 0, done.stdout
    assert "-DIPOIB_PLUGIN=OFF" in done.stdout
    assert not re.search(r"Requires:.*wireshark|^%files -n", done.stdout, re.MULTILINE)
