# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-probe through a network interface (packet(7)), with a simulated peer: what users see when
the peer replies, violates, is silent, and when the privilege, the device or the interface is
missing or disappears.

Expected: the formats of RFC 826, RFC 4391 (sections 6, 8, 9.1.1, 9.2) and RFC 4755 section 3.1;
doc/man/ipoib-probe.1 for messages and exit statuses."""
import concurrent.futures
import json

import pytest

from support import capfile, check
from support.played_probe import IPV4, IPV6, PROBE, Run, need_to_play, played, refuse

WITHOUT_RAW = ("setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw")
BURST = 20 + 8  # requests without a time of their own
FRAMES_BEFORE = range(1, 8)  # of the 9 frames to a peer that conforms


COUNTERS = "ib9/device/infiniband/hca0/ports/1/counters"
RUNS = {  # name: members of Peer, arguments of the probe
    "ipv4": ({}, IPV4),
    "ipv6": ({}, IPV6),
    "reserved": ({"edits": {"22": "0001"}}, IPV4),
    "hardware type": ({"edits": {"24": "0001"}}, IPV4),
    "flags": ({"edits": {"32": "c1"}}, IPV4),
    **{
        f"{name}, {known}": ({"edits": {"32": byte}}, "--deviations", known, target)
        for known in ("linux", "none")
        for name, byte, target in (
            ("mlnx 20", "20", IPV4),
            ("mlnx a0", "a0", IPV4),
            ("mlnx 30", "30", IPV4),
            ("mlnx sweep", "20", "10.0.0.0/29"),
        )
    },
    "runts": ({"runts": True}, IPV4),
    "runts, ipv6": ({"runts": True}, IPV6),
    "large": ({"large": 5000}, IPV4),
    "two stations": ({"second_station": True}, IPV4),
    "connected": ({"sysfs": {"ib9/mode": "connected\n"}}, "--only", "rfc4755.7", IPV4),
    "silent": ({"replies": False}, IPV4),
    **{
        f"counters, {target}": (
            {
                "sysfs": {f"{COUNTERS}/link_downed": "3\n", f"{COUNTERS}/symbol_error": "65535\n"},
                "sysfs_after": 2,
                "sysfs_then": {f"{COUNTERS}/link_downed": downed},
            },
            target,
        )
        for target, downed in ((IPV4, "4\n"), (IPV6, "3\n"))
    },
    "watch": ({}, "--count", "3", IPV4),
    "watch, ipv6": ({}, "--count", "2", IPV6),
    "watch, silent": ({"replies": False}, "--count", "3", IPV4),
    "watch, stops": ({"silent_after": 2}, "--count", "6", IPV4),
    "watch, port down": (
        {
            "sysfs_after": 2,
            "sysfs_then": {
                "ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n",
                f"{COUNTERS}/link_downed": "4\n",
            },
            "sysfs": {f"{COUNTERS}/link_downed": "3\n"},
        },
        "--count",
        "3",
        IPV4,
    ),
    "watch, interface down": (
        {"sysfs_after": 2, "sysfs_then": {"ib9/flags": "0x1002\n"}},
        "--count",
        "3",
        IPV4,
    ),
    "watch, interrupted": ({"after": "interrupt", "at": 3}, "--interval", "1", IPV4),
    "counters, fabric": ({"sysfs": {f"{COUNTERS}/link_downed": "255\n"}}, "fabric"),
    **{f"silent after {n}": ({"silent_after": n}, IPV4) for n in FRAMES_BEFORE},
    "port down after 3": (
        {
            "silent_after": 3,
            "sysfs_then": {"ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n"},
        },
        IPV4,
    ),
    "no P_Key after 3": (
        {
            "silent_after": 3,
            "sysfs_then": {"ib9/device/infiniband/hca0/ports/1/pkeys/0": "0x0000\n"},
        },
        IPV4,
    ),
    "silent, ipv6": ({"replies": False}, IPV6),
    "sweep": ({}, "10.0.0.0/29"),
    "fabric": ({}, "fabric"),
    "port down": (
        {"sysfs": {"ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n"}},
        "fabric",
    ),
    "fabric, own address": ({"addresses": [f"{IPV4}/24"]}, "fabric"),
    "fabric, other address": ({"addresses": ["10.0.0.7/24"]}, "fabric"),
    "own address": ({"addresses": [f"{IPV4}/24"]}, IPV4),
    "own address, sweep": ({"addresses": [f"{IPV4}/24"]}, "10.0.0.0/29"),
    "own address, silent": ({"addresses": [f"{IPV4}/24"], "replies": False}, IPV4),
    "fabric, down": ({"state": "down", "sysfs": {"ib9/flags": "0x1002\n"}}, "fabric"),
    "fabric, no carrier": (
        {"sysfs": {"ib9/carrier": "0\n", "ib9/operstate": "down\n"}},
        "fabric",
    ),
    "old kernel": (
        {
            "sysfs": {
                f"ib9/{f}": None
                for f in ("broadcast", "mode", "mtu", "device/infiniband/hca0/ports/1/rate")
            }
        },
        "fabric",
    ),
    **{
        " ".join(("only", *selectors, target)): (
            given,
            *[word for selector in selectors for word in ("--only", selector)],
            target,
        )
        for given, selectors, target in (
            ({}, ("fabric.pkey",), "fabric"),
            ({}, ("fabric.census",), "fabric"),
            ({}, ("fabric.pkey", "rfc4391.6.type"), IPV4),
            ({}, ("peer.address",), IPV4),
            ({}, ("peer.connection-mtu",), IPV4),
            ({"second_station": True}, ("peer.arp-flux",), IPV4),
        )
    },
    "only fabric.pkey, port down": (
        {"sysfs": {"ib9/device/infiniband/hca0/ports/1/state": "1: DOWN\n"}},
        "--only",
        "fabric.pkey",
        "fabric",
    ),
    "partition": ({}, "--pkey", "0x8012", IPV4),
    "port, source": ({}, "-p", "1", "--source", "10.0.0.9", "--only", "rfc4391.6.type", IPV4),
    "interface down": ({"state": "down"}, IPV4),
    **{f"down after {n}": ({"after": "down", "at": n}, IPV4) for n in FRAMES_BEFORE},
    **{f"gone after {n}": ({"after": "gone", "at": n}, IPV4) for n in FRAMES_BEFORE},
    **{f"interrupt after {n}": ({"after": "interrupt", "at": n}, IPV4) for n in FRAMES_BEFORE},
}


@pytest.fixture(scope="module", name="can_play")
def fixture_can_play():
    need_to_play()


@pytest.fixture(scope="module", name="runs")
def fixture_runs(can_play):
    """A run by its name. The probe mostly waits, so several run at the same time."""
    del can_play
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        begun = {
            name: pool.submit(
                played, given, PROBE, "-d", "ib9", "--timeout", "200", "--format", "json", *words
            )
            for name, (given, *words) in RUNS.items()
        }
        yield lambda name: Run(begun[name].result())


# ---- the counters of this port


@pytest.mark.parametrize(
    "name, outcome, text",
    [
        (
            f"counters, {IPV4}",
            "fail",
            "link_downed grew by 1 to 4; at its maximum, growth does not ",
        ),
        (
            f"counters, {IPV6}",
            "pass",
            "no error counter of this port grew; at its maximum, growth ",
        ),
        ("counters, fabric", "pass", "no error counter of this port grew; at its maximum, growth "),
    ],
)
def test_growth_of_counters(runs, name, outcome, text):
    run = runs(name)
    [stage] = [r for r in run.report["results"] if r["id"].endswith(".counters")]
    assert stage["outcome"] == outcome and stage["actual"].startswith(text)
    if outcome == "fail":
        assert run.status == 1 and stage["advice"].startswith("check the cable")


# ---- --count and --interval


@pytest.mark.parametrize(
    "name, status, outcome, text",
    [
        ("watch", 0, "pass", "3 requests, 3 answered; nothing changed"),
        ("watch, ipv6", 0, "pass", "2 requests, 2 answered; nothing changed"),
        ("watch, silent", 2, "inconclusive", "3 requests, 0 answered; last: "),
        ("watch, stops", 1, "fail", "6 requests, 2 answered; silent once, for "),
        (
            "watch, port down",
            1,
            "fail",
            "3 requests, 3 answered; this host's port changed 1 time; "
            "this host's counters grew 1 time; last: ",
        ),
        (
            "watch, interface down",
            1,
            "fail",
            "3 requests, 3 answered; this host's interface changed 1 time; last: ",
        ),
        # Ctrl-C ends with the summary; the third request has its reply by then, or not
        (
            "watch, interrupted",
            0,
            "pass",
            tuple(f"{n} requests, {n} answered; nothing changed" for n in (2, 3)),
        ),
    ],
)
def test_watch(runs, name, status, outcome, text):
    run = runs(name)
    [stage] = [r for r in run.report["results"] if r["id"] == "peer.watch"]
    assert (run.status, stage["outcome"]) == (status, outcome), run.report
    assert stage["actual"].startswith(text)
    requests = run.report["summary"]["targets"][0]["requests"]
    counted = f"{requests['sent']} requests, {requests['first_try']} answered"
    assert stage["actual"].startswith(counted)


@pytest.mark.parametrize(
    "name, words",
    [
        ("watch, port down", " this host's port ib9 is Down, was Active"),
        ("watch, port down", " this host's counters: link_downed grew by 1 to 4"),
        ("watch, interface down", " this host's ib9 is down"),
    ],
)
def test_watch_says_whose_change_it_is(runs, name, words):
    run = runs(name)
    [stage] = [r for r in run.report["results"] if r["id"] == "peer.watch"]
    assert words in stage["actual"]


# ---- --only with stages


@pytest.mark.parametrize(
    "name, status, stages",
    [
        # the stages before it run too, and are not reported
        ("only fabric.pkey fabric", 0, {"fabric.pkey": "pass"}),
        ("only fabric.pkey, port down", 1, {"fabric.port-state": "fail", "fabric.pkey": "skipped"}),
        ("only fabric.census fabric", 2, {"fabric.census": "skipped"}),
        ("only fabric.pkey rfc4391.6.type 10.0.0.2", 0, {}),
        ("only peer.address 10.0.0.2", 0, {"peer.address": "noted"}),
        ("only peer.connection-mtu 10.0.0.2", 2, {}),
        ("only peer.arp-flux 10.0.0.2", 1, {"peer.arp-flux": "fail"}),
    ],
)
def test_only_stages(runs, name, status, stages):
    run = runs(name)
    found = {r["id"]: r["outcome"] for r in run.report["results"] if r["level"] == "STAGE"}
    assert (run.status, found) == (status, stages), run.report


def test_only_a_stage_checks_no_rules(runs):
    for name in ("only fabric.pkey fabric", "only peer.arp-flux 10.0.0.2"):
        assert all(r["level"] == "STAGE" for r in runs(name).report["results"])
    run = runs("only fabric.pkey rfc4391.6.type 10.0.0.2")
    assert set(run.outcomes("pass")) == {"rfc4391.6.type"}


# ---- a peer that replies


def test_ipv4_peer_that_conforms(runs):
    run = runs("ipv4")
    assert run.status == 0 and not run.err
    assert not run.outcomes("fail") and not run.outcomes("inconclusive")
    assert {
        "rfc4391.2.ud-supported",
        "rfc4391.6.reserved-zero",
        "rfc4391.6.reserved-ignored",
        "rfc4391.9.1.1.format",
        "rfc4391.9.2.arp-hardware-type",
        "rfc4755.3.1.flags",
    } <= set(run.outcomes("pass"))
    assert {"rfc4391.5.full-member-join", "rfc4755.3.5.service-id"} <= set(run.outcomes("skipped"))


def test_ipv6_peer_that_conforms(runs):
    run = runs("ipv6")
    assert run.status == 0 and not run.err
    assert not run.outcomes("fail") and not run.outcomes("inconclusive")
    assert {
        "rfc4391.8.1.link-local-form",
        "rfc4391.9.3.nd-option-length",
        "rfc4391.9.3.nd-option-padding",
    } <= set(run.outcomes("pass"))


def test_arp_request_on_the_wire(runs):
    """RFC 826, RFC 4391 section 9.2: hardware type 32, 20 and 4 bytes, request; RFC 5227 section
    2.1.1: sender 0.0.0.0. The address is the interface's."""
    first = runs("ipv4").frames[0]
    assert first[:20].hex() == "00ffffff" "ff12401bffff000000000000ffffffff"  # the broadcast group
    assert first[20:24].hex() == "08060000"
    assert first[24:32].hex() == "0020080014040001"
    assert first[32:52].hex() == "00000048" "fe80000000000000" "0002c90300000001"
    assert first[52:56] == bytes(4)
    assert first[56:76] == bytes(20) and first[76:] == bytes((10, 0, 0, 2))


