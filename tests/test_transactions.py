# SPDX-License-Identifier: GPL-2.0-or-later
"""Links between requests and responses: how long a response is linked to its request.

The plugin forgets an answered request when 4,096 others were answered since its last response. It
does not forget a request that was not answered."""
import pytest

from frames import ib
from support import capfile
from support.wireshark import tshark

KEPT = 4096
ASKER = ib.lladdr(0x48, "fe80::11:7500:0:1", flags=0x80)
UNKNOWN = bytes(20)
MILLISECOND = 10**6


def owner(number):
    return ib.lladdr(0x100 + number, f"fe80::11:7500:1:{number:x}", flags=0x80)


def ip(number):
    return f"10.0.{number >> 8}.{number & 255}"


def request(number):
    message = ib.arp(1, ASKER, "10.9.0.1", UNKNOWN, ip(number))
    return ib.ipoib242_dest(owner(number), ib.encap(0x0806, message))


def reply(number):
    message = ib.arp(2, owner(number), ip(number), ASKER, "10.9.0.1")
    return ib.ipoib242_dest(ASKER, ib.encap(0x0806, message))


def answered(numbers):
    return [frame(number) for number in numbers for frame in (request, reply)]


@pytest.fixture(name="links", params=[[], ["-2"]], ids=["one-pass", "two-passes"])
def _links(request, tmp_path_factory):  # pylint: disable=redefined-outer-name
    """A function: {frame: (frame of its request, response time)} of frames, a millisecond apart."""

    def links(frames):
        path = tmp_path_factory.mktemp("transactions") / "c.pcap"
        times = [
            capfile.Frame(time=10**18 + i * MILLISECOND, data=data, wire=len(data))
            for i, data in enumerate(frames)
        ]
        path.write_bytes(capfile.pcap(242, times, nanoseconds=True))
        path.chmod(0o644)
        fields = ["frame.number", "ipoib.response_to", "ipoib.time"]
        out = tshark(
            "-r", path, *request.param, "-Y", "ipoib.response_to", "-T", "fields",
            *[word for field in fields for word in ("-e", field)], check=True,
        ).stdout  # fmt: skip
        rows = [line.split() for line in out.splitlines()]
        return {int(frame): (int(of), float(time)) for frame, of, time in rows}

    return links


def test_a_second_response_is_linked(links):
    frames = answered([0]) + answered(range(1, KEPT)) + [reply(0)]
    found = links(frames)
    assert found[2] == (1, 0.001)
    assert found[len(frames)] == (1, 0.001 * (len(frames) - 1))


def test_an_answered_request_is_forgotten(links):
    frames = answered([0]) + answered(range(1, KEPT + 1)) + [reply(0), reply(KEPT)]
    found = links(frames)
    assert len(frames) - 1 not in found
    assert found[len(frames)] == (len(frames) - 3, 0.003)


def test_each_response_counts_anew(links):
    half = KEPT // 2 + 1
    frames = answered([0]) + answered(range(1, half)) + [reply(0)]
    frames += answered(range(half, KEPT + 1)) + [reply(0)]
    assert links(frames)[len(frames)][0] == 1


def test_a_request_without_response_is_kept(links):
    frames = [request(0)] + answered(range(1, KEPT + 9)) + [reply(0)]
    found = links(frames)
    assert found[len(frames)] == (1, 0.001 * (len(frames) - 1))


def test_a_repeated_request_replaces_the_first(links):
    frames = answered([0, 0]) + [request(0)] + answered(range(1, KEPT + 9)) + [reply(0)]
    found = links(frames)
    assert (found[2], found[4]) == ((1, 0.001), (3, 0.001))
    assert found[len(frames)][0] == 5
