# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspicions about GIDs: an interface announces a link-layer address with another GID than its queue
pair has in its GRHs. Each case is built by hand: the capture begins late, so that nothing is proved;
then its harmless look-alikes, which raise none."""
import pytest

from frames import ib
from frames.events import number
from frames.ib import encap
from frames.messages import NOBODY, arp
from frames.subnet import Host, Subnet
from frames.suspected import late, send
from support import check, findings

OF_PORT, FROM_GUID = "rfc4391.9.1.1.gid-of-port", "rfc4391.9.1.1.gid-from-port-guid"
UNLESS = "unless the port has this GID, too, by an SMP or a join that was not captured"
WANTED = "the subnet prefix and the GUID of the sender's port"


def suspicions(s, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    return check.suspicions(path)


def announced(s, host, gid):
    """To the broadcast group, with the host's GID in the GRH. Returns its number."""
    s.wait(1)
    addr = ib.lladdr(host.qpn, gid)
    s.ud(host, s.broadcast(), encap(0x0806, ib.arp(1, addr, host.ip, NOBODY, "10.0.0.9")))
    return number(s)


@pytest.mark.parametrize("seen", [False, True], ids=["no port", "another port"])
def test_the_grh_of_the_frame_has_another_gid(seen, tmp_path):
    s, a, b, _ = late()
    if seen:
        send(s, b)
    frame = announced(s, a, b.gid)
    texts = ("a GID of the sender's port", "the GID of another port")
    if not seen:
        texts = (WANTED, "another GID")
    rule = OF_PORT if seen else FROM_GUID
    assert suspicions(s, tmp_path) == [(rule, frame, frame, *texts, UNLESS)]


def test_the_queue_pair_has_sent_with_another_gid(tmp_path):
    """The reply has no GRH. The address is printed whole."""
    s, a, b, _ = late()
    other = send(s, a)
    s.wait(1)
    s.ud(a, b, arp(2, a.also(gid=Host(7).gid), b))
    frame = number(s)
    assert suspicions(s, tmp_path) == [(FROM_GUID, frame, other, WANTED, "another GID", UNLESS)]
    output = check.run(str(tmp_path / "capture.pcap")).stdout.decode()
    assert "address flags 0x00, QPN 0x000101, GID fe80::2:c903:0:7: frame" in output


def test_another_prefix(tmp_path):
    """The port has several prefixes; its GRHs have the default one (IBA 4.1.1)."""
    s, a, _, _ = late()
    announced(s, a, Host(1, prefix="fec0::").gid)
    assert suspicions(s, tmp_path) == []


PREFIX = "fec0:0:0:1::"


def of_other_prefix(named, announces):
    """The port joins by its GID of one prefix, and announces that of another one in a reply. Returns
    the subnet, the port and its peer."""
    s = Subnet(prefix=PREFIX)
    a, b = (Host(n, prefix=PREFIX) for n in (1, 2))
    by, other = (Host(1, prefix=prefix) for prefix in (named, announces))
    for host in (by, b):
        s.join(host, s.broadcast())
    s.arp_request(b, a.ip)
    s.wait(1)
    s.arp_reply(a.also(gid=other.gid), b)
    s.wait(1)
    return s, by, b


def violations(s):
    return [f.rule for f in findings.frames(s.pcap()) if f.outcome == "fail"]


def test_the_default_prefix_is_announced_in_a_subnet_of_another_one():
    s, a, b = of_other_prefix(PREFIX, "fe80::")
    s.path(a, b)
    s.path(b, a)
    assert violations(s) == [FROM_GUID]


def test_it_names_the_gid_that_it_announced():
    """The subnet's prefix has changed: it joins by its new GID."""
    s, a, b = of_other_prefix(PREFIX, "fec0:0:0:2::")
    s.join(Host(1, prefix="fec0:0:0:2::"), s.broadcast())
    s.path(b, a)
    assert violations(s) == []


def test_it_names_its_gid_of_the_default_prefix():
    """Each port has that prefix too: it does not say which one the subnet has."""
    s, a, b = of_other_prefix("fe80::", PREFIX)
    s.path(a, b)
    s.path(b, a)
    assert violations(s) == []


def test_a_request_before_the_announcement_was_not_captured():
    """It may name another GID."""
    s, a, b = of_other_prefix(PREFIX, "fec0:0:0:2::")
    s.path(a, b)
    del s.records[-2:]
    s.path(a, b)
    s.path(b, a)
    assert violations(s) == []


def test_the_port_has_the_gid_too(tmp_path):
    """It sends with the other GID later: an alias GID, as of a virtual function (IBA 4.1.1)."""
    s, a, b, _ = late()
    alias = Host(7, lid=a.lid, qpn=0x777)
    send(s, a)
    announced(s, a, alias.gid)
    send(s, alias)
    assert suspicions(s, tmp_path) == []


def test_another_queue_pair_of_the_lid(tmp_path):
    """Of a virtual function, which answers with its own GID."""
    s, a, b, _ = late()
    send(s, a)
    s.ping(a, b)
    s.ud(Host(7, lid=a.lid, qpn=0x777), b, arp(2, Host(7, lid=a.lid, qpn=0x777), b))
    assert suspicions(s, tmp_path) == []
