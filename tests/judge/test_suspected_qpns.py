# SPDX-License-Identifier: GPL-2.0-or-later
"""Suspicions about QPNs: a datagram, or a CM message, has another QPN for an interface than the
link-layer address that its port announced. Each case is built by hand: the capture begins late, so
that nothing is proved; then its harmless look-alikes, which raise none."""
import pytest

from frames import ib
from frames.connection import Link
from frames.events import copy_last, number
from frames.messages import nd, ping, ping6
from frames.subnet import Subnet
from frames.suspected import late
from support import check, findings

TO_QPN, PRIVATE = "rfc4391.9.1.1.traffic-to-qpn", "rfc4755.3.2.ud-qpn-in-private-data"
ONE_QP = "rfc4755.2.2.one-ud-qp"
SERVICE, AS_RFC826 = "rfc4755.3.5.service-id", "rfc4391.9.2.arp-as-rfc826"
UNLESS = (
    "unless another interface of the port, or the same one before or after a restart, announced this "
    "QPN in a packet that was not captured"
)
WRONG = 0x999  # a's QPN is 0x101, b's is 0x102, c's 0x103 (frames/subnet.py)


def qpn(value):
    return "QPN 0x%06x" % value


def raised(frame, rule, other, expected, found=WRONG):
    return [(rule, frame, other, qpn(expected), qpn(found), UNLESS)]


def met():
    """b announces its address, and answers a's request. The number of the frame with b's ARP reply is
    returned too."""
    s, a, b, c = late()
    s.arp_request(b, b.ip)
    s.wait(1)
    s.arp_request(a, b.ip)
    s.arp_reply(b, a)
    return s, a, b, c, number(s)


def suspicions(s, tmp_path):
    path = tmp_path / "capture.pcap"
    path.write_bytes(s.pcap())
    return check.suspicions(path)


# ---- datagrams


def test_a_datagram_to_another_qpn_than_the_announced_one(tmp_path):
    s, a, b, _, reply = met()
    s.wait(1)
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    assert suspicions(s, tmp_path) == raised(number(s), TO_QPN, reply, b.qpn)


def test_a_sender_that_may_have_an_older_address(tmp_path):
    """b's interface was restarted before the capture, and announces its address; c has not asked."""
    s, _, b, c, _ = met()
    s.arp_request(c, "10.0.0.77")
    s.wait(1)
    s.ud(c, b.also(qpn=WRONG), ping(c, b))
    assert suspicions(s, tmp_path) == []


def test_a_copy_of_the_datagram_is_the_same_suspicion(tmp_path):
    s, a, b, _, reply = met()
    s.wait(1)
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    frame = number(s)
    copy_last(s)
    assert suspicions(s, tmp_path) == raised(frame, TO_QPN, reply, b.qpn)


def test_an_interface_that_announces_the_qpn_later(tmp_path):
    """b's interface was restarted. Its announcement was not captured, but a later one was."""
    s, a, b, _, _ = met()
    s.wait(1)
    new = b.also(qpn=WRONG)
    s.ud(a, new, ping(a, b))
    s.wait(1)
    s.arp_request(new, a.ip)
    assert suspicions(s, tmp_path) == []


def test_an_interface_that_sends_from_the_qpn_later(tmp_path):
    s, a, b, _, _ = met()
    s.wait(1)
    new = b.also(qpn=WRONG)
    s.ud(a, new, ping(a, b))
    s.ud(new, a, ping(b, a, reply=True))
    assert suspicions(s, tmp_path) == []


def test_a_router_has_no_announced_address(tmp_path):
    """The datagram is for an IP address beyond c. It goes to c's QPN."""
    s, a, _, c, _ = met()
    s.wait(1)
    s.ud(a, c, ping(a, c.also(ip="192.0.2.1")))
    assert suspicions(s, tmp_path) == []


def test_an_ip_address_that_moved(tmp_path):
    """c has taken over b's IP address: an announcement that was captured."""
    s, a, b, c, _ = met()
    s.wait(1)
    s.arp_request(c.also(ip=b.ip), b.ip)
    s.ud(a, c, ping(a, b))
    assert suspicions(s, tmp_path) == []


