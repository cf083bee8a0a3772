# SPDX-License-Identifier: GPL-2.0-or-later
"""ipoib-capture convert --share-key: captures that are shared with one key have the same
replacements, and a key file is never incomplete, lost, or readable by other users."""
import ipaddress
import os
import resource
import signal

import pytest

from frames import ib
from frames.build import erf_pcap
from frames.fabric import A, B, Tape
from support import capfile
from support.convert import convert
from support.paths import testdata
from support.share import packets, rules

KEY = "000102030405060708090a0b0c0d0e0f\n"
GRH_SGID, GRH_DGID = 16, 32  # after the LRH of 8 bytes (IBA 8.3)


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_text(KEY)
    path.chmod(0o600)
    return path


def datagram(source, destination):
    """A capture of one UDP datagram."""
    t = Tape()
    udp = ib.udp(source.ip, destination.ip, 5000, 5001, b"payload")
    t.ud(
        source,
        destination,
        ib.encap(0x0800, ib.ipv4(source.ip, destination.ip, 17, udp)),
        grh=True,
    )
    return erf_pcap(t)


def ip_addresses(packet):
    """(source, destination)"""
    at = packet.index(bytes.fromhex("08000000")) + 4  # the encapsulation header
    return packet[at + 12 : at + 16], packet[at + 16 : at + 20]


def addresses(path):
    """(source, destination) GID and IP address of the only packet."""
    (packet,) = packets(path)
    gids = packet[GRH_SGID:GRH_DGID], packet[GRH_DGID : GRH_DGID + 16]
    return gids, ip_addresses(packet)


def share(tmp_path, name, data, *options):
    (tmp_path / "in.pcap").write_bytes(data)
    convert(*options, tmp_path / "in.pcap", tmp_path / name)
    return addresses(tmp_path / name)


def test_captures_of_two_hosts_have_the_same_replacements(tmp_path, key):
    """What one host sends, the other receives."""
    sent = share(tmp_path, "a.pcap", datagram(A, B), "--share-key", key)
    back = share(tmp_path, "b.pcap", datagram(B, A), "--share-key", key)
    assert sent == tuple(side[::-1] for side in back)
    gids, ips = sent
    assert ipaddress.ip_address(A.gid).packed not in gids
    assert ipaddress.ip_address(A.ip).packed not in ips


def test_without_a_key_each_run_has_other_replacements(tmp_path):
    sent = share(tmp_path, "a.pcap", datagram(A, B), "--share")
    back = share(tmp_path, "b.pcap", datagram(B, A), "--share")
    assert sent != tuple(side[::-1] for side in back)


def test_findings_stay(tmp_path, key):
    convert("--share-key", key, testdata("mixed.pcap"), tmp_path / "out.pcap")
    assert rules(tmp_path / "out.pcap") == rules(testdata("mixed.pcap"))


def test_mapping_is_keyed_by_siphash(tmp_path, key):
    """The key is the one of the test vectors in the SipHash paper, so other implementations can
    repeat this: bit i of an IPv4 address is flipped by bit 0 of the hash of (kind << 8 | i, the
    bits before it), both little-endian; kind 1 is IPv4. 10.0.0.0/8 stays."""
    _, (source, _) = share(tmp_path, "a.pcap", datagram(A, B), "--share-key", key)
    value = expected = int(ipaddress.ip_address(A.ip))
    words = [int.from_bytes(bytes.fromhex(KEY)[i : i + 8], "big") for i in (0, 8)]
    for i in range(8, 32):
        expected ^= (siphash(words, [1 << 8 | i, value >> (32 - i)]) & 1) << (31 - i)
    assert A.ip.startswith("10.") and expected & 0xFF00 != 0xFF00 and expected & 0xFF != 0xFF
    assert int.from_bytes(source, "big") == expected


def siphash(key, words):
    """SipHash-2-4 (Aumasson, Bernstein 2012) of whole 64-bit words."""
    mask = (1 << 64) - 1
    start = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [s ^ key[i % 2] for i, s in enumerate(start)]

    def half(a, b, c, d, left, right):
        """Half a round: two additions, each with a rotation."""
        for to, other, n in ((a, b, left), (c, d, right)):
            v[to] = (v[to] + v[other]) & mask
            v[other] = (v[other] << n | v[other] >> (64 - n)) & mask ^ v[to]
        v[a] = (v[a] << 32 | v[a] >> 32) & mask

    def rounds(n):
        for _ in range(n):
            half(0, 1, 2, 3, 13, 16)
            half(2, 1, 0, 3, 17, 21)

    for word in [*words, (8 * len(words)) << 56]:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@pytest.mark.parametrize("network", ["10.1.2.0/24", "10.1.0.0/16", "192.168.7.0/24"])
def test_broadcast_address_stays_one_and_no_other_becomes_one(network, tmp_path):
    """RFC 919 section 7: the host bits are all ones."""
    network = ipaddress.ip_network(network)
    hosts = [ipaddress.ip_address(A.ip), network.broadcast_address]
    hosts += [network.broadcast_address - n for n in (1, 2, 127, 128, 254)]
    t = Tape()
    for host in hosts:
        packet = ib.ipv4(A.ip, str(host), 17, ib.udp(A.ip, str(host), 5000, 5001, b""))
        t.ud(A, B, ib.encap(0x0800, packet), grh=True)
    before = tmp_path / "before.pcap"
    before.write_bytes(erf_pcap(t))
    for run in range(20):
        convert("--share", before, tmp_path / f"{run}.pcap")
        to = [ip_addresses(packet)[1] for packet in packets(tmp_path / f"{run}.pcap")]
        ones = 32 - network.prefixlen
        is_broadcast = [int.from_bytes(p, "big") % (1 << ones) == (1 << ones) - 1 for p in to]
        assert is_broadcast == [False, True] + [False] * 5


