# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains that broke the law of degradation (script/law) once: the law holds there now. Those that
begin with "keep" are in their smallest form."""
import os
import subprocess

import pytest

from support import corpus
from support.paths import BUILD

PROGRAM = os.path.join(BUILD, "tests/law-chains")

# The situation, the capture, the chain.
FOUND = [
    (
        "data of the responder whose copy is near the RTU",
        "counterpart/RC_the_responder_right_before_the_RTU",
        "keep 131-136; double -1 3; swap 2500000 135",
    ),
    (
        "data before a leave, of which one capture point has only a damaged copy",
        "unusual/leaves_and_joins_again",
        "keep 25,32-38; CRCs inverted 1-12,14,16,18,20,22,24,26-41; double 2 0",
    ),
    (
        "data of another protocol with the next PSN after the only message of a connection",
        "unusual/other_protocol_has_the_queue_pairs_of_an_ended_connection",
        "keep 43-44,46,57",
    ),
    (
        "a later connection with the next PSN after the only message before the end",
        "unusual/ids_and_queue_pairs_are_reused",
        "keep 43-44,48-51,57-58,66",
    ),
    (
        "the SA's response to the leave of a FullMember whose join was not captured",
        "unusual/leaves_one_join_state_with_an_echo",
        "keep 13,15,17,19-20,44-46,48",
    ),
    (
        "a later connection of the sender, whose REP was not captured",
        "counterpart/the_same_its_rep_was_not_captured",
        "keep 131-133,138,143-144,146-149,151",
    ),
    (
        "data of a later connection with the same queue pairs and Starting PSN",
        "counterpart/a_later_connection_with_the_same_queue_pairs_has_larger_Receive_MTUs",
        "keep 131-132,151",
    ),
    (
        "both replies with the address that an interface had before its restart",
        "unusual/peers_have_the_address_before_a_restart",
        "keep 1-57,59-63,65-89",
    ),
    (
        "the reply of a second interface, whose join was captured",
        "unusual/two_interfaces_of_a_port_connect",
        "keep 1-41,43-61",
    ),
    (
        "a join before the SM set an active port to Active",
        "unusual/active_port_is_set_to_active",
        "keep 1-40,43-53",
    ),
    (
        "a long datagram without CRCs",
        "rfc4391.7.link-mtu.fail.pcap",
        "CRCs none all",
    ),
    (
        "a REP of a missed REQ that reuses IDs",
        "built/built-cm-reuse.pcap",
        "keep 1,8",
    ),
    (
        "the same after IP",
        "unusual/ids_and_queue_pairs_are_reused",
        "keep 52,56-57,62",
    ),
    (
        "a join that was cut",
        "qpn-change.pcap",
        "keep 102,123-124,126,157; cut 124:52",
    ),
    (
        "a join cut in its record",
        "mlid-change.pcap",
        "keep 291,315,319,324,327; cut 319:113",
    ),
    (
        "a request to leave after its response",
        "unusual/send_only_member_becomes_full_member",
        "keep 33-34; swap 10000000 33",
    ),
    (
        "a deviation whose client was truncated",
        "rfc4390.2.1.chaddr.fail-2.pcap",
        "keep 64; slice 316",
    ),
    (
        "a datagram that is repeated after the response to a later leave",
        "unusual/leaves_and_joins_again",
        "keep 32,34-36; swap 10000000 35; duplicate 10000000 34:1",
    ),
    (
        "a group that is made again unseen",
        "unusual/group_is_deleted_and_made_again_with_another_mlid",
        "keep 1-33,40",
    ),
    (
        "an address that changed, by another clock",
        "qpn-change.pcap",
        "split 1; clock 1 60000000000",
    ),
    (
        "the same, violated",
        "rfc4391.9.4.revalidate-arp.fail.pcap",
        "split 1; clock 1 -60000000000",
    ),
    (
        "a late NA, by its clock",
        "rfc4755.3.1.reply-to-ud-qpn.fail-2.pcap",
        "split 2; clock 1 60000000000",
    ),
    (
        "a late ARP reply",
        "rfc4391.9.2.arp-as-rfc826.fail-2.pcap",
        "split 2; clock 1 -60000000000",
    ),
    (
        "crossing REQs, by two clocks",
        "rfc4755.3.3.simultaneous.fail.pcap",
        "split 1; clock 1 60000000000",
    ),
    (
        "a solicitation after its response",
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        "keep 59-60,62,64,66-67; swap 10000000 59",
    ),
    (
        "an advertisement that was cut before its target",
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        "keep 58-60,62,64,66-67; cut 60:39",
    ),
    (
        "the same, captured before its solicitation",
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        "keep 59-60,62,64,66-67; swap 10000000 59; cut 60:89",
    ),
    (
        "a solicitation that was captured twice, and a missed one",
        "rfc4755.3.1.reply-to-ud-qpn.pass-2.pcap",
        "keep 50,54-60,62,64,66-67; duplicate 5000000 59:1",
    ),
    (
        "an exchange of two LIDs that was not captured",
        "unusual/lids_of_two_ports_are_exchanged",
        "keep 14,17,60,110",
    ),
    (
        "a P_Key table whose directed route was truncated",
        "sm.failover-rejoin.shown.pcap",
        "cut 43:162,48:198,57:96",
    ),
    (
        "a leave, cut before its MGID, after its response",
        "unusual/leaves_and_joins_again",
        "swap 10000000 30; duplicate 10000000 29:1; cut 30:96",
    ),
    (
        "a DREQ missed by a capture that begins with the connection",
        "base.again.pcap",
        "keep 45-106,122-125",
    ),
    (
        "a REP before its REQ, and repeated",
        "unusual/rep_is_repeated_after_data",
        "swap 10000000 43",
    ),
    (
        "a leave without its request, before the port's first request",
        "qpn-change.pcap",
        "keep 101,124,127,157",
    ),
    (
        "a REQ that was cut, after the end of a connection with its queue pairs",
        "counterpart/the_same_its_rep_was_not_captured",
        "cut 147:158",
    ),
    (
        "a REP without its REQ, after the end of a connection with its queue pair",
        "counterpart/a_later_connection_has_the_queue_pairs_of_an_ended_one",
        "keep 131-132,137,139,143-145,148,150,174",
    ),
    (
        "a REP that was cut, before the REJ of the connection that had its queue pair",
        "counterpart/the_same_the_REQs_cross_and_the_REJ_comes_after_the_REP",
        "keep 1-131,133-186; cut 133:60",
    ),
    (
        "an NA to the interface of another scope, with the same link-local address",
        "two-scopes.pcap",
        "keep 70-73,82,84,87-88,94; duplicate 10000000 88:1; split 1; clock 1 1",
    ),
    (
        "the same, after a unicast solicitation to the other interface",
        "two-scopes.pcap",
        "keep 101-109,112",
    ),
    (
        "a join whose response follows data",
        "unusual/connection_stays_while_groups_are_joined_again",
        "swap 2500000 47-59",
    ),
    (
        "a leave and joins that were cut, some captured twice",
        "unusual/connection_stays_while_groups_are_joined_again",
        "duplicate 5000000 46:1,48:6; cut 46:169,48:103,53:13,54:23,56:204",
    ),
    (
        "the smallest form of these two",
        "unusual/connection_stays_while_groups_are_joined_again",
        "keep 43-45,51,56",
    ),
    (
        "a port's first request, after a response to it",
        "unusual/program_leaves_the_broadcast_group_with_an_echo",
        "keep 14,35,39",
    ),
    (
        "a REP that was cut and captured before its REQ, and repeated after data of the requester",
        "unusual/rep_is_repeated_after_data",
        "keep 39,43-46,48; swap 2500000 40-46,48-51; cut 44:62",
    ),
]


@pytest.fixture(scope="module")
def files():
    return corpus.everything()


@pytest.mark.parametrize("name, chain", [f[1:] for f in FOUND], ids=[f[0] for f in FOUND])
def test_the_law_holds(files, name, chain, tmp_path):
    path = tmp_path / "capture"
    path.write_bytes(files[name])
    command = [PROGRAM, "--chain", chain, str(path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (
        done.stdout.startswith("0 of 1 chains break the law") and not done.returncode
    ), done.stdout