def test_a_sender_that_has_the_address_from_a_request(tmp_path):
    """a answers b's request: it has b's address from it (RFC 826), and has requested nothing."""
    s, a, b, _ = late()
    s.arp_request(b, a.ip)
    asked = number(s)
    s.arp_reply(a, b)
    s.wait(1)
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    assert suspicions(s, tmp_path) == raised(number(s), TO_QPN, asked, b.qpn)


# ---- a second UD QP


def connected(flags=0x80):
    """a, in connected mode, announces its address."""
    s, a, b, c = late()
    a = a.also(flags=flags)
    s.arp_request(a, b.ip)
    return s, a, b, number(s)


def second_qp(s, a, b, again=True):
    """a sends from another QP, and then from the announced one. The number of the first datagram."""
    s.wait(1)
    s.ud(a.also(qpn=WRONG), b, ping(a, b))
    frame = number(s)
    if again:
        s.ud(a, b, ping(a, b, seq=2))
    return frame


def test_a_datagram_from_a_second_qp(tmp_path):
    s, a, b, announced = connected()
    frame = second_qp(s, a, b)
    assert suspicions(s, tmp_path) == raised(frame, ONE_QP, announced, a.qpn)


def test_a_second_qp_in_datagram_mode(tmp_path):
    s, a, b, _ = connected(flags=0)
    second_qp(s, a, b)
    assert suspicions(s, tmp_path) == []


def test_a_restarted_interface_does_not_use_its_first_qp(tmp_path):
    s, a, b, _ = connected()
    second_qp(s, a, b, again=False)
    assert suspicions(s, tmp_path) == []


def test_a_second_interface_with_the_same_ip_address(tmp_path):
    """It announces its address later."""
    s, a, b, _ = connected()
    second_qp(s, a, b)
    s.wait(1)
    s.arp_request(a.also(qpn=WRONG), b.ip)
    assert suspicions(s, tmp_path) == []


def test_a_first_qp_that_goes_on_without_its_address(tmp_path):
    """A second QP has announced the IP address: of the same interface, or of another one."""
    for goes_on in (False, True):
        s, a, b, _ = connected()
        s.arp_request(a.also(qpn=WRONG), b.ip)
        if goes_on:
            s.ud(a, b, ping6(a, b))
        counts = findings.counts(s.pcap())
        assert ONE_QP in counts and counts[ONE_QP].inconclusive == goes_on
        assert suspicions(s, tmp_path) == []


SAME_IP = "unless another interface of the port has the same IP address, in a packet that was not captured"


def of_source(frame, other, a):
    return [(ONE_QP, frame, other, qpn(a.qpn), qpn(WRONG), SAME_IP)]


def in_turns(s, a, b):
    """Two QPs announce a's IP address in turns. The number of the last announcement."""
    s.ud(a, b, ping(a, b))
    for one in (a.also(qpn=WRONG), a):
        s.wait(1)
        s.arp_request(one, b.ip)
    return number(s)


def test_two_qps_that_announce_one_ip_address_in_turns(tmp_path):
    s, a, b, _ = connected()
    other = in_turns(s, a, b)
    frame = second_qp(s, a, b)
    assert suspicions(s, tmp_path) == of_source(frame, other, a)


def test_two_interfaces_that_answer_for_each_other(tmp_path):
    """The second one has an IP address of its own, too."""
    s, a, b, _ = connected()
    second = a.also(qpn=WRONG, ip="10.0.0.77")
    s.ud(second, b, ping(second, b))
    in_turns(s, a, b)
    second_qp(s, a, b)
    assert suspicions(s, tmp_path) == []


def test_an_interface_with_an_own_ip_address_that_is_seen_later(tmp_path):
    s, a, b, _ = connected()
    in_turns(s, a, b)
    second_qp(s, a, b)
    second = a.also(qpn=WRONG, ip="10.0.0.77")
    s.ud(second, b, ping(second, b))
    assert suspicions(s, tmp_path) == []


