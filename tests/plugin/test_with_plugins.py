# SPDX-License-Identifier: GPL-2.0-or-later
"""script/with-plugins hides the installed files of this project; the build's own plugins run, or
none. The Wireshark here is a fake that lists the folders in its environment."""
import os
import pathlib
import subprocess

import pytest

SRC = pathlib.Path(__file__).resolve().parents[2]
LIST = """#!/bin/sh
cd "$WIRESHARK_PLUGIN_DIR" && find . -name '*.so' | sort
[ -z "$WIRESHARK_EXTCAP_DIR" ] || ls "$WIRESHARK_EXTCAP_DIR"
[ -z "$WIRESHARK_DATA_DIR" ] || cat "$WIRESHARK_DATA_DIR"/*
"""


@pytest.fixture
def run(tmp_path):
    """Runs a fake Wireshark 9.8, which has its own installed plugins and ours, with a build."""
    (tmp_path / "usr/bin").mkdir(parents=True)
    program = tmp_path / "usr/bin/fakeshark"
    program.write_text(LIST)
    program.chmod(0o755)
    wireshark = tmp_path / "usr/lib/machine/wireshark"
    for name in ("plugins/9.8/epan/mate.so", "plugins/9.8/epan/ipoib.so", "extcap/sshdump"):
        path = wireshark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name in ("plugins/9.8/wiretap/ipoib_pcap247.so", "extcap/ipoib-capture"):
        path = wireshark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to("/nowhere")
    (tmp_path / "build/plugins/9.8/epan").mkdir(parents=True)
    (tmp_path / "build/plugins/9.8/epan/ipoib.so").touch()

    def call(**changes):
        env = dict(os.environ, PATH="%s:%s" % (program.parent, os.environ["PATH"]))
        for name in (
            "IPOIB_PLUGINS",
            "IPOIB_PRELOAD",
            "WIRESHARK_EXTCAP_DIR",
            "IPOIB_NO_NAMES",
            "WIRESHARK_DATA_DIR",
        ):
            env.pop(name, None)
        env.update({"IPOIB_BUILD": str(tmp_path / "build"), **changes})
        command = [SRC / "script/with-plugins", "fakeshark"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return done.stdout.split()

    return call


def test_installed_plugins_of_this_project_are_not_loaded(run):
    assert run(IPOIB_PLUGINS="") == ["./9.8/epan/mate.so", "sshdump"]


def test_only_plugins_of_the_build_are_loaded(run):
    assert run() == ["./9.8/epan/ipoib.so", "./9.8/epan/mate.so", "sshdump"]


def test_extcap_folder_of_the_caller_is_unchanged(run, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own/ipoib-capture").touch()
    assert run(IPOIB_PLUGINS="", WIRESHARK_EXTCAP_DIR=str(tmp_path / "own"))[-1] == "ipoib-capture"


@pytest.mark.parametrize("names", [["manuf", "services", "enterprises.tsv"], ["services"]])
@pytest.mark.parametrize("without", ["", "1"])
def test_tables_of_names_are_left_out_on_request(run, tmp_path, names, without):
    """Where Wireshark reads them, which it does if there is a file manuf."""
    (tmp_path / "usr/share/wireshark").mkdir(parents=True)
    for name in [*names, "colorfilters"]:
        (tmp_path / "usr/share/wireshark" / name).write_text(name + "\n")
    shown = run(IPOIB_NO_NAMES=without)
    assert shown[:3] == ["./9.8/epan/ipoib.so", "./9.8/epan/mate.so", "sshdump"]
    assert shown[3:] == (["colorfilters"] if without and "manuf" in names else [])


def test_data_folder_of_the_caller_is_unchanged(run, tmp_path):
    for folder in ("own", "usr/share/wireshark"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "manuf").write_text(folder)
    own = str(tmp_path / "own")
    assert run(IPOIB_NO_NAMES="1", WIRESHARK_DATA_DIR=own)[-1] == "own"
