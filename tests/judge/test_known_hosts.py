# SPDX-License-Identifier: GPL-2.0-or-later
"""What hosts of the field send against the RFCs is a known deviation in each message that has it,
and is one finding; a value beside it that they do not send is a violation.

MLNX_OFED sets the bit 0x20 in the first byte of each address (0xa0 with the RC flag).
NetworkManager's client identifier is type 32 and the port GUID. iPXE and FlexBoot have six bytes of
the port GUID in chaddr (hlen 6), old iPXE the GUID (hlen 8)."""
import pytest

from frames import fixture, ib, variants
from frames.fault_dhcp import ACK, BROADCAST, CONFORMANT, CLIENT_ID, DISCOVER, DUID_LL
from frames.fault_dhcp import INFORM, MESSAGE_TYPE, N1_GUID, first, renewal
from frames.unusual import link
from frames.variants import forms
from frames.variants.datagrams import PLACES, set_flags
from support import findings
from support.convert import convert

UD, CM = "rfc4391.9.1.1.reserved-flags", "rfc4755.3.1.flags"
# First byte: the rule, and the outcomes with the default list.
FLAGS = {
    0x20: (UD, {"deviation": 1}),
    0xA0: (CM, {"deviation": 1}),
    0x24: (UD, {"deviation": 1, "fail": 1}),
    0x30: (UD, {"deviation": 1, "fail": 1}),
    0xB0: (CM, {"deviation": 1, "fail": 1}),
    0x60: (CM, {"fail": 1}),
    0xE0: (CM, {"fail": 1}),
    0x10: (UD, {"fail": 1}),
}
BITS = {0x20: 1, 0xA0: 1, 0x24: 2, 0x30: 2, 0xB0: 2, 0x60: 1, 0xE0: 1, 0x10: 1}
ANNOUNCED = sorted(set(PLACES) - {"redirect"})


def outcomes(capture, rule, *options):
    """{outcome: number of findings of the rule}; no other rule of the flags has one."""
    count = {}
    for f in findings.frames(capture, *options):
        if f.rule in (UD, CM):
            assert f.rule == rule
            count[f.outcome] = count.get(f.outcome, 0) + 1
    return count


def with_flags(way, value):
    w = variants.base("default").copy()
    name, at = PLACES[way]
    set_flags(w, name, at, value)
    return forms.infiniband(w)[0]


@pytest.mark.parametrize("value", FLAGS, ids=hex)
@pytest.mark.parametrize("way", ANNOUNCED)
def test_flags_of_an_address(way, value):
    rule, expected = FLAGS[value]
    capture = with_flags(way, value)
    assert outcomes(capture, rule, "--deviations", "linux") == expected
    assert outcomes(capture, rule, "--deviations", "none") == {"fail": BITS[value]}


@pytest.mark.parametrize("value, left", [(0x20, 0), (0xA0, 0), (0x30, 1), (0x10, 1)], ids=hex)
def test_copied_flags_are_undecided_only_if_they_may_be_a_violation(value, left):
    rule, _ = FLAGS[value]
    capture = with_flags("redirect", value)
    assert findings.counts(capture, "--deviations", "linux")[rule].inconclusive == left
    assert findings.counts(capture, "--deviations", "none")[rule].inconclusive == BITS[value]


def link_of_mlnx_ofed(flags):
    """Two hosts that resolve each other by ARP and by Neighbour Discovery."""
    s, a, b = link(1, 2)
    for host in (a, b):
        host.flags = flags
    s.resolve(a, b)
    s.resolve(b, a)
    s.resolve6(a, b)
    return s.pcap()


@pytest.mark.parametrize("flags, rule", [(0x20, UD), (0xA0, CM)])
@pytest.mark.parametrize("known, outcome", [("linux", "deviation"), ("none", "fail")])
def test_each_address_of_a_link_has_one_result(flags, rule, known, outcome):
    """Also the addresses in replies, which are copies from the requests."""
    capture = link_of_mlnx_ofed(flags)
    assert outcomes(capture, rule, "--deviations", known) == {outcome: 2}
    assert findings.counts(capture, "--deviations", known)[rule].inconclusive == 0


# ---- Neighbour Discovery

