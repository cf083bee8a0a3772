# SPDX-License-Identifier: GPL-2.0-or-later
"""The preferences work: reassembly on and off, the limit on incomplete messages, and Wireshark's
own preference for RoCE v2.

built-rc-interleaved.pcap holds three complete messages, their Firsts before their Middles before
their Lasts. If there is only memory for the current incomplete message, each First drops the
message before, and only the third remains. The two messages of connected.pcap follow each other,
and need no such memory."""
import pytest

from support import capfile
from support.paths import testdata
from support.wireshark import tshark

INTERLEAVED, IN_TURN = "built/built-rc-interleaved.pcap", "connected.pcap"
ROCE2_PORT, OTHER_PORT = 4791, 4792


@pytest.mark.parametrize(
    "preference, capture, messages",
    [
        ("ipoib.reassembly_limit:256", INTERLEAVED, 3),
        ("ipoib.reassembly_limit:256", IN_TURN, 2),
        ("ipoib.reassembly_limit:0", INTERLEAVED, 1),
        ("ipoib.reassembly_limit:0", IN_TURN, 2),
        ("ipoib.reassemble:FALSE", INTERLEAVED, 0),
        ("ipoib.reassemble:FALSE", IN_TURN, 0),
    ],
)
def test_reassembled_messages(preference, capture, messages):
    columns = ["-T", "fields", "-e", "frame.number"]
    out = tshark(
        *["-o", preference, "-r", testdata(capture), "-Y", "ipoib.reassembled.length", *columns]
    )
    assert out.returncode == 0, out.stderr
    assert len(out.stdout.split()) == messages, out.stdout


@pytest.mark.parametrize("name", ["", "none"])
def test_an_empty_list_of_known_deviations_is_the_list_none(name):
    out = tshark(
        *["-o", f"ipoib.deviations:{name}", "-r", testdata(IN_TURN)],
        *["-q", "-z", "ipoib,conformance"],
    )
    assert " 0 known deviations, " in out.stdout, out.stderr
    assert "\nVerdict: violated\n" in out.stdout, out.stdout


@pytest.mark.parametrize(
    "port, options, frames",
    [
        pytest.param(ROCE2_PORT, [], 3, id="by-default"),
        pytest.param(ROCE2_PORT, ["-d", "udp.port==4791,dns"], 0, id="decode-as-dns"),
        pytest.param(ROCE2_PORT, ["-o", "infiniband.rroce.port:4792"], 0, id="other-preference"),
        pytest.param(OTHER_PORT, ["-o", "infiniband.rroce.port:4792"], 3, id="other-port"),
    ],
)
def test_user_chooses_the_port_of_roce2(open_path, port, options, frames):
    """Frames on another port are not RoCE v2, and the plugin does not check them."""
    capture = capfile.read(testdata("built/built-carrier-roce2.pcap"))
    assert len(capture.frames) == 3
    for frame in capture.frames:
        frame.data = frame.data.replace(ROCE2_PORT.to_bytes(2, "big"), port.to_bytes(2, "big"))
    path = open_path / "roce2.pcap"
    path.write_bytes(capfile.pcap(capture.linktype, capture.frames, nanoseconds=True))
    out = tshark(*options, "-q", "-r", str(path), "-z", "ipoib,conformance")
    assert f"3 frames, {frames} with IPoIB." in out.stdout, out.stdout + out.stderr