def test_a_first_qp_that_may_be_new(tmp_path):
    """The interface was restarted twice, and has its first QPN again: the PSNs start from 0."""
    s, a, b, _ = connected()
    in_turns(s, a, b)
    second_qp(s, a, b, again=False)
    s.psns[a.lid, a.qpn] = 0
    s.ud(a, b, ping(a, b, seq=2))
    assert suspicions(s, tmp_path) == []


def announces_in_rs(flags=0x80):
    """a announces its address for IPv6 only, and sends IPv4."""
    s, a, b, _ = late()
    a = a.also(flags=flags)
    option = ib.nd_lladdr_option(1, a.addr)
    s.ud(a, s.group6("ff02::2"), nd(a, "ff02::2", ib.nd_rs(option)))
    s.ud(a, b, ping(a, b))
    return s, a, b, number(s)


def test_a_second_qp_with_an_ip_address_that_nobody_announced(tmp_path):
    s, a, b, other = announces_in_rs()
    frame = second_qp(s, a, b)
    assert suspicions(s, tmp_path) == of_source(frame, other, a)


def test_a_second_qp_with_that_address_in_datagram_mode(tmp_path):
    s, a, b, _ = announces_in_rs(flags=0)
    second_qp(s, a, b)
    assert suspicions(s, tmp_path) == []


def test_the_same_link_local_address_of_two_interfaces(tmp_path):
    s, a, b, _ = connected()
    for one in (a, a.also(qpn=WRONG), a):
        s.ud(one, b, ping6(one, b))
    assert suspicions(s, tmp_path) == []


def test_a_second_qp_after_the_interface_joined_again(tmp_path):
    """Its groups were left and joined, as after a new SM; its QP is the same."""
    s, a, b, _ = connected()
    s.ud(a, b, ping(a, b))
    other = number(s)
    s.leave(a, s.broadcast())
    s.join(a, s.broadcast())
    frame = second_qp(s, a, b)
    assert suspicions(s, tmp_path) == of_source(frame, other, a)


# ---- CM messages


def request(s, a, b, *, service=None, private=None):
    s.wait(1)
    c = Link(s, a, b)
    c.req(service or ib.service_id_rfc(b.qpn), ib.private_data(private or a.qpn, 65524))
    return number(s)


def test_another_qpn_in_the_private_data(tmp_path):
    s, a, b, _, reply = met()
    frame = request(s, a, b, private=WRONG)
    assert suspicions(s, tmp_path) == raised(frame, PRIVATE, reply - 1, a.qpn)


@pytest.mark.parametrize("form", [ib.service_id_rfc, ib.service_id_linux], ids=["rfc", "linux"])
def test_another_qpn_in_the_service_id(form, tmp_path):
    """The deviation of Linux's form does not excuse a wrong QPN."""
    s, a, b, _, _ = met()
    s.resolve6(a, b)
    advertised = number(s) - 2  # before the path
    frame = request(s, a, b, service=form(WRONG))
    assert suspicions(s, tmp_path) == raised(frame, SERVICE, advertised, b.qpn)


def test_a_request_of_one_that_may_have_an_older_address(tmp_path):
    """b's interface was restarted before the capture. a has requested b's new IPv4 address, but its
    table for IPv6 still has the old one."""
    s, a, b, _, _ = met()
    request(s, a, b, service=ib.service_id_rfc(WRONG))
    assert suspicions(s, tmp_path) == []


def accepted(tmp_path, form, qpn=None, refused=False):
    """c has not asked for b's address, and its REQ has another QPN of b; b answers. qpn: in the REP's
    private data."""
    s, _, b, c, _ = met()
    announced, link = number(s), Link(s, c, b)
    s.wait(1)
    link.req(form(WRONG), ib.private_data(c.qpn, 65524))
    frame, data = number(s), ib.private_data(qpn or b.qpn, 65524)
    if refused:
        link.rej(28, data)
    else:
        link.rep(data)
        link.rtu(ib.private_data(c.qpn, 65524))
    return raised(frame, SERVICE, announced, b.qpn), suspicions(s, tmp_path)