OPTION = "rfc4391.9.3.nd-option-length"
ADDRESS = bytes.fromhex("80000048fe80") + bytes(14)
FORMS = {  # what follows type and length 1 in the option of a router solicitation
    "the first 6 bytes of the address": (ADDRESS[:6], "deviation"),
    "a global prefix": (ADDRESS[:4] + b"\x20\x01", "deviation"),
    "the padding, and 4 bytes": (bytes(2) + ADDRESS[:4], "fail"),
    "an Ethernet address": (bytes.fromhex("0200000000aa"), "fail"),
}


@pytest.mark.parametrize("octets, outcome", FORMS.values(), ids=FORMS)
def test_ethernets_option_in_a_router_solicitation(octets, outcome):
    """rdisc6 copies the first 6 of the 20 bytes."""
    w = variants.base("default").copy()
    w["A.rs"].payload[52 + 1 :] = b"\x01" + octets
    w["A.rs"].fix_checksums()
    capture = forms.infiniband(w)[0]
    of = [f.outcome for f in findings.frames(capture, "--deviations", "linux") if f.rule == OPTION]
    assert of == [outcome]


# ---- DHCP

MAC = N1_GUID[:3] + N1_GUID[5:]
HTYPE, HLEN, CHADDR, FORMAT = (
    f"rfc4390.2.1.{rule}" for rule in ("htype", "hlen", "chaddr", "client-identifier-format")
)

NO_FLAG = "rfc4390.2.2.no-broadcast-flag"


def capture_of(identifier=None, message=first, **fields):
    """A capture with n1's discover (or its renewal) with these fields and this client identifier."""
    t = fixture.tape(CONFORMANT)
    _, m = message(t, DISCOVER) if message is first else message(t)
    if identifier:
        m.replace(CLIENT_ID, identifier)
    m.put(**fields)
    return t.pcap()


def outcomes_of_dhcp(capture):
    """{rule of DHCP: the outcome that is not a pass}"""
    counts = findings.counts(capture, "--deviations", "linux")
    words = ("failed", "deviated", "inconclusive")
    found = {
        rule: [word for word in words if getattr(count, word)]
        for rule, count in counts.items()
        if rule.startswith("rfc4390")
    }
    return {rule: word for rule, (word, *_) in ((r, w) for r, w in found.items() if w)}


def discover(*identifier_and_message, **fields):
    return outcomes_of_dhcp(capture_of(*identifier_and_message, **fields))


@pytest.mark.parametrize("local", [0, 2], ids=["ipxe", "old-ipxe"])
def test_ipxe_is_an_ethernet_client(local):
    mac = bytes([MAC[0] | local]) + MAC[1:]
    assert discover(b"\x01" + mac, htype=1, hlen=6, chaddr=mac) == {
        HTYPE: "deviated",
        HLEN: "deviated",
        CHADDR: "deviated",
        FORMAT: "deviated",
    }


def test_flexboot_has_a_mac_in_chaddr():
    assert discover(hlen=6, chaddr=MAC) == {HLEN: "deviated", CHADDR: "deviated"}


def test_old_ipxe_has_the_port_guid_in_chaddr():
    assert discover(hlen=8, chaddr=N1_GUID) == {HLEN: "deviated", CHADDR: "deviated"}


@pytest.mark.parametrize(
    "fields",
    [
        {"hlen": 6, "chaddr": ib.mac("02:00:00:00:00:01")},
        {"hlen": 6, "chaddr": MAC[:5] + b"\x11"},
        {"hlen": 6, "chaddr": N1_GUID},
        {"hlen": 8, "chaddr": N1_GUID[:7] + b"\x11"},
        {"hlen": 8, "chaddr": MAC},
        {"hlen": 8, "chaddr": N1_GUID + b"\x01"},
        {"hlen": 16, "chaddr": N1_GUID},
    ],
    ids=str,
)
def test_other_bytes_in_chaddr_are_a_violation(fields):
    assert discover(**fields) == {HLEN: "failed", CHADDR: "failed"}


def test_ethernet_client_with_another_mac_is_a_violation():
    mac = ib.mac("02:00:00:00:00:01")
    found = discover(b"\x01" + mac, htype=1, hlen=6, chaddr=mac)
    assert found == dict.fromkeys((HTYPE, HLEN, CHADDR, FORMAT), "failed")


@pytest.mark.parametrize("bad", [b"\x20" + MAC, b"\x01" + N1_GUID, b"\x00" + N1_GUID])
def test_other_client_identifier_is_a_violation(bad):
    assert discover(bad) == {FORMAT: "failed"}


