# SPDX-License-Identifier: GPL-2.0-or-later
"""Which port ipoib-probe uses: the kernel's route to the address, -d, and all ports for fabric.

Expected: doc/probe.md, "Which port"."""
import json

import pytest

from support.played_probe import IPV4, IPV6, PROBE, Run, need_to_play, played, refuse


@pytest.fixture(scope="module", name="can_play")
def fixture_can_play():
    need_to_play()


# The RDMA device of a played network interface cannot be opened: that is not tested (exit status 2),
# unless -d names the interface.
NO_DEVICE = "; no RDMA device can be opened, so only address resolution is tested"
LOOK = "ls -l /dev/infiniband; modprobe ib_uverbs; modprobe ib_umad  # or run it as root"


def port_of(arguments, **given):
    """The run without -d, and its stage peer.port."""
    run = Run(played(given, PROBE, "--format", "json", "--timeout", "100", *arguments))
    stages = [r for r in run.report["results"] if r["id"] == "peer.port"]
    return run, [(s["actual"], s.get("advice", "")) for s in stages]


def undone(run):
    """The stages that withhold the verdict."""
    return [r["id"] for r in run.report["results"] if r["outcome"] == "inconclusive"]


@pytest.mark.parametrize(
    "target, addresses, why",
    [
        (IPV4, ["10.0.0.1/24"], "the kernel's route, source 10.0.0.1"),
        (IPV6, [], "the only IPoIB interface"),
        (f"{IPV6}%ib9", ["fe80::1/64"], "the kernel's route, source fe80::1"),
    ],
)
def test_port_of_the_route(can_play, target, addresses, why):
    del can_play
    run, stages = port_of([target], addresses=addresses)
    assert run.status == 2 and undone(run) == ["peer.port"], run.report
    assert stages == [(f"through ib9, P_Key 0xffff: {why}{NO_DEVICE}", LOOK)]


@pytest.mark.parametrize(
    "commands, target, words, advice",
    [
        (
            ["ip route add 10.9.0.0/24 via 10.0.0.254"],
            "10.9.0.1",
            "it is behind a router: the route leads through 10.0.0.254 at ib9",
            "ipoib-probe 10.0.0.254",
        ),
        ([], "10.0.0.255", "10.0.0.255 is the broadcast address of the network of ib9", ""),
        ([], "10.0.0.0", "10.0.0.0 is the first address of the network of ib9", ""),
        ([], "10.0.1.1", "(ib9 10.0.0.1/24)", "ip -br addr show ib9"),
        (
            [
                "ip link add dummy9 type veth",
                "ip link set dummy9 up",
                "ip route add 10.8.0.0/24 dev dummy9",
            ],
            "10.8.0.1",
            "the route to it leads through dummy9, which is no IPoIB interface",
            "ipoib-probe -d ib9 10.8.0.1",
        ),
    ],
)
def test_address_on_no_link(can_play, commands, target, words, advice):
    """Nothing is sent, and the exit status is 2."""
    del can_play
    run, stages = port_of([target], addresses=["10.0.0.1/24"], commands=commands)
    assert run.status == 2 and not run.frames
    [(text, given)] = stages
    assert words in text and text == run.trouble and advice in given


def test_interface_that_is_down_is_still_the_one(can_play):
    """The kernel has no route then; its network names it."""
    del can_play
    run, _ = port_of([IPV4], addresses=["10.0.0.1/24"], state="down")
    assert run.status == 2 and "ip link set ib9 up" in run.trouble


def test_wrong_device_lists_the_right_names(can_play):
    del can_play
    why = refuse({}, PROBE, "-d", "ib8", "--format", "json", IPV4)
    assert "no InfiniBand device or IPoIB interface ib8; there is ib9" in why


def test_bond_is_its_active_interface(can_play):
    del can_play
    bond = {"bond0/type": "32\n", "bond0/bonding/active_slave": "ib9\n"}
    run, stages = port_of(["-d", "bond0", IPV4], addresses=["10.0.0.1/24"], sysfs=bond)
    assert run.status == 0
    why = "the active interface of bond0"
    assert stages == [(f"through ib9, P_Key 0xffff: {why}{NO_DEVICE}", LOOK)]


def test_bond_without_a_link_is_its_first_interface(can_play):
    """No slave is active then."""
    del can_play
    files = {"active_slave": "\n", "slaves": "ib9 ib8\n"}
    bond = {f"bond0/bonding/{name}": text for name, text in files.items()}
    run, stages = port_of(
        ["-d", "bond0", IPV4], addresses=["10.0.0.1/24"], sysfs={"bond0/type": "32\n", **bond}
    )
    assert run.status == 0 and stages[0][0].startswith("through ib9, ")