def test_siphash_of_this_test():
    """The vector of 8 bytes of the reference implementation: key 00..0f, message 00..07."""
    key = [0x0706050403020100, 0x0F0E0D0C0B0A0908]
    assert siphash(key, [0x0706050403020100]) == 0x93F5F5799A932462


# The key file.


def test_missing_file_is_created_once(tmp_path):
    key = tmp_path / "key"
    umask = os.umask(0)
    try:
        text = convert("--share-key", key, testdata("datagram.pcap"), tmp_path / "a.pcap")
    finally:
        os.umask(umask)
    assert f"{key}: created; whoever has it can undo the mapping" in text
    assert key.stat().st_mode & 0o777 == 0o600
    made = key.read_text()
    assert len(bytes.fromhex(made)) == 16 and made.endswith("\n")
    text = convert("--share-key", key, testdata("datagram.pcap"), tmp_path / "b.pcap")
    assert "created" not in text and key.read_text() == made
    assert (tmp_path / "a.pcap").read_bytes() == (tmp_path / "b.pcap").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.pcap", "b.pcap", "key"]


def test_two_new_files_have_two_keys(tmp_path):
    for name in ("one", "two"):
        convert("--share-key", tmp_path / name, testdata("datagram.pcap"), tmp_path / "out.pcap")
    assert (tmp_path / "one").read_text() != (tmp_path / "two").read_text()


def refused(tmp_path, key, says, **how):
    """No capture is written."""
    out = tmp_path / "out.pcap"
    convert("--share-key", key, testdata("datagram.pcap"), out, status=1, says=says, **how)
    assert not out.exists()


@pytest.mark.parametrize(
    "text, says",
    [
        pytest.param("", "it is truncated", id="empty"),
        pytest.param(KEY[:31] + "\n", "it is truncated", id="short"),
        pytest.param(KEY[:32] + "0\n", "this is not a key", id="long"),
        pytest.param(KEY + KEY, "this is not a key", id="two"),
        pytest.param("x" * 32, "this is not a key", id="text"),
        pytest.param("\0" * 200, "this is not a key", id="binary"),
    ],
)
def test_other_contents_are_refused(tmp_path, key, text, says):
    key.write_text(text)
    refused(tmp_path, key, f"--share-key: {key}: cannot read the key: {says}")
    assert key.read_text() == text


def test_line_end_of_other_systems_and_capitals(tmp_path, key):
    for text in (KEY, KEY[:32], KEY[:32] + "\r\n", KEY.upper()):
        key.write_text(text)
        convert("--share-key", key, testdata("datagram.pcap"), tmp_path / "out.pcap")
        made = (tmp_path / "out.pcap").read_bytes()
        assert made == (tmp_path / "first.pcap").read_bytes() if text != KEY else True
        (tmp_path / "first.pcap").write_bytes(made)


def test_unreadable_key(tmp_path):
    refused(tmp_path, tmp_path, "cannot read the key: is a directory")
    refused(tmp_path, tmp_path / "no" / "key", "cannot create the key: No such file or directory")


def test_key_that_others_can_access(tmp_path, key):
    for mode in (0o640, 0o604, 0o620):
        key.chmod(mode)
        refused(tmp_path, key, rf"other users can access the key \(mode 0{mode:o}\): chmod 600")


@pytest.mark.parametrize("room", [0, 10])
def test_full_disk(tmp_path, room):
    """A limit of the file's size acts like a disk with that much room."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    says = "cannot create the key: (File too large|No space left on device)"
    refused(tmp_path, tmp_path / "key", says, restore_signals=False, preexec_fn=limit)
    assert os.listdir(tmp_path) == []


def test_key_is_not_overwritten(tmp_path, key):
    os.link(key, tmp_path / "same")
    for out in (key, tmp_path / "same"):
        says = f"{out}: is the key file; write to another file"
        convert("--share-key", key, testdata("datagram.pcap"), out, status=1, says=says)
    assert key.read_text() == KEY


def test_new_key_is_not_overwritten(tmp_path):
    """Nor under another name of its folder: it is not created."""
    (tmp_path / "same").symlink_to(".")
    for key, out in (("key", "key"), ("other", "same/other")):
        says = f"{out}: is the key file; write to another file"
        path = testdata("datagram.pcap")
        convert("--share-key", tmp_path / key, path, tmp_path / out, status=1, says=says)
        assert not (tmp_path / key).exists()


def test_no_key_is_created_without_an_input(tmp_path):
    key, missing, out = tmp_path / "key", tmp_path / "missing.pcap", tmp_path / "out.pcap"
    says = "missing.pcap: No such file or directory"
    convert("--share-key", key, missing, out, status=1, says=says)
    assert os.listdir(tmp_path) == []


def test_key_through_a_pipe(tmp_path, key):
    read, write = os.pipe()
    os.write(write, KEY.encode())
    os.close(write)
    path = f"/dev/fd/{read}"
    convert("--share-key", path, testdata("datagram.pcap"), tmp_path / "a.pcap", pass_fds=[read])
    os.close(read)
    convert("--share-key", key, testdata("datagram.pcap"), tmp_path / "b.pcap")
    assert capfile.load(tmp_path / "a.pcap") == capfile.load(tmp_path / "b.pcap")
