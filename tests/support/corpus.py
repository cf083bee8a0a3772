# SPDX-License-Identifier: GPL-2.0-or-later
"""Every capture of the tests: testdata, the rules' fixtures and their bases, conformant
scenarios, and counterparts of the variants."""
import glob
import os
import re

from frames import unusual, variants
from frames.faults import fixture  # faults fills the tables of fixture
from frames.variants import evidence, forms  # evidence fills the table of variants
from support import capfile
from support.paths import TESTDATA

assert evidence
FOLDERS = ("", "built", "upstream")


def testdata_captures():
    """Path below testdata to the file's bytes, for the files that capfile reads."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(TESTDATA, folder, "*.*"))):
            if path.endswith((".pcap", ".pcapng", ".erf")):
                found[os.path.relpath(path, TESTDATA)] = capfile.load(path)
    return found


def fixture_captures():
    """File name to bytes, for each fixture that is not a base itself."""
    made = {f.name(): f for f in fixture.FIXTURES if f.make}
    return {name: fixture.make_capture(f)[0].pcap() for name, f in made.items()}


def base_captures():
    return {fixture.base_file(name): fixture.tape(name).pcap() for name in fixture.BASES}


def unusual_captures():
    return {f"unusual/{name}": unusual.capture(name) for name in unusual.SCENARIOS}


def counterpart_captures():
    """Conformant captures that look like variants."""
    made = {what: variants.counterpart(what) for what in variants.COUNTERPARTS}
    return {
        f"counterpart/{re.sub(r'[^0-9A-Za-z]+', '_', what)}": forms.infiniband(w)[0]
        for what, w in made.items()
    }


def everything():
    return {
        **testdata_captures(),
        **base_captures(),
        **fixture_captures(),
        **unusual_captures(),
        **counterpart_captures(),
    }