def late_renewal(identifier=None, **fields):
    """The first renewal; n1's request for the address was not captured, its ARP request was."""
    t = fixture.tape(CONFORMANT)
    frame, m = renewal(t)
    if identifier:
        m.replace(CLIENT_ID, identifier)
    m.put(**fields)
    t.frames = t.frames[t.frames.index(first(t, ACK)[0]) :]
    return outcomes_of_dhcp(t.pcap())


def test_unicast_renewal_does_not_show_the_guid():
    """It has no GRH: it may be NetworkManager's, or another client's."""
    assert late_renewal(b"\x20" + N1_GUID) == {FORMAT: "inconclusive"}
    assert late_renewal(b"\x20" + N1_GUID + b"\0") == {FORMAT: "failed"}


def test_request_for_the_address_shows_the_guid():
    assert discover(b"\x20" + N1_GUID, renewal) == {FORMAT: "deviated"}
    assert discover(b"\x20" + N1_GUID[:-1] + b"\x11", renewal) == {FORMAT: "failed"}


def test_renewal_of_a_client_whose_link_is_not_known():
    """It may be the renewal of n1's Ethernet interface, which is routed by this link."""
    assert late_renewal(htype=1) == {HTYPE: "inconclusive"}


def test_renewal_after_a_packet_that_was_not_captured():
    """n1 may have given up the address in it."""
    t = fixture.tape(CONFORMANT)
    frame, m = renewal(t)
    m.put(htype=1)
    frame.packet.set(psn=frame.packet["psn"] + 1)
    assert outcomes_of_dhcp(t.pcap()) == {HTYPE: "inconclusive"}


def inform(t):
    """n1's renewal as a DHCPINFORM."""
    frame, m = renewal(t)
    m.replace(MESSAGE_TYPE, ib.u8(INFORM))
    m.replace(CLIENT_ID, DUID_LL)
    return frame, m


def test_inform_of_a_client_with_a_lease_has_no_flag():
    assert discover(None, inform, flags=BROADCAST) == {NO_FLAG: "failed"}
    assert discover(None, inform, flags=0) == {}


def test_inform_of_a_client_whose_lease_was_not_captured():
    """It may have its address without a lease."""
    t = fixture.tape(CONFORMANT)
    frame, m = inform(t)
    m.put(flags=BROADCAST)
    t.frames = t.frames[t.frames.index(first(t, ACK)[0]) :]
    assert frame in t.frames
    assert outcomes_of_dhcp(t.pcap()) == {NO_FLAG: "inconclusive"}


OTHER_MAC = ib.mac("02:00:00:00:00:01")
CLIENTS = {
    "ipxe": ((b"\x01" + MAC,), {"htype": 1, "hlen": 6, "chaddr": MAC}),
    "old-ipxe": ((), {"hlen": 6, "chaddr": bytes([MAC[0] ^ 2]) + MAC[1:]}),
    "guid": ((b"\x20" + N1_GUID,), {"hlen": 8, "chaddr": N1_GUID}),
    "another-mac": ((b"\x01" + OTHER_MAC,), {"htype": 1, "hlen": 6, "chaddr": OTHER_MAC}),
    "renewal": ((b"\x20" + N1_GUID, renewal), {}),
}


@pytest.mark.parametrize("client, fields", CLIENTS.values(), ids=CLIENTS)
def test_shared_capture_has_the_same_outcomes(tmp_path, client, fields):
    """The replacement of a port GUID shows in what the client made of the GUID."""
    original, shared = tmp_path / "original.pcap", tmp_path / "shared.pcap"
    original.write_bytes(capture_of(*client, **fields))
    convert("--share", original, shared)
    assert MAC not in shared.read_bytes() and N1_GUID not in shared.read_bytes()
    expected = outcomes_of_dhcp(original.read_bytes())
    assert expected and outcomes_of_dhcp(shared.read_bytes()) == expected


def test_duid_of_no_known_type_or_without_identifier_is_inconclusive():
    """RFC 3315 9 and RFC 6355: types 1 to 4. Receivers treat a DUID as opaque."""
    for duid in (b"\0\1", b"\0\0\1\2\3\4\5\6", b"\0\5\1\2\3\4\5\6", b"\0\4" + bytes(15)):
        assert discover(b"\xff\0\0\0\1" + duid) == {FORMAT: "inconclusive"}
    assert discover(DUID_LL) == {}
