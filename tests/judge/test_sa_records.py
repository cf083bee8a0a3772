# SPDX-License-Identifier: GPL-2.0-or-later
"""What the SA's records of a port decide in a capture without SMPs. A record is what the SA says at that
time. Each case has its harmless look-alikes, in which frames that were not captured may explain what the
record says."""
import pytest

from frames import ib
from frames.events import number
from frames.messages import arp
from frames.sa_records import (
    BY_LID_AND_BLOCK,
    MTU_256,
    MTU_1024,
    MTU_2048,
    MTU_4096,
    blocks_of,
    guid_record,
    pkey_record,
    pkey_table,
    port_record,
)
from frames.subnet import Host
from frames.suspected import late
from support import check, findings

GROUP_MTU, MTU_2044 = "rfc4391.4.1.group-mtu", "rfc4391.7.mtu-2044"
PKEY = "rfc4391.5.pkey-configured"
OF_PORT, FROM_GUID = "rfc4391.9.1.1.gid-of-port", "rfc4391.9.1.1.gid-from-port-guid"
CHILD = 0x8001


def violations(s, rule):
    return [f.frame for f in findings.frames(s.pcap()) if (f.outcome, f.rule) == ("fail", rule)]


def suspected(s, tmp_path, rule):
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    return [found[1:3] for found in check.suspicions(path) if found[0] == rule]


def reasons(s, rule):
    return findings.counts(s.pcap())[rule]


def met(mtu=MTU_2048):
    """a and b join the broadcast group, and resolve their addresses; b's GSI is followed."""
    s, a, b, c = late()
    s.parameters["mtu"] = mtu
    s.up(a, b)
    s.meet(a, b)
    return s, a, b, c


def use(s, a, b):
    """b sends a datagram to a, and then a request to the SA. Returns the number of the datagram."""
    s.wait(1)
    s.ping(a, b)
    frame = number(s)
    s.wait(1)
    s.path(b, a)
    s.wait(1)
    s.path(a, b)
    return frame


# ---- the MTU of the port's link


def test_a_member_has_a_smaller_mtucap():
    s, a, b, _ = met()
    port_record(s, a, b, MTU_1024)
    frame = use(s, a, b)
    response = frame + 2  # b's next request, and the SA's response: b has not restarted
    assert violations(s, GROUP_MTU) == [response]
    assert reasons(s, MTU_2044).inconclusive


def test_the_record_comes_before_the_join():
    s, a, b, c = met()
    for peer in (a, b):
        s.path(c, peer)
    port_record(s, a, c, MTU_1024)
    s.join(c, s.broadcast())
    joined = number(s)
    s.wait(1)
    s.path(c, a)
    s.path(a, b)
    assert violations(s, GROUP_MTU) == [joined + 2]


def test_the_port_may_have_restarted_in_between():
    s, a, b, _ = met()
    s.path(b, a)
    del s.records[-2:]
    s.path(b, a)
    port_record(s, a, b, MTU_1024)
    use(s, a, b)
    assert violations(s, GROUP_MTU) == []


def test_it_may_have_restarted_before_its_next_request():
    s, a, b, _ = met()
    port_record(s, a, b, MTU_1024)
    s.ping(a, b)
    s.path(b, a)
    del s.records[-2:]
    use(s, a, b)
    assert violations(s, GROUP_MTU) == []


def test_a_member_has_a_smaller_neighbormtu(tmp_path):
    s, a, b, _ = met()
    record = port_record(s, a, b, MTU_1024, MTU_4096)
    frame = use(s, a, b)
    assert violations(s, GROUP_MTU) == []
    assert suspected(s, tmp_path, GROUP_MTU) == [(frame, record)]


def test_a_later_record_has_a_larger_neighbormtu(tmp_path):
    s, a, b, _ = met()
    port_record(s, a, b, MTU_1024, MTU_4096)
    use(s, a, b)
    port_record(s, a, b, MTU_2048, MTU_4096)
    use(s, a, b)
    assert suspected(s, tmp_path, GROUP_MTU) == []


HARMLESS = {
    "MTU of the group": dict(mtu=MTU_2048, cap=MTU_4096),
    "link is down": dict(mtu=MTU_256, state=ib.ACTIVE - 3),
    "port is not active": dict(mtu=MTU_256, state=ib.ACTIVE - 2),
    "external port of a switch": dict(mtu=MTU_256, lid=0, prefix="::"),
    "another LID": dict(mtu=MTU_256, lid=77),
    "another subnet prefix": dict(mtu=MTU_256, prefix="fec0::"),
}


@pytest.mark.parametrize("record", HARMLESS.values(), ids=HARMLESS)
def test_a_record_that_shows_nothing(record, tmp_path):
    s, a, b, _ = met()
    port_record(s, a, b, **record)
    use(s, a, b)
    assert violations(s, GROUP_MTU) == suspected(s, tmp_path, GROUP_MTU) == []


