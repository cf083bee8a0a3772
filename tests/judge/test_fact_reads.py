# SPDX-License-Identifier: GPL-2.0-or-later
"""Every failure cites the facts that its check read: in all captures of the tests, whole and with
frames lost (lib/rules/result.h, tests/judge/fact_reads.h)."""
import os
import subprocess

import pytest

from support import corpus
from support.paths import BUILD

PROGRAM = os.path.join(BUILD, "bin/fact-reads")
LOSSES = [[], ["--lose", "100"]]


@pytest.fixture(scope="module")
def captures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    paths = []
    for number, data in enumerate(corpus.everything().values()):
        paths.append(folder / str(number))
        paths[-1].write_bytes(data)
    return paths


@pytest.mark.parametrize("losses", LOSSES, ids=lambda losses: "".join(losses) or "whole")
def test_no_check_forgets_a_fact(captures, losses):
    assert len(captures) > 300
    for path in captures:
        command = [PROGRAM, "--deviations", "none", *losses, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