def test_neighbour_solicitation_on_the_wire(runs):
    """RFC 4861 section 4.3 from the unspecified address, to the solicited-node group, whose MGID
    RFC 4391 section 4 defines: ff12:601b, the P_Key, the group ID."""
    first = runs("ipv6").frames[0]
    assert first[4:20].hex() == "ff12601bffff000000000001ff000002"
    assert first[20:24].hex() == "86dd0000"
    ip, ns = first[24:64], first[64:]
    assert ip[6:8].hex() == "3aff" and ip[8:24] == bytes(16)  # hop limit 255
    assert ip[24:].hex() == "ff0200000000000000000001ff000002"
    assert ns[0] == 135 and ns[8:24].hex() == "fe800000000000000202c90300000002"
    assert len(ns) == 24, "no source address, so no link-layer address option"


# ---- a peer that violates


@pytest.mark.parametrize(
    "name, identifier",
    [
        ("reserved", "rfc4391.6.reserved-zero"),
        ("hardware type", "rfc4391.9.2.arp-hardware-type"),
        ("flags", "rfc4755.3.1.flags"),
    ],
)
def test_violation_is_reported(runs, name, identifier):
    run = runs(name)
    assert run.status == 1
    assert identifier in run.outcomes("fail")


@pytest.mark.parametrize(
    "name, identifier",
    [
        ("mlnx 20", "rfc4391.9.1.1.reserved-flags"),
        ("mlnx a0", "rfc4755.3.1.flags"),
        ("mlnx sweep", "rfc4391.9.1.1.reserved-flags"),
    ],
)
def test_flag_of_mlnx_ofed_is_one_known_deviation(runs, name, identifier):
    run = runs(f"{name}, linux")
    assert run.status == 0 and not run.outcomes("fail")
    assert list(run.outcomes("deviation")) == [identifier]
    run = runs(f"{name}, none")
    assert run.status == 1 and not run.outcomes("deviation")
    assert list(run.outcomes("fail")) == [identifier]