def test_mtucap_below_2048_on_a_link_of_this_mtu():
    """RFC 4391 section 7 allows links of components that support less: nobody violates it."""
    s, a, b, _ = met(MTU_1024)
    port_record(s, a, b, MTU_1024)
    use(s, a, b)
    assert violations(s, GROUP_MTU) == violations(s, MTU_2044) == []
    assert reasons(s, MTU_2044).inconclusive


# ---- the P_Key table


def in_child(*hosts):
    """The hosts have joined the link of the partition 0x8001, and resolve their addresses."""
    s, a, b, c = late()
    s.pkey = CHILD
    s.up(*(hosts or (a, b)))
    s.meet(a, b)
    return s, a, b, c


def test_a_member_has_no_such_pkey(tmp_path):
    s, a, b, _ = in_child()
    record = pkey_record(s, a, b, 0xFFFF)
    frame = use(s, a, b)
    assert violations(s, PKEY) == []
    assert suspected(s, tmp_path, PKEY) == [(frame, record)]


def test_it_joins_another_group_of_the_partition(tmp_path):
    s, a, b, _ = in_child()
    record = pkey_record(s, a, b, 0xFFFF, 0x8002)
    s.join(b, s.group4("239.4.5.6"))
    frame = number(s) - 1
    assert suspected(s, tmp_path, PKEY) == [(frame, record)]


def test_a_table_of_four_blocks(tmp_path):
    s, a, b, _ = in_child()
    blocks = [blocks_of(0xFFFF, 0x0002), blocks_of(), blocks_of(), blocks_of()]
    record = pkey_table(s, a, b, blocks)
    frame = use(s, a, b)
    assert suspected(s, tmp_path, PKEY) == [(frame, record)]


OTHERS = [blocks_of(0xFFFF), blocks_of(), blocks_of(CHILD), blocks_of()]
TABLES = {
    "the P_Key, as a limited member": lambda s, a, b: pkey_record(s, a, b, 0xFFFF, 0x0001),
    "first block only": lambda s, a, b: pkey_record(s, a, b, 0xFFFF, mask=BY_LID_AND_BLOCK),
    "in the third block": lambda s, a, b: pkey_table(s, a, b, OTHERS),
    "second segment is missing": lambda s, a, b: pkey_table(s, a, b, OTHERS, lost=(2,)),
    "first segment is missing": lambda s, a, b: pkey_table(s, a, b, OTHERS, lost=(1,)),
    "another port's": lambda s, a, b: pkey_record(s, a, Host(7), 0xFFFF),
    "later one has it": lambda s, a, b: (
        pkey_record(s, a, b, 0xFFFF),
        use(s, a, b),
        pkey_record(s, a, b, 0xFFFF, CHILD),
    ),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_that_shows_nothing(table, tmp_path):
    s, a, b, _ = in_child()
    table(s, a, b)
    use(s, a, b)
    assert violations(s, PKEY) == suspected(s, tmp_path, PKEY) == []


def test_the_sm_may_give_the_pkey_before_the_join(tmp_path):
    s, a, b, c = in_child()
    pkey_record(s, a, c, 0xFFFF)
    s.up(c)
    use(s, a, c)
    assert suspected(s, tmp_path, PKEY) == []
    assert reasons(s, PKEY).inconclusive


def test_the_interface_joins_again(tmp_path):
    """The SM took the P_Key away and gave it back."""
    s, a, b, _ = in_child()
    pkey_record(s, a, b, 0xFFFF)
    s.leave(b, s.broadcast())
    s.up(b)
    use(s, a, b)
    assert suspected(s, tmp_path, PKEY) == []


# ---- alias GUIDs

ALIAS = 0x0002C90300000000 | 0xBEEF


def announce_alias(s, a, b):
    """b answers a with a GID of the alias GUID. Returns its number."""
    s.arp_request(a, b.ip)
    s.ud(b, a, arp(2, b.also(gid="fe80::2:c903:0:beef"), a))
    return number(s)


def test_an_interface_announces_an_alias_guid():
    s, a, b, _ = met()
    guid_record(s, a, b, ALIAS)
    frame = announce_alias(s, a, b)
    assert violations(s, FROM_GUID) == [frame]
    assert violations(s, OF_PORT) == []


def test_a_virtual_function_announces_its_guid(tmp_path):
    """It has a queue pair of its own, and joined before the capture."""
    s, a, b, _ = met()
    guid_record(s, a, b, ALIAS)
    virtual = b.also(qpn=0x777, ip="10.0.0.77")
    announce_alias(s, a, virtual)
    assert violations(s, FROM_GUID) == suspected(s, tmp_path, FROM_GUID) == []


def test_the_record_has_another_guid():
    """The port may have got this alias GUID, too."""
    s, a, b, _ = met()
    guid_record(s, a, b, ALIAS + 1)
    announce_alias(s, a, b)
    assert violations(s, FROM_GUID) == []
    assert reasons(s, FROM_GUID).inconclusive
