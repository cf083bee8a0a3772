# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of a test that other users can read, because root runs Wireshark's programs as another
user."""
import contextlib
import os
import pathlib
import tempfile


@contextlib.contextmanager
def open_folder(mode=0o755):
    """A new folder, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="ipoib-test.") as folder:
        os.chmod(folder, mode)
        yield pathlib.Path(folder)
