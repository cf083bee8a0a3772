# SPDX-License-Identifier: GPL-2.0-or-later
"""Options and fixtures of all Python tests. pytest puts this folder on the import path."""
import os

import pytest

from support.folders import open_folder

# script/with-plugins: tshark starts in half the time
os.environ.setdefault("IPOIB_NO_NAMES", "1")


def pytest_addoption(parser):
    parser.addoption(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME",
        help="of tests/project/test_scenarios.py only this scenario; may be given several times (default: all)",
    )
    parser.addoption(
        "--part",
        metavar="I/N",
        help="every N-th test from number I on (tests/support/at_once.py)",
    )


def pytest_collection_modifyitems(config, items):
    leave_out_scenarios(config, items)
    leave_out_other_parts(config, items)


def leave_out_other_parts(config, items):
    """Leaves out the tests that are not of --part."""
    if not config.getoption("part"):
        return
    part, parts = map(int, config.getoption("part").split("/"))
    out = [i for n, i in enumerate(items) if n % parts != part - 1]
    items[:] = items[part - 1 :: parts]
    config.hook.pytest_deselected(items=out)


def leave_out_scenarios(config, items):
    """Leaves out the tests of the scenarios that --scenario does not name."""
    wanted = config.getoption("scenario")
    if not wanted:
        return
    known = {scenario_of(i) for i in items}
    if not known >= set(wanted):
        raise pytest.UsageError(f"no such scenario: {', '.join(sorted(set(wanted) - known))}")
    out = [i for i in items if scenario_of(i) is not None and scenario_of(i) not in wanted]
    items[:] = [i for i in items if i not in out]
    config.hook.pytest_deselected(items=out)


def scenario_of(item):
    """The scenario that a test uses; None if it uses none."""
    return getattr(item, "callspec", None) and item.callspec.params.get("scenario")


@pytest.fixture
def open_path():
    """A folder that other users can read; tmp_path is closed to them."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def folder(open_path, monkeypatch):
    """The current folder: an empty folder of the test's own, which other users can read."""
    with monkeypatch.context() as patch:
        patch.chdir(open_path)
        yield open_path