def test_flag_beside_that_of_mlnx_ofed_is_a_violation(runs):
    run = runs("mlnx 30, linux")
    assert run.status == 1
    assert run.outcomes("fail") == {"rfc4391.9.1.1.reserved-flags": "0x10"}
    assert run.outcomes("deviation") == {"rfc4391.9.1.1.reserved-flags": "0x20"}


@pytest.mark.parametrize("name", ["runts", "runts, ipv6"])
def test_frames_that_end_early(runs, name):
    """Every truncation arrives before the complete reply, which counts. An adapter delivers only whole
    packets, so a message that ends within an address has the wrong length (section 9.1.1)."""
    run = runs(name)
    assert run.status == 1
    assert set(run.outcomes("fail")) == {"rfc4391.9.1.1.format"}
    assert "rfc4391.2.ud-supported" in run.outcomes("pass")


def test_frame_larger_than_the_largest_packet(runs):
    run = runs("large")
    assert run.status == 0 and not run.outcomes("fail")


def test_two_stations_with_one_address(runs):
    run = runs("two stations")
    assert run.status == 1
    assert set(run.outcomes("fail")) == {"peer.arp-flux"}


def test_reply_in_connected_mode_may_have_come_over_a_connection(runs):
    run = runs("connected")
    assert "rfc4755.7.resolution-over-ud" not in run.outcomes("pass")
    assert not run.outcomes("fail")


