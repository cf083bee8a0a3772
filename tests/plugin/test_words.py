# SPDX-License-Identifier: GPL-2.0-or-later
"""What a reader of Wireshark's windows is told: titles name the fault, values that the IBA does not
define have a name, unknown addresses are unknown, and known deviations do not look like violations."""
import re

import pytest

from frames import edit
from support import shown, table
from support.paths import testdata
from support.wireshark import tshark

# A title without such a word would name a requirement, or the object of one.
SAYS_FAULT = re.compile(
    r"(?i)\b(no|not|wrong|malformed|without|too|below|another|outside|set|stays|differs|second"
    r"|limited|beside|over a connection|does not|incomplete|before|has not)\b"
)


def changed(tmp_path, name, frame, **fields):
    """A capture of testdata with other values in one frame."""
    tape = edit.Tape(testdata(name))
    for field, value in fields.items():
        tape[frame][field.replace("_", ".", 1)] = value
    path = tmp_path / "changed.pcap"
    path.write_bytes(tape.pcap())
    return str(path)


def info(capture, frame):
    (text,) = shown.values(shown.show(capture).frames[frame], "_ws.col.Info")
    return text


# ---- titles of expert groups


@pytest.mark.parametrize("rule", [r for r in table.read() if r.level in ("MUST", "SHOULD")
                                  and "P" in r.seen], ids=lambda r: r.id)  # fmt: skip
def test_title_of_a_violation_names_the_fault(rule):
    assert SAYS_FAULT.search(rule.title), rule.title


def test_request_outside_of_the_broadcast_group_is_called_so():
    """qpn-change-cm.pcap: requests that revalidate a cache entry go to the neighbour alone."""
    found = tshark("-r", testdata("qpn-change-cm.pcap"), "-q", "-z", "expert", check=True).stdout
    assert "Address resolution request outside of the broadcast group" in found
    assert "request on the broadcast group" not in found


# ---- MTU codes: IBA 15.2.5.6 defines 1 to 5, Omni-Path adds 6 and 7


@pytest.mark.parametrize(
    "code, text",
    [
        (4, "MTU 2048"),
        (5, "MTU 4096"),
        (6, "MTU code 6 (Omni-Path: 8192)"),
        (7, "MTU code 7 (Omni-Path: 10240)"),
        (9, "MTU code 9"),
    ],
)
def test_info_has_the_mtu_of_each_code(tmp_path, code, text):
    """Frame 43 of connected.pcap is the SA's response with a PathRecord."""
    capture = changed(tmp_path, "connected.pcap", 43, path_mtu=code)
    assert f"LID 1, {text}, from" in info(capture, 43)


# ---- ARP


def test_target_of_an_arp_request_is_unknown():
    """built-arp.pcap: the target address of frame 1, a request, is zero; frame 2 is the reply."""
    lines = tshark("-r", testdata("built/built-arp.pcap"), "-Y", "frame.number <= 2", "-V",
                   check=True).stdout.splitlines()  # fmt: skip
    targets = [line.strip() for line in lines if "Target Link-layer address" in line]
    assert [t.endswith(", unknown") for t in targets] == [True, False]
    assert not any("Sender Link-layer" in line and "unknown" in line for line in lines)


# ---- the column Rule


def test_column_rule_marks_known_deviations():
    """cm-reject.pcap: Linux's Service-ID (frame 5) is a known deviation; frame 17 also violates."""
    frames = shown.show(testdata("cm-reject.pcap")).frames
    assert shown.values(frames[5], "ipoib.rule.mark") == ["known: rfc4755.3.5.service-id"]
    assert shown.values(frames[17], "ipoib.rule.mark") == [
        "rfc4755.6.private-data",
        "known: rfc4755.3.5.service-id",
    ]


# ---- IPoIB Peers


def test_peer_has_the_lid_of_a_packet_without_a_grh():
    """built-arp.pcap: frame 2 is B's reply, from LID 2, without a GRH; no other frame has B's LID."""
    rows = shown.table(shown.show(testdata("built/built-arp.pcap")), "IPoIB Peers").splitlines()
    (peer,) = [row.split() for row in rows if row.startswith("10.0.0.2 ")]
    head = rows[0].split()
    assert peer[head.index("LID")] == "2"
