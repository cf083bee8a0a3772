# SPDX-License-Identifier: GPL-2.0-or-later
"""Links between requests and responses: how long a response is linked to its request, on which
interfaces, and the time between them.

The plugin forgets an answered request when 1,024 others were answered since its last response. It
does not forget a request that was not answered."""
import pytest

from frames import ib
from frames.subnet import Host, Subnet
from support import capfile
from support.wireshark import tshark

KEPT = 1024
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


def links_in(capture, folder, *options):
    """{frame: (frame of its request, response time in seconds)}"""
    path = folder / "transactions"
    path.write_bytes(capture)
    fields = ["frame.number", "ipoib.response_to", "ipoib.time"]
    shown = [word for field in fields for word in ("-e", field)]
    only = ["-Y", "ipoib.response_to", "-T", "fields"]
    out = tshark("-r", path, *options, *only, *shown, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {int(frame): (int(of), float(time)) for frame, of, time in rows}


@pytest.fixture(name="links", params=[[], ["-2"]], ids=["one-pass", "two-passes"])
def _links(request, open_path):  # pylint: disable=redefined-outer-name
    """links_in() of frames that are a millisecond apart."""

    def links(frames):
        times = [(10**18 + i * MILLISECOND, data, len(data)) for i, data in enumerate(frames)]
        capture = capfile.pcap(capfile.IPOIB, times, nanoseconds=True)
        return links_in(capture, open_path, *request.param)

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


# ---- the time of the response


SECOND, DAY = 10**9, 86400 * 10**9


@pytest.mark.parametrize("options", [[], ["-2"]], ids=["one-pass", "two-passes"])
@pytest.mark.parametrize(
    "after",
    [
        0,
        1,
        2**32 - 1,
        2**32,
        60 * SECOND + 1,
        400 * DAY,
        -1,
        -(2**32),
        -3 * SECOND - 7,
        -400 * DAY,
    ],
)
def test_the_response_time_is_exact(after, options, open_path):
    times = [(10**18, request(0), len(request(0))), (10**18 + after, reply(0), len(reply(0)))]
    capture = capfile.pcap(capfile.IPOIB, times, nanoseconds=True)
    assert links_in(capture, open_path, *options) == {
        2: (1, pytest.approx(after / SECOND, abs=1e-9))
    }


def test_a_response_time_beyond_417_days_is_cut(open_path):
    now = 10**18  # the device's clock was at 1970 until it was set
    times = [(0, request(0), len(request(0))), (now, reply(0), len(reply(0)))]
    capture = capfile.pcap(capfile.IPOIB, times, nanoseconds=True)
    assert links_in(capture, open_path) == {2: (1, pytest.approx((2**55 - 1) / SECOND, abs=1e-9))}


# ---- two interfaces of one subnet


REQUESTS = 8  # the order in which the requests are moved is random in each run


def are_linked_to(asked_on, folder):
    """Requests to the SA are captured on these interfaces in turn, before a multicast datagram on
    both shows that they are of one subnet, and the responses on one of them afterwards. Returns the
    last frame of each request, and the frames to which the responses are linked."""
    s, frames = Subnet(), []

    def keep(record, *interfaces):
        time, data, wire = record
        frames.extend(capfile.Frame(time, data, wire, n) for n in interfaces)
        return len(frames)

    s.arp_request(Host(5), "10.9.9.8")
    keep(s.records[-1], 0)
    pairs = []
    for n in range(REQUESTS):
        s.path(Host(2), Host(10 + n))
        pairs.append(s.records[-2:])
    last = [[keep(request, n) for n in asked_on][-1] for request, _ in pairs]
    s.arp_request(Host(4), "10.9.9.9")
    keep(s.records[-1], 0, 1)
    responses = [keep(response, 1 - asked_on[-1]) for _, response in pairs]
    found = links_in(capfile.pcapng([capfile.INFINIBAND] * 2, frames), folder)
    return last, [found[frame][0] for frame in responses]


@pytest.mark.parametrize("asked_on", [[0], [1], [0, 1], [1, 0]], ids=str)
def test_a_response_on_another_interface_is_linked(asked_on, open_path):
    last, linked = are_linked_to(asked_on, open_path)
    assert linked == last