@pytest.mark.parametrize("form", [ib.service_id_rfc, ib.service_id_linux], ids=["rfc", "linux"])
def test_a_request_with_another_qpn_is_accepted(form, tmp_path):
    """b has not been restarted: a REQ with its QPN of before would have been refused."""
    expected, found = accepted(tmp_path, form)
    assert found == expected


def test_a_request_with_a_qpn_of_before_is_refused(tmp_path):
    assert accepted(tmp_path, ib.service_id_rfc, refused=True)[1] == []


def test_a_request_to_a_second_interface_is_accepted(tmp_path):
    assert accepted(tmp_path, ib.service_id_rfc, WRONG)[1] == []


def refused(asker, reason, tmp_path):
    """The asker's REQ has another QPN of b, which refuses it."""
    s, a, b, c, reply = met()
    who = a if asker == "a" else c
    s.wait(1)
    link = Link(s, who, b)
    link.req(ib.service_id_rfc(WRONG), ib.private_data(who.qpn, 65524))
    link.rej(reason, ib.private_data(b.qpn, 65524))
    return suspicions(s, tmp_path) == raised(number(s) - 1, SERVICE, reply, b.qpn)


def test_an_unknown_service_of_one_that_has_resolved_the_address(tmp_path):
    """a has b's address by ARP, and no interface of b knows the Service-ID (reason 8)."""
    assert refused("a", 8, tmp_path)


@pytest.mark.parametrize("asker, reason", [("c", 8), ("a", 28), ("a", 3)])
def test_a_refusal_that_confirms_nothing(asker, reason, tmp_path):
    """c may have b's address from before a restart of b; the other reasons are no answer."""
    assert not refused(asker, reason, tmp_path)


@pytest.mark.parametrize("service, outcome", [(2 << 56 | 0x102, "fail"), (2 << 56 | 0x999, None)])
def test_another_service_id_between_queue_pairs_that_send_ipoib(service, outcome):
    """Neither a nor b has announced its address; their datagrams show their UD QPNs. The second
    Service-ID has no QPN of b: it is that of another service, or of an interface."""
    s, a, b, _ = late()
    s.ud(a, b, ping(a, b))
    s.ud(b, a, ping(b, a, reply=True))
    request(s, a, b, service=service)
    counts = findings.counts(s.pcap())[SERVICE]
    assert counts.failed == (outcome == "fail") and counts.inconclusive == 1


def test_another_service_id_without_a_sign_of_ipoib():
    """Private data of another service, and no known QPN."""
    s, a, b, _ = late()
    s.ud(a, b, ping(a, b))
    s.wait(1)
    Link(s, a, b).req(2 << 56 | WRONG, ib.private_data(a.qpn, 65524) + b"x")
    assert SERVICE not in findings.counts(s.pcap())


# ---- REQs that cross

CROSSING = "rfc4755.3.3.simultaneous"


def crossed(reason, tmp_path, form=ib.service_id_rfc, before=None):
    """b, whose QPN is the larger, refuses a's REQ, which crosses b's."""
    s, a, b, _, _ = met()
    s.path(b, a)
    s.path(a, b)
    if before:
        before(s, a, b)
    there, back = Link(s, a, b, 8), Link(s, b, a, 9)
    there.req(form(b.qpn), ib.private_data(a.qpn, 65524))
    back.ask()
    there.rej(reason, ib.private_data(b.qpn, 65524))
    return [of for of in suspicions(s, tmp_path) if of[0] == CROSSING]


@pytest.mark.parametrize("reason", [8, 10])
def test_crossing_reqs_and_a_reason_that_the_capture_contradicts(reason, tmp_path):
    found = crossed(reason, tmp_path)
    assert [of[4] for of in found] == ["REJ, another reason"]