# ---- no peer, no interface, no privilege


@pytest.mark.parametrize(
    "name, words", [("silent", "3 ARP requests"), ("silent, ipv6", "3 neighbour solicitations")]
)
def test_silent_peer(runs, name, words):
    run = runs(name)
    assert run.status == 2
    assert words in run.trouble and "200 ms each" in run.trouble
    assert len(run.frames) == 3


@pytest.mark.parametrize("replies", FRAMES_BEFORE)
def test_peer_that_falls_silent(runs, replies):
    """It replied at the beginning and does not at the end: nothing undone is OK."""
    run = runs(f"silent after {replies}")
    assert run.status == 2 and not run.outcomes("fail")
    assert [s["code"] for s in run.report["summary"]["targets"][0]["undone"]][0] == "no-result"
    assert "it no longer replies to the request of the beginning: no reply" in " ".join(
        run.outcomes("inconclusive").values()
    )


@pytest.mark.parametrize(
    "name, reason",
    [("port down", "is no longer active"), ("no P_Key", "is no longer in partition")],
)
def test_reason_on_this_side(runs, name, reason):
    run = runs(f"{name} after 3")
    assert run.status == 2 and reason in run.trouble


def test_requests_are_counted(runs):
    run = runs("ipv4")
    counted = run.report["summary"]["targets"][0]["requests"]
    assert counted["sent"] == counted["first_try"] > 4 and counted["packets"] >= 4
    assert counted["late"] == counted["never"] == counted["lost"] == 0
    port, first, where = run.report["results"][:3]
    assert [port["id"], first["id"], where["id"]] == ["peer.port", "peer.numbers", "peer.address"]
    assert port["actual"].startswith("through ib9, P_Key 0xffff: named by -d")
    assert first["actual"].startswith(
        f"{counted['sent']} requests: {counted['sent']} answered at the first try"
    )


