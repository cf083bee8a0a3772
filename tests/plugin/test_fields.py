# SPDX-License-Identifier: GPL-2.0-or-later
"""The names that users type exist with their types, and the pages of fields are what script/fields
makes.

The names and types are those that doc/fields.md promises to keep."""
import os
import shlex
import subprocess
import sys

import pytest

from support.paths import SRC, TSHARK
from support.wireshark import registered_fields, tshark

DOC_IS_OF = "4.0"  # built-in fields differ between versions; the pages are made with this one
PAGES = {"doc/fields.md": [], "doc/man/ipoib-filter.4": ["--man"]}
PROMISED = """
type:UINT16 reserved:UINT16 lladdr:BYTES lladdr.flags:UINT8 lladdr.flags.rc:BOOLEAN lladdr.flags.uc:BOOLEAN
lladdr.flags.reserved:UINT8 lladdr.flags.tss:BOOLEAN lladdr.qpn:UINT24 lladdr.gid:IPv6 mgid:IPv6 mgid.flags:UINT8 mgid.transient:BOOLEAN mgid.scope:UINT8
mgid.signature:UINT16 mgid.pkey:UINT16 mgid.ipv4:IPv4 mgid.ipv6:IPv6 sa.status:UINT16 sa.join_state:UINT8 sa.mtu:UINT16
sa.rate:UINT8 sa.component_mask:UINT64 cm.service_id:UINT64 cm.service_id.qpn:UINT24 cm.ud_qpn:UINT24 cm.recv_mtu:UINT32
cm.reserved:UINT8 cm.mtu:UINT32 response_in:FRAMENUM response_to:FRAMENUM time:RELATIVE_TIME gid.addr:IPv6 lid:UINT16""".split()


@pytest.fixture(scope="module")
def types():
    """The types of each field that tshark knows: a name may be registered more than once."""
    found = {}
    for row in registered_fields():
        if row[0] == "F":
            found.setdefault(row[2], set()).add(row[3].replace("FT_", ""))
    return found


@pytest.mark.parametrize("name, kind", [p.split(":") for p in PROMISED])
def test_field_has_its_type(types, name, kind):
    assert types.get("ipoib." + name) == {kind}


def test_rule_of_note_has_the_label_of_a_rule():
    """The identifier of a note is that of a rule: --explain takes both."""
    labels = {}
    for row in registered_fields():
        if row[0] == "F":
            labels[row[2]] = row[1]
    assert labels["ipoib.note.id"] == labels["ipoib.rule.id"] == "Rule"


@pytest.mark.parametrize("page", PAGES)
def test_page_is_what_script_fields_makes(page):
    version = tshark("-v").stdout.split()[2]
    if not version.startswith(DOC_IS_OF + "."):
        pytest.skip(f"the page is made with Wireshark {DOC_IS_OF}, this is {version}")
    made = subprocess.run(
        [sys.executable, os.path.join(SRC, "script/fields"), *PAGES[page]],
        capture_output=True,
        text=True,
        env={**os.environ, "IPOIB_TSHARK": shlex.join(TSHARK)},
        check=False,
    )
    assert made.returncode == 0, made.stderr
    with open(os.path.join(SRC, page), encoding="utf-8") as f:
        assert f.read() == made.stdout, made.stderr
