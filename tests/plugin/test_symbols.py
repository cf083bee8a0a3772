# SPDX-License-Identifier: GPL-2.0-or-later
"""The structure that the object files show: calls between files point one way, and each global name is defined once."""
import collections
import os
import shutil
import subprocess

import pytest

from support.paths import BUILD, SRC

# the folders of the products and of what they share
ROOMS = "lib/wire lib/model lib/rules lib/analysis lib/report lib/pcapio lib/hca lib/cli plugin check capture probe".split()
# each program and plugin has these
OF_EACH = {"main", "plugin_version", "plugin_want_major", "plugin_want_minor", "plugin_register"}
OF_EACH |= {"plugin_describe"}
Symbols = collections.namedtuple("Symbols", "defined used")


def sources_of(room):
    """Source path to object file; a source that is compiled for several targets counts once."""
    found = {}
    for folder, _, names in os.walk(os.path.join(BUILD, room)):
        parts = folder.split(os.sep)
        if "CMakeFiles" not in parts:
            continue
        for name in names:
            if name.endswith(".c.o"):
                target = next(i for i, part in enumerate(parts) if part.endswith(".dir"))
                inside = os.sep.join(parts[target + 1 :] + [name[:-2]])
                home = os.path.relpath(os.sep.join(parts[: target - 1]), BUILD)
                source = os.path.normpath(os.path.join(home, inside))
                if os.path.exists(
                    os.path.join(SRC, source)
                ):  # a file that was moved leaves its object
                    found[source] = os.path.join(folder, name)
    return found


def symbols(path):
    defined, used = set(), set()
    for line in subprocess.check_output(["nm", path], text=True).splitlines():
        kind, name = line.split()[-2:]
        if kind in "TDBR":
            defined.add(name)
        elif kind == "U":
            used.add(name)
    return Symbols(defined, used)


@pytest.fixture(scope="module")
def files():
    """Room to {source: its symbols}."""
    if not shutil.which("nm"):
        pytest.skip("needs nm: script/bootstrap --with test")
    found = {room: {s: symbols(o) for s, o in sources_of(room).items()} for room in ROOMS}
    assert sum(map(len, found.values())) > 200, "there are no object files: the build is elsewhere"
    return found


def circles(of_file):
    """The sets of files that call each other (Tarjan's algorithm)."""
    owner = {name: file for file, s in of_file.items() for name in s.defined}
    calls = {f: {owner[n] for n in s.used if n in owner} - {f} for f, s in of_file.items()}
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in calls[file]:
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            at = stack.index(file)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for file in calls:
        if file not in number:
            visit(file)
    return found


def test_no_circle_of_calls_between_files(files):
    assert all(len(of_room) > 3 for of_room in files.values())
    assert circles({file: s for room in files.values() for file, s in room.items()}) == []


def test_each_global_name_is_defined_once(files):
    places = collections.defaultdict(set)
    for room in files.values():
        for file, found in room.items():
            for name in found.defined - OF_EACH:
                places[name].add(file)
    twice = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert twice == {}


def test_a_circle_is_found():
    made = {
        "a": Symbols({"f"}, {"g"}),
        "b": Symbols({"g"}, {"h"}),
        "c": Symbols({"h"}, {"f"}),
        "d": Symbols({"i"}, {"f"}),
    }
    assert circles(made) == [["a", "b", "c"]]