def test_round_trips_are_measured(runs):
    target = runs("ipv4").report["summary"]["targets"][0]
    times = target["over_ud"]
    assert times["count"] == target["requests"]["sent"] - BURST
    assert 0 < times["min_us"] <= times["median_us"] <= times["p99_us"] < 10_000_000
    assert "over_rc" not in target and "sa" not in target


def test_sweep_finds_the_one_peer(runs):
    run = runs("sweep")
    assert run.status == 0
    assert IPV4 in run.out and not [w for w in ("Traceback", 'fail"') if w in run.out]


def test_fabric_without_the_sa(runs):
    """The port is described; rules that need the SA are not checked."""
    run = runs("fabric")
    assert run.status == 2
    assert {"fabric.port-state", "fabric.pkey", "fabric.interface"} <= set(run.outcomes("pass"))
    assert "SA" in run.trouble


def test_own_address_that_another_port_announces(runs):
    run = runs("fabric, own address")
    assert run.status == 1
    assert list(run.outcomes("fail")) == ["fabric.own-addresses"]
    assert (
        f"{IPV4} (ib9) is announced by 80:00:00:49:" in run.outcomes("fail")["fabric.own-addresses"]
    )
    run = runs("fabric, other address")
    assert run.status == 2 and "fabric.own-addresses" in run.outcomes("pass")


@pytest.mark.parametrize("name", ["own address", "own address, sweep"])
def test_own_address_is_never_conformant(runs, name):
    run = runs(name)
    assert run.status == 1
    assert run.outcomes("fail") == {"peer.own-address": f"this host has {IPV4} too, at ib9"}


def test_own_address_without_another_port(runs):
    run = runs("own address, silent")
    assert run.status == 2
    assert run.trouble == "this host has the address itself, at ib9: probe it from another"


def test_interface_of_the_fabric_that_is_down(runs):
    run = runs("fabric, down")
    assert run.status == 1
    assert run.outcomes("fail") == {"fabric.interface": "ib9 is down"}
    [stage] = [r for r in run.report["results"] if r["id"] == "fabric.interface"]
    assert stage["advice"] == "ip link set ib9 up"


def test_interface_of_the_fabric_without_carrier(runs):
    run = runs("fabric, no carrier")
    assert run.status == 1
    assert run.outcomes("fail") == {"fabric.interface": "ib9 is up, but has no carrier (DOWN)"}


def test_port_that_is_down(runs):
    run = runs("port down")
    assert run.status == 1
    assert "fabric.port-state" in run.outcomes("fail")


def test_kernel_that_exports_less(runs):
    run = runs("old kernel")
    assert run.status == 2
    assert "fabric.pkey" in run.outcomes("pass")


def test_interface_of_another_partition(runs):
    run = runs("partition")
    assert run.status == 2 and not run.frames
    assert "ib9 is in partition 0xffff" in run.trouble and "0x8012" in run.trouble


