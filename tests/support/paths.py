# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the tree, the build and its programs. CTest sets the environment; without it the paths
of build/ are used."""
import os
import shlex

SRC = os.path.abspath(
    os.environ.get("IPOIB_SRC") or os.path.join(os.path.dirname(__file__), "..", "..")
)
BUILD = os.path.abspath(os.environ.get("IPOIB_BUILD") or os.path.join(SRC, "build"))
BIN = os.path.abspath(os.environ.get("IPOIB_BIN") or os.path.join(BUILD, "bin"))
TESTDATA = os.path.join(SRC, "testdata")
# Commands that run a program of the Wireshark suite with the plugins of the build.
TSHARK = shlex.split(os.environ.get("IPOIB_TSHARK") or os.path.join(SRC, "script", "tshark"))
WITH_PLUGINS = [os.path.join(SRC, "script", "with-plugins")]


def testdata(name):
    """The path of a capture that ships with the project."""
    return os.path.join(TESTDATA, name)


testdata.__test__ = False  # pytest would take it for a test
