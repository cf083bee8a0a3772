# SPDX-License-Identifier: GPL-2.0-or-later
"""Wireshark's own checks of a dissector's source (script/wireshark-checks) find nothing here, but
find a fault in a copy.

The checks are part of Wireshark's source, which script/wireshark-checks downloads once; a test does
not."""
import os
import re
import shutil
import subprocess

import pytest

from support.paths import SRC
from support.programs import run_script

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")


@pytest.fixture(autouse=True)
def checks_are_there():
    if not os.path.isfile(os.path.join(CACHE, "ipoib-wireshark/tools/checkAPIs.pl")):
        pytest.skip("needs Wireshark's source: script/wireshark-checks fetches it")


def test_nothing_is_found():
    run = run_script("wireshark-checks")
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize(
    "old, new",
    [
        pytest.param(
            r"hf_ipoib_cm_message, tvb, MAD_ATTRIBUTE, 2",
            r"hf_ipoib_cm_message, tvb, MAD_ATTRIBUTE, 3",
            id="wrong-length",
        ),
        pytest.param(
            r"(?m)^#include .plugin.*",
            r'\g<0>\nvoid f(char *p); void f(char *p) { sprintf(p, "x"); }',
            id="wrong-call",
        ),
    ],
)
def test_fault_is_found(tmp_path, old, new):
    """A fault in a copy of plugin/."""
    for name in ("plugin", "script"):
        shutil.copytree(os.path.join(SRC, name), tmp_path / name)
    source = tmp_path / "plugin" / "cm.c"
    spoilt, count = re.subn(old, new, source.read_text())
    assert count, "there is nothing to spoil"
    source.write_text(spoilt)
    run = subprocess.run(
        [str(tmp_path / "script/wireshark-checks")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout
