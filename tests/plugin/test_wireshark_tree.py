# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin compiles inside a Wireshark source tree, without warnings (script/wireshark-tree).

The source is large, and script/bootstrap --with upstream downloads it; a test does not."""
import re

import pytest

from support.programs import run_script

LACKING = 75  # exit status: no source, or a library is missing


def test_every_object_compiles():
    run = run_script("wireshark-tree")
    if run.returncode == LACKING:
        pytest.skip(run.stdout.strip().splitlines()[-1].removeprefix("skipped: "))
    assert run.returncode == 0, run.stdout
    objects = re.search(r"^(\d+) objects of the plugin compiled, 0 failed$", run.stdout, re.M)
    assert objects and int(objects.group(1)) > 90, run.stdout
