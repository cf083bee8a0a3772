# SPDX-License-Identifier: GPL-2.0-or-later
"""A version of Wireshark that the plugin was never built for is refused in one clear line; the tools
are built without it, and IPOIB_ANY_WIRESHARK tries it."""
import os
import re
import subprocess

import pytest

from support.paths import SRC

CONFIG = """\
set(Wireshark_MAJOR_VERSION {major})
set(Wireshark_MINOR_VERSION {minor})
set(Wireshark_PLUGIN_LIBDIR lib/wireshark/plugins/{major}.{minor})
set(Wireshark_PLUGIN_INSTALL_DIR ${{CMAKE_CURRENT_LIST_DIR}}/lib/wireshark/plugins/{major}.{minor})
set(Wireshark_INCLUDE_DIR ${{CMAKE_CURRENT_LIST_DIR}})
foreach(name epan wiretap wsutil)
    if(NOT TARGET ${{name}})
        add_library(${{name}} INTERFACE IMPORTED)
    endif()
endforeach()
include(${{CMAKE_CURRENT_LIST_DIR}}/more.cmake OPTIONAL)
"""
VERSION = """\
set(PACKAGE_VERSION {major}.{minor}.0)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
"""


def configure(folder, version, *options):
    """Configures with a Wireshark that has a version and nothing else. Returns what cmake prints, and
    whether it succeeds."""
    major, minor = version.split(".")
    for name, text in (("WiresharkConfig", CONFIG), ("WiresharkConfigVersion", VERSION)):
        (folder / f"{name}.cmake").write_text(text.format(major=major, minor=minor))
    command = ["cmake", "-G", "Ninja", "-S", SRC, "-B", str(folder / "build"), "-DIPOIB_TESTS=OFF"]
    done = subprocess.run(
        [*command, f"-DWireshark_DIR={folder}", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout, done.returncode == 0


@pytest.mark.parametrize("version", ["4.8", "5.0"])
def test_never_built(tmp_path, version):
    text, succeeds = configure(tmp_path, version)
    assert not succeeds
    text = re.sub(r"\s+", " ", text)
    assert (
        f"The plugin was never built for Wireshark {version}, only for 4.0, 4.2, 4.4, 4.6:" in text
    )


@pytest.mark.parametrize("version", ["4.2", "4.4"])
def test_built(tmp_path, version):
    text, succeeds = configure(tmp_path, version)
    assert succeeds, text
    assert "building without the reader" not in text


@pytest.mark.parametrize("option", ["IPOIB_PLUGIN=OFF", "IPOIB_ANY_WIRESHARK=ON"])
def test_way_out(tmp_path, option):
    text, succeeds = configure(tmp_path, "4.8", f"-D{option}")
    assert succeeds, text
    reader = "building without the reader for pcap files of link type 247"
    assert (reader in text) == (option == "IPOIB_ANY_WIRESHARK=ON")


def test_readme_names_the_versions():
    with open(os.path.join(SRC, "CMakeLists.txt"), encoding="utf-8") as f:
        built = re.search(r"IPOIB_BUILT_WIRESHARKS ([\d. ]+)\)", f.read()).group(1).split()
    with open(os.path.join(SRC, "README.md"), encoding="utf-8") as f:
        assert re.findall(r"^\| (\d\.\d) \| ", f.read(), re.MULTILINE) == built


def test_library_that_is_not_installed(tmp_path):
    """Ubuntu 26.04's description of libwsutil names libxxhash.so, of a package that none needs."""
    missing = tmp_path / "libmissing.so"
    (tmp_path / "more.cmake").write_text(
        "include_guard()\n"
        f"set_property(TARGET wsutil PROPERTY INTERFACE_LINK_LIBRARIES m {missing})\n"
        "set_property(TARGET epan PROPERTY INTERFACE_LINK_LIBRARIES wsutil)\n"
    )
    text, succeeds = configure(tmp_path, "4.6", "-G", "Ninja")
    assert succeeds, text
    assert str(missing) not in (tmp_path / "build" / "build.ninja").read_text()
