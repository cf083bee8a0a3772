# SPDX-License-Identifier: GPL-2.0-or-later
"""IPoIB in Wireshark's Conversations and Endpoints: -z conv,ipoib and conv,ipoib.gid, endpoints
too. Wireshark's own tables of IPv4 and IPv6, and its fields of the InfiniBand headers, say what must
be counted."""
import collections
import re

import pytest

from support import shown
from support.paths import testdata
from support.wireshark import ask_sharkd, load, tshark

CAPTURES = ("datagram.pcap", "connected.pcap", "partitions.pcap", "sll.pcap")


PROTOCOLS = {"ip": "IPv4", "ipv6": "IPv6", "ipoib": "IPoIB", "ipoib.gid": "IPoIB GID"}


def table(capture, name, kind):
    """The lines of one table."""
    answer = shown.show(testdata(capture), shown.STATISTICS)
    return shown.table(answer, f"{PROTOCOLS[name]} {kind}").splitlines()


def conversations(capture, name):
    """Pair of addresses -> frames in total (the third of three groups)."""
    found = {}
    for line in table(capture, name, "Conversations"):
        if "<->" in line:
            a, b = line.split("<->")
            b, rest = re.match(r"\s*(\S+)(.*)", b).groups()
            counts = re.findall(r"(\d+) (\d+) (?:bytes|[kMG]B)", rest)
            found[frozenset((a.strip(), b))] = int(counts[2][0])
    return found


def endpoints(capture, name):
    found = {}
    for line in table(capture, name, "Endpoints"):
        row = re.match(r"([0-9a-f:.]+)\s+(\d+)\s+\d+", line)
        if row:
            found[row[1]] = int(row[2])
    return found


@pytest.mark.parametrize("capture", CAPTURES)
def test_conversations_by_ip_are_those_of_ip_over_infiniband(capture):
    own = {**conversations(capture, "ip"), **conversations(capture, "ipv6")}
    assert own and conversations(capture, "ipoib") == own


@pytest.mark.parametrize("capture", CAPTURES)
def test_endpoints_by_ip_are_those_of_ip_over_infiniband(capture):
    own = {**endpoints(capture, "ip"), **endpoints(capture, "ipv6")}
    assert own and endpoints(capture, "ipoib") == own


def addresses(capture):
    """For each frame with IPoIB its GIDs, or its LIDs if it has no GRH."""
    fields = ("grh.sgid", "grh.dgid", "lrh.slid", "lrh.dlid")
    for frame in shown.show(testdata(capture)).frames.values():
        if shown.values(frame, "ipoib"):
            sgid, dgid, slid, dlid = (
                "".join(shown.values(frame, "infiniband." + field)) for field in fields
            )
            yield (sgid, dgid) if sgid else (slid, dlid)


@pytest.mark.parametrize("capture", CAPTURES[:3])
def test_conversations_by_gid_have_every_frame_with_ipoib(capture):
    wanted = collections.Counter(frozenset(pair) for pair in addresses(capture))
    assert wanted and conversations(capture, "ipoib.gid") == dict(wanted)


@pytest.mark.parametrize("capture", CAPTURES[:3])
def test_endpoints_by_gid_have_every_frame_with_ipoib(capture):
    wanted = collections.Counter(a for pair in addresses(capture) for a in pair)
    assert wanted and endpoints(capture, "ipoib.gid") == dict(wanted)


def test_other_protocols_are_not_counted():
    """foreign.pcap: the data of other protocols' connections is no IPoIB."""
    foreign = {frozenset(("1", "2"))}
    wanted = collections.Counter(frozenset(pair) for pair in addresses("foreign.pcap"))
    found = conversations("foreign.pcap", "ipoib.gid")
    assert found == dict(wanted) and sum(found[p] for p in foreign) < 100


# ---- the filter that Wireshark makes of a row


def rows(capture, kind):
    """Rows of a table as Wireshark's window has them: frames in total, and the filter of the row."""
    requests = [
        load(testdata(capture)),
        {"method": "tap", "params": {"tap0": f"{kind}:IPoIB GID"}},
    ]
    made = ask_sharkd(requests)[1]["result"]["taps"][0]
    for row in made["convs" if kind == "conv" else "hosts"]:
        yield row["rxf"] + row["txf"], row["filter"]


def frames_found(capture, filters):
    """The number of frames that each filter finds."""
    asked = [{"method": "frames", "params": {"filter": text}} for text in filters]
    return [
        len(response["result"]) for response in ask_sharkd([load(testdata(capture)), *asked])[1:]
    ]


@pytest.mark.parametrize("kind", ("conv", "endpt"))
@pytest.mark.parametrize("capture", CAPTURES[:3])
def test_filter_of_a_row_finds_the_frames_of_the_row(capture, kind):
    counted, filters = zip(*rows(capture, kind))
    assert frames_found(capture, filters) == list(counted)


def test_rows_by_gid_and_by_lid_have_filters():
    texts = [text for _, text in rows("datagram.pcap", "endpt")]
    assert any(t.startswith("ipoib.gid.addr==") for t in texts)
    assert any(t.startswith("ipoib.lid==") for t in texts)


def test_addresses_of_a_filter_are_hidden():
    """They are in the InfiniBand headers already, which the tree shows."""
    shown = tshark("-r", testdata("datagram.pcap"), "-V", check=True).stdout
    assert shown and not re.search(r"\[(GID|LID): ", shown)