def test_ignored_options_are_named(runs):
    run = runs("port, source")
    assert run.status == 0
    assert "--port is ignored: ib9" in run.err
    assert "--source is ignored" in run.err


def test_interface_that_is_down(runs):
    run = runs("interface down")
    assert run.status == 2 and not run.frames
    assert "ib9: " in run.trouble and "ip link set ib9 up" in run.trouble


@pytest.mark.parametrize("how", ["down", "gone"])
@pytest.mark.parametrize("frames", FRAMES_BEFORE)
def test_interface_that_goes_away(runs, how, frames):
    """No rule is checked and no violation is reported, at whatever frame it happens."""
    run = runs(f"{how} after {frames}")
    assert run.status == 2
    assert not run.outcomes("fail")
    assert "ib9: " in run.trouble


@pytest.mark.parametrize("frames", FRAMES_BEFORE)
def test_interrupt(runs, frames):
    run = runs(f"interrupt after {frames}")
    assert run.status == 128 + 2
    assert not run.out, "an interrupted run has no verdict"
    assert len(run.frames) <= frames + 3, "requests for 3 unused addresses are sent at once"


def test_missing_privilege(can_play):
    del can_play
    why = refuse({}, *WITHOUT_RAW, PROBE, "-d", "ib9", "--format", "json", IPV4)
    assert "ib9: " in why and "root" in why and "CAP_NET_RAW" in why


def test_no_device_at_all(can_play):
    del can_play
    ethernet = {"sysfs": {"ib9/type": "1\n"}}
    why = refuse(ethernet, PROBE, "--format", "json", IPV4)
    assert "RDMA device" in why


def test_interface_that_has_just_disappeared(can_play):
    del can_play
    why = refuse({"sysfs": {"ib8/type": "32\n"}}, PROBE, "-d", "ib8", "--format", "json", IPV4)
    assert "ib8: " in why and "No such device" in why


def test_interface_is_found_without_an_option(can_play):
    del can_play
    silent = {"replies": False, "addresses": ["10.0.0.1/24"]}
    run = Run(played(silent, PROBE, "--format", "json", "--timeout", "100", IPV4))
    assert run.status == 2 and len(run.frames) == 3
    assert "ib9" in run.err and "RDMA device" in run.err


# ---- -w


def test_capture_of_the_packets(can_play, tmp_path):
    """-w has every packet. A record of link type 242 is the sender's address, which is unknown here
    or the one that an ARP message announces, the destination's, and the packet."""
    del can_play
    path = tmp_path / "packets"
    only = ("--only", "rfc4391.6.type", "--format", "json")
    run = Run(played({}, PROBE, "-d", "ib9", "-w", str(path), *only, IPV4))
    capture = capfile.read(path)
    assert run.status == 0 and capture.linktype == capfile.IPOIB
    sent = [f.data[20:] for f in capture.frames if f.options[2][0] == 2]  # epb_flags: outbound
    received = [f.data[40:] for f in capture.frames if f.options[2][0] == 1]
    assert sent == run.frames
    reply = "08060000" "0020080014040002" "80000049fe800000000000000002c903000000020a000002"
    requests = [f for f in run.frames if f[76:] == bytes((10, 0, 0, 2))]
    assert [r.hex()[: len(reply)] for r in received] == [reply] * len(requests)


def test_capture_names_what_happened(can_play, tmp_path):
    """Each packet in which an event of ipoib-check is first seen has it as a comment, beside that
    of its check. Here two stations announce one address (RFC 5227 section 2.4)."""
    del can_play
    path = tmp_path / "packets"
    asked = ("-d", "ib9", "-w", str(path), "--format", "json", IPV4)
    run = Run(played({"second_station": True}, PROBE, *asked))
    frames = capfile.read(path).frames
    comments = [c for f in frames for c in f.comments]
    events = [c.split(": ")[1] for c in comments if c.startswith("event: ")]
    assert run.status in (1, 2) and {"moved", "duplicate_ip"} & set(events), comments
    assert len(comments) == len(frames) + len(events)
    [told] = json.loads(check.run("--format", "json", path).stdout)["summary"]["captures"]
    assert events == [e["name"] for e in told["events"]]