def test_zone_whose_interface_has_no_route(can_play):
    """It is named by the address: no other interface is looked at."""
    del can_play
    run, stages = port_of([f"{IPV6}%ib9"], state="down")
    assert run.status == 2 and "ip link set ib9 up" in run.trouble
    assert stages[0][0].startswith("through ib9, P_Key 0xffff: named by the address")


KERNEL = {"addresses": ["10.0.0.1/24"]}


@pytest.mark.parametrize(
    "given, arguments, outcome, words",
    [
        ({}, [], "pass", "this host's ping is answered in "),
        (
            {"echo": False},
            [],
            "inconclusive",
            "this host's kernel cannot resolve its address through ib9",
        ),
        (
            {"echo": "other type"},
            [],
            "inconclusive",
            "packets with the encapsulation type 0x88b5 arrived instead",
        ),
        (
            {"echo": "wrong checksum"},
            [],
            "fail",
            "its replies arrive at ib9, and this host drops them: a filter, rp_filter, or wrong "
            "checksums",
        ),
        ({"echo": False}, ["-d", "ib9"], None, ""),
        ({"echo": False}, ["--pkey", "0xffff"], None, ""),
        ({"sysfs": {"ib9/flags": "0x1083\n"}}, [], None, ""),
    ],
    ids=[
        "answered",
        "silent",
        "other type",
        "wrong checksum",
        "named port",
        "named partition",
        "NOARP",
    ],
)
def test_ping_of_this_host(can_play, given, arguments, outcome, words):
    """Not if the user named the port, or if the interface itself has a fault."""
    del can_play
    run, _ = port_of([*arguments, IPV4], **KERNEL, **given)
    found = [(r["outcome"], r["actual"]) for r in run.report["results"] if r["id"] == "peer.ping"]
    assert [o for o, _ in found] == ([outcome] if outcome else [])
    assert all(words in text for _, text in found)
    assert undone(run) == [
        *([] if "-d" in arguments else ["peer.port"]),
        *(["peer.ping"] if outcome == "inconclusive" else []),
    ]
    assert run.status == (1 if "sysfs" in given or outcome == "fail" else 2 if undone(run) else 0)


@pytest.mark.parametrize(
    "given, outcome, words",
    [
        ({}, "pass", "this host's ping of 2044 bytes, the MTU of ib9, is answered"),
        (
            {"largest": 1500},
            "inconclusive",
            "this host's ping of 2044 bytes, the MTU of ib9, is not answered; up to 1500 bytes it is:",
        ),
        (
            {"sysfs": {"ib9/mtu": "4092\n"}},
            "pass",
            "ping of 4092 bytes, the MTU of ib9, is answered",
        ),
        ({"sysfs": {"ib9/mtu": None}}, None, ""),
    ],
    ids=["large", "small", "connected", "unknown"],
)
@pytest.mark.parametrize("address", [IPV4, IPV6], ids=["IPv4", "IPv6"])
def test_large_pings_of_this_host(can_play, given, outcome, words, address):
    """RFC 4391 section 7: 2044 bytes, here with a group of 2048; bisection to 4 bytes."""
    del can_play
    kernel = {"addresses": ["10.0.0.1/24", "fe80::1/64"]}
    target = address if address == IPV4 else f"{address}%ib9"
    run, _ = port_of([target], **kernel, **given)
    found = [
        (r["outcome"], r["actual"]) for r in run.report["results"] if r["id"] == "peer.ping-sizes"
    ]
    assert [o for o, _ in found] == ([outcome] if outcome else [])
    if given == {"largest": 1500}:
        largest = int(found[0][1].split("up to ")[1].split()[0])
        assert 1496 < largest <= 1500
        words = words.replace("1500", str(largest))
    assert all(words in text for _, text in found), found
    assert run.status == 2 and undone(run) == [
        "peer.port",
        *(["peer.ping-sizes"] if outcome == "inconclusive" else []),
    ]


@pytest.mark.parametrize("duplicate", [True, False])
@pytest.mark.parametrize("arguments", [[], ["--count", "2"]])
def test_another_port_has_the_address_of_this_host(can_play, arguments, duplicate):
    """RFC 5227 section 2.1.1: a reply to a request for it; the peer itself is good."""
    del can_play
    run, _ = port_of([*arguments, "-d", "ib9", IPV4], **KERNEL, duplicate=duplicate)
    failed = {r["id"]: r["actual"] for r in run.report["results"] if r["outcome"] == "fail"}
    assert list(failed) == (["peer.own-duplicate"] if duplicate else [])
    assert run.status == int(duplicate)
    assert not duplicate or failed["peer.own-duplicate"].startswith(
        "10.0.0.1, from which this host sends, is announced by 80:00:00:4"
    )