def test_crossing_reqs_and_other_reasons(tmp_path):
    """No resources; a Service-ID of another form than b's own; an older connection with the queue
    pair."""

    def older(s, a, b):
        link = Link(s, a, b, 8).open()
        link.close()

    assert crossed(3, tmp_path) == []
    assert crossed(8, tmp_path, form=ib.service_id_linux) == []
    assert crossed(10, tmp_path, before=older) == []


def test_the_announced_qpns(tmp_path):
    s, a, b, _, _ = met()
    request(s, a, b)
    assert suspicions(s, tmp_path) == []


def test_a_second_interface_that_announces_its_qpn_later(tmp_path):
    """a has two interfaces of the partition; the second one requests the connection."""
    s, a, b, _, _ = met()
    request(s, a, b, private=WRONG)
    s.wait(1)
    s.arp_request(a.also(qpn=WRONG, ip="10.0.0.77"), b.ip)
    assert suspicions(s, tmp_path) == []


def test_a_port_that_announced_no_qpn(tmp_path):
    """Nothing is known of c's address."""
    s, a, _, c, _ = met()
    request(s, c, a, private=WRONG)
    assert suspicions(s, tmp_path) == []


def test_a_proved_violation_is_no_suspicion(tmp_path):
    """The same in a capture from the start of the ports."""
    s, hosts = Subnet(), late()[1:]
    s.up(*hosts)
    a, b, _ = hosts
    s.resolve(a, b)
    s.wait(1)
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    s.wait(1)
    s.path(b, a)
    s.path(a, b)
    assert suspicions(s, tmp_path) == []


# ---- targets of ARP replies


def test_a_reply_to_a_target_with_another_qpn(tmp_path):
    """RFC 826: the target's address in a reply is a copy from the request. b answers a request of a
    that was not captured."""
    s, a, b, _, reply = met()
    s.wait(1)
    s.arp_reply(b, a.also(qpn=WRONG))
    assert suspicions(s, tmp_path) == raised(number(s), AS_RFC826, reply - 1, a.qpn)


def test_a_reply_to_a_second_interface(tmp_path):
    """a has two interfaces of the partition. The request of the second one was not captured; it sends
    later."""
    s, a, b, _, _ = met()
    second = a.also(qpn=WRONG, ip="10.0.0.77")
    s.wait(1)
    s.arp_reply(b, second)
    s.ud(second, b, ping(second, b))
    assert suspicions(s, tmp_path) == []


def test_a_reply_whose_request_was_not_captured(tmp_path):
    s, a, b, _, _ = met()
    s.wait(1)
    s.arp_reply(b, a)
    assert suspicions(s, tmp_path) == []


def test_a_reply_to_an_interface_that_was_restarted(tmp_path):
    """Its request, and its announcement, have the new QPN."""
    s, a, b, _, _ = met()
    s.wait(1)
    s.arp_request(a.also(qpn=WRONG), b.ip)
    s.arp_reply(b, a.also(qpn=WRONG))
    assert suspicions(s, tmp_path) == []


# ---- an address that was not resolved


def announced_by_rs():
    """b announces its link-layer address for its IPv6 address only."""
    s, a, b, _ = late()
    option = ib.nd_lladdr_option(1, b.addr)
    s.ud(b, s.group6("ff02::2"), nd(b, "ff02::2", ib.nd_rs(option)))
    s.wait(1)
    return s, a, b


def inconclusive(s):
    counts = findings.counts(s.pcap())
    return counts[TO_QPN].inconclusive if TO_QPN in counts else 0


def test_an_unknown_qpn_of_a_port_that_announced_another_one():
    s, a, b = announced_by_rs()
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    assert inconclusive(s) == 1


def test_the_announced_qpn_or_one_that_sends_ipoib():
    s, a, b = announced_by_rs()
    other = b.also(qpn=WRONG, ip="10.0.0.99")
    s.ud(other, a, ping(other, a))
    s.ud(a, b, ping(a, b))
    s.ud(a, other, ping(a, other))
    assert inconclusive(s) == 0


def test_a_port_that_announced_nothing():
    s, a, b, _ = late()
    s.ud(a, b.also(qpn=WRONG), ping(a, b))
    assert inconclusive(s) == 0
