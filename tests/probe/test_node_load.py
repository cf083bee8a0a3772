# SPDX-License-Identifier: GPL-2.0-or-later
"""What the SA of a large fabric receives if every node runs ipoib-probe node: doc/cluster.md.

The nodes are simulated one after the other (tests/probe/many_nodes.py), and so is the SA
(tests/probe/played_sa.c)."""
import json
import os
import struct
import sys

import pytest

from support.paths import BIN, SRC
from support.played_probe import PROBE, need_to_play, played

NODES, AT_ONCE = 10000, 500
SA = os.path.join(os.path.dirname(BIN), "tests", "played-sa.so")
MANY = os.path.join(SRC, "tests", "probe", "many_nodes.py")
GIDS = "ib9/device/infiniband/hca0/ports/1/gids/0"
MAD, KEPT = 256, 257  # bytes
GET, MCMEMBER_RECORD = 0x01, 0x0038  # IBA 13.4.5, 15.2.5.17
MGID_AND_PORT_GID = 3
SECONDS_A_RUN = 0.1  # on an idle machine it takes less than a tenth of that


def nodes_run(first, number, folder, sa):
    """(the driver's report, the requests that the SA has received so far)"""
    received = folder / "received"
    playing = [f"LD_PRELOAD={SA}", f"PLAYED_SA={sa}", f"PLAYED_SA_RECEIVED={received}"]
    given = {"infiniband_mad": {"abi_version": "5\n"}, "sysfs": {GIDS: "fe80::1\n"}}
    command = [MANY, str(first), str(number), str(folder), "env", *playing, PROBE]
    done = played(given, sys.executable, *command)
    assert done.returncode == 0, done.stderr
    received.touch()
    kept = received.read_bytes()
    assert len(kept) % KEPT == 0
    requests = [kept[at : at + KEPT] for at in range(0, len(kept), KEPT)]
    return json.loads(json.loads(done.stdout)["out"]), requests


def request_of(kept):
    """(method, attribute, component mask, PortGID, repetitions)"""
    method, attribute = kept[3], struct.unpack_from(">H", kept, 16)[0]
    [mask] = struct.unpack_from(">Q", kept, 48)
    return method, attribute, mask, kept[72:88], kept[MAD]


@pytest.fixture(autouse=True, scope="module")
def fixture_can_play():
    need_to_play()


def test_one_query_of_each_node(tmp_path):
    """10,000 nodes send 10,000 requests, each about its own port; nothing is changed."""
    seconds, requests = 0, []
    for first in range(1, NODES + 1, AT_ONCE):
        report, requests = nodes_run(first, AT_ONCE, tmp_path, "member")
        assert report["statuses"] == {"0": AT_ONCE}
        assert report["lines"] == {"ok: ib9 0xffff mtu 2044\n": AT_ONCE}
        seconds += report["seconds"]
    print(f"{NODES} nodes: {seconds:.1f} s, {len(requests)} requests")
    assert len(requests) == NODES
    found = [request_of(kept) for kept in requests]
    assert {one[:3] for one in found} == {(GET, MCMEMBER_RECORD, MGID_AND_PORT_GID)}
    assert len({gid for *_, gid, _ in found}) == NODES
    assert seconds < NODES * SECONDS_A_RUN


def test_silent_sa_is_asked_three_times_at_most(tmp_path):
    """By the kernel, which repeats a request twice."""
    report, requests = nodes_run(1, 5, tmp_path, "silent")
    assert report["statuses"] == {"2": 5} and len(requests) == 5
    assert {request_of(kept)[4] for kept in requests} == {2}


def test_user_who_may_not_ask(tmp_path):
    report, requests = nodes_run(1, 3, tmp_path, "denied")
    assert report["statuses"] == {"3": 3} and not requests