@pytest.mark.parametrize("kind", ["blackhole", "prohibit", "unreachable"])
def test_route_that_forbids_the_address(can_play, kind):
    """ip-route(8): the kernel sends nothing there, and the probe reaches the peer."""
    del can_play
    run, _ = port_of([IPV4], **KERNEL, commands=[f"ip route add {kind} {IPV4}"])
    assert f"a route of type {kind} forbids it; ib9 has" in run.outcomes("fail")["peer.own-side"]


def test_interface_without_arp_fails(can_play):
    del can_play
    run, _ = port_of([IPV4], **KERNEL, sysfs={"ib9/flags": "0x1083\n"})
    assert "ib9 has the flag NOARP" in run.outcomes("fail")["peer.own-side"]


def test_device_of_another_namespace_is_not_down(can_play):
    """A container may have the interface without the device: carrier shows that the port is up."""
    del can_play
    files = ("lid", "sm_lid", "lid_mask_count", "state", "rate", "pkeys/0")
    hidden = {f"ib9/device/infiniband/hca0/ports/1/{name}": None for name in files}
    for carrier, words in (("1", None), ("0", "does not show the RDMA device")):
        sysfs = {**hidden, "ib9/carrier": f"{carrier}\n"}
        run = Run(played({"sysfs": sysfs}, PROBE, "--format", "json", "fabric"))
        assert "fabric.port-state" not in run.outcomes("fail")
        open_ones = run.outcomes("inconclusive")
        assert words is None or words in open_ones["fabric.port-state"]


def port_files(device, number, gid, state="4: ACTIVE", layer="InfiniBand", verbs=True):
    port = f"{device}/ports/{number}"
    files = {f"{port}/state": state, f"{port}/link_layer": layer, f"{port}/gids/0": gid}
    if verbs:
        files[f"{device}/device/infiniband_verbs/uverbs_{device}/ibdev"] = device
    return {path: text + "\n" for path, text in files.items()}


# ib9 is on hca0. smi1 only carries SMPs for it, as beside a ConnectX-8; mlx5_1 is a RoCE port;
# mlx5_2 has no interface; nothing is plugged into mlx5_3.
PORTS = {
    **port_files("hca0", 1, "fe80::1"),
    **port_files("mlx5_1", 1, "fe80::2", layer="Ethernet"),
    **port_files("mlx5_2", 1, "fe80::3"),
    **port_files("mlx5_3", 1, "fe80::4", state="1: DOWN"),
    **port_files("smi1", 1, "fe80::1", verbs=False),
}


@pytest.mark.parametrize(
    "options, ports",
    [
        ([], ["fabric ib9", "fabric mlx5_2 port 1"]),
        (["--all-ports"], ["fabric ib9", "fabric mlx5_2 port 1", "fabric mlx5_3 port 1"]),
        (["-d", "ib9"], ["fabric"]),
    ],
)
def test_fabric_names_every_port(can_play, options, ports):
    """A port that is down and not in use is named, or tested with --all-ports."""
    del can_play
    run = Run(played({"infiniband": PORTS}, PROBE, "--format", "json", *options, "fabric"))
    assert [t["name"] for t in run.report["summary"]["targets"]] == ports
    unused = [r for r in run.report["results"] if r["id"] == "fabric.unused-ports"]
    assert [(u["target"], u["outcome"]) for u in unused] == (
        [] if options else [("fabric ib9", "noted")]
    )
    assert options or "not tested: mlx5_3 port 1 (no interface)" in unused[0]["actual"]


def test_fabric_has_a_line_for_every_port(can_play):
    """The text report: a verdict for each port, and the port that is not tested."""
    del can_play
    done = played({"infiniband": PORTS}, PROBE, "fabric")
    lines = json.loads(done.stdout)["out"].splitlines()
    assert [line.split(": ")[0] for line in lines if line.startswith("fabric ")] == [
        "fabric ib9",
        "fabric mlx5_2 port 1",
    ]
    assert any("fabric.unused-ports  down, " in line for line in lines)
    assert "not tested: mlx5_3 port 1" in " ".join(" ".join(lines).split())


def test_names_of_devices(can_play):
    del can_play
    given = {"infiniband": PORTS}
    why = refuse(given, PROBE, "-d", "mlx5_9", "--format", "json", IPV4)
    assert why.endswith("; there is hca0, mlx5_2, mlx5_3, ib9")
