# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs ipoib-probe through a simulated IPoIB network interface, without an adapter.

The interface is a TUN device of link type InfiniBand in a network namespace of its own, so the
probe's packet socket is a real one. A tmpfs over /sys/class describes it as ib_ipoib does. This
program is the peer: it reads what the probe sends, and replies.

Format of a frame: the pseudo-header of ib_ipoib (20 bytes: the destination address when sending,
zeros on receipt), the encapsulation header of RFC 4391 section 6, the payload. Before it TUN has 4
bytes: flags and EtherType.

    unshare ... played_interface.py JSON PROGRAM...

JSON: the members of Peer. The output is JSON: status, stdout, stderr, and frames (hex)."""
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys

import wait

NAME = "ib9"
TUNSETIFF, TUNSETLINK, IFF_TUN, ARPHRD_INFINIBAND = 0x400454CA, 0x400454CD, 1, 32
OWN = bytes.fromhex("80000048 fe80000000000000 0002c90300000001")
PEER = bytes.fromhex("80000049 fe80000000000000 0002c90300000002")
SECOND_STATION = bytes.fromhex("8000004a fe80000000000000 0002c90300000003")
BROADCAST = bytes.fromhex("00ffffff ff12401bffff0000 00000000ffffffff")
PEER_IPV4 = bytes((10, 0, 0, 2))
OWN_IPV4 = bytes([10, 0, 0, 1])
# Its link-local address: the GUID with the universal/local bit inverted (RFC 4391 section 8).
PEER_IPV6 = bytes.fromhex("fe80000000000000 0202c90300000002")
ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
LIMIT = 60  # seconds


def colons(address):
    return ":".join(f"{b:02x}" for b in address) + "\n"


PORT = f"{NAME}/device/infiniband/hca0/ports/1"
SYSFS = {
    f"{NAME}/type": f"{ARPHRD_INFINIBAND}\n",
    f"{NAME}/address": colons(OWN),
    f"{NAME}/broadcast": colons(BROADCAST),
    f"{NAME}/pkey": "0xffff\n",
    f"{NAME}/mode": "datagram\n",
    f"{NAME}/mtu": "2044\n",
    f"{NAME}/flags": "0x1003\n",
    f"{NAME}/dev_port": "0x0\n",
    f"{NAME}/carrier": "1\n",
    f"{PORT}/lid": "0x3\n",
    f"{PORT}/sm_lid": "0x1\n",
    f"{PORT}/lid_mask_count": "0\n",
    f"{PORT}/state": "4: ACTIVE\n",
    f"{PORT}/rate": "100 Gb/sec (4X EDR)\n",
    f"{PORT}/pkeys/0": "0xffff\n",
    "eth9/type": "1\n",
}


def describe(folder, files):
    """Writes files of sysfs, as ib_ipoib shows them; those that are None are left out."""
    for path, text in files.items():
        if text is not None:
            os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
            with open(f"{folder}/{path}", "w", encoding="ascii") as f:
                f.write(text)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def arp(op, sha, spa, tha, tpa):
    """RFC 826 with the lengths of RFC 4391 section 9.1.1."""
    return struct.pack(">HHBBH", ARPHRD_INFINIBAND, IPV4, 20, 4, op) + sha + spa + tha + tpa


def echo_reply(datagram):
    """The reply to an echo request of the kernel (RFC 792, RFC 4443), or None."""
    if datagram[0] >> 4 == 4 and datagram[9] == 1 and datagram[20] == 8:
        icmp = b"\0\0\0\0" + datagram[24:]
        icmp = icmp[:2] + struct.pack(">H", checksum(icmp)) + icmp[4:]
        return IPV4, datagram[:12] + datagram[16:20] + datagram[12:16] + icmp
    if datagram[0] >> 4 == 6 and datagram[6] == 58 and datagram[40] == 128:
        sender, to = datagram[24:40], datagram[8:24]
        icmp = b"\x81\0\0\0" + datagram[44:]
        pseudo = sender + to + struct.pack(">II", len(icmp), 58)
        icmp = icmp[:2] + struct.pack(">H", checksum(pseudo + icmp)) + icmp[4:]
        return IPV6, datagram[:8] + sender + to + icmp
    return None


def advertisement(to, lladdr):
    """An NA with its target's address (RFC 4861 section 4.4, RFC 4391 section 9.2)."""
    flags = 0x20000000 if to[0] == 0xFF else 0x60000000
    icmp = struct.pack(">BBHI", 136, 0, 0, flags) + PEER_IPV6 + b"\2\3\0\0" + lladdr
    pseudo = PEER_IPV6 + to + struct.pack(">II", len(icmp), 58)
    icmp = icmp[:2] + struct.pack(">H", checksum(pseudo + icmp)) + icmp[4:]
    return struct.pack(">IHBB", 0x60000000, len(icmp), 58, 255) + PEER_IPV6 + to + icmp


class Peer:
    """The peer of the probe, and what happens to the interface.

    hosts: further hosts: {last octet of 10.0.0.x: {"echo": ..., "largest": ...}}; their GUID ends with x.
    replies: whether it replies. echo: also to the kernel's ping; "other type", "wrong checksum": wrongly. largest: of its datagrams, bytes. silent_after: the number of replies after which it does not any more.
    addresses: those of the interface. commands: run after them. infiniband: files of its devices. infiniband_mad: of libibumad's. debugfs: of ib_ipoib. sysfs_then: files of sysfs that change at that time. edits: {offset in the frame: hex}, changes of its ARP replies.
    sysfs_after: the number of frames after which sysfs_then holds. runts: every truncation of a reply arrives before it. large: the size of a frame that comes
    before each reply. second_station: a second station replies too. duplicate: it replies for 10.0.0.1, an address of this host. after: "interrupt", "down" or "gone",
    what happens when frame number at was sent."""

    def __init__(self, tun, given):
        self.tun, self.frames = tun, []
        self.replies = given.get("replies", True)
        self.left, self.sysfs_then = given.get("silent_after"), given.get("sysfs_then", {})
        self.edits = {int(at): bytes.fromhex(b) for at, b in given.get("edits", {}).items()}
        self.sysfs_after = given.get("sysfs_after")
        self.runts, self.large = given.get("runts", False), given.get("large", 0)
        self.hosts = {PEER_IPV4: given}
        for octet, host in given.get("hosts", {}).items():
            self.hosts[bytes((10, 0, 0, int(octet)))] = host
        self.second_station = given.get("second_station", False)
        self.duplicate = given.get("duplicate", False)
        self.after, self.at = given.get("after"), given.get("at", 1)

    def send(self, ether_type, payload):
        frame = bytearray(bytes(20) + struct.pack(">HH", ether_type, 0) + payload)
        for at, octets in self.edits.items() if ether_type == ARP else ():
            frame[at : at + len(octets)] = octets
        head = struct.pack(">HH", 0, ether_type)
        for n in range(len(frame)) if self.runts else ():
            os.write(self.tun, head + frame[:n])
        if self.large:
            os.write(self.tun, head + bytes(frame).ljust(self.large, b"\0"))
        os.write(self.tun, head + frame)

    def reply(self, ether_type, payload):
        if ether_type == ARP and payload[-4:] in self.hosts and payload[7] == 1:
            sha, spa = payload[8:28], payload[28:32]
            port = PEER[:-1] + payload[-1:]
            for lladdr in (port, SECOND_STATION) if self.second_station else (port,):
                self.send(ARP, arp(2, lladdr, payload[-4:], sha, spa))
        elif ether_type == ARP and payload[-4:] == OWN_IPV4 and payload[7] == 1 and self.duplicate:
            self.send(ARP, arp(2, SECOND_STATION, OWN_IPV4, payload[8:28], payload[28:32]))
        elif ether_type == IPV6 and payload[6] == 58 and payload[40] == 135:
            requester = payload[8:24]
            all_nodes = bytes.fromhex("ff02000000000000 0000000000000001")
            if payload[48:64] == PEER_IPV6:
                self.send(IPV6, advertisement(requester if any(requester) else all_nodes, PEER))

    def take(self, frame):
        self.frames.append(frame)
        if self.left == 0:
            self.replies, self.left = False, None
            describe("/sys/class/net", self.sysfs_then)
        if len(frame) >= 24 and self.replies:
            self.left = self.left and self.left - 1
            if self.sysfs_after == len(self.frames):
                describe("/sys/class/net", self.sysfs_then)
            self.reply(struct.unpack_from(">H", frame, 20)[0], frame[24:])

    def take_of_kernel(self, datagram):
        """Answers the kernel's ping, which needs no address resolution here."""
        host = self.hosts.get(datagram[16:20], self.hosts[PEER_IPV4])
        fits, echo = len(datagram) <= host.get("largest", 65535), host.get("echo", True)
        answer = echo_reply(datagram) if self.replies and echo and fits else None
        if answer and echo == "other type":
            answer = 0x88B5, answer[1]
        elif answer and echo == "wrong checksum":
            answer = answer[0], answer[1][:-1] + bytes([answer[1][-1] ^ 1])
        if answer:
            os.write(self.tun, struct.pack(">HH", 0, answer[0]) + answer[1])

    def disturb(self, program):
        """Returns False if the interface is gone."""
        if len(self.frames) != self.at:
            return True
        if self.after == "interrupt":
            program.send_signal(signal.SIGINT)
        elif self.after == "down":
            subprocess.run(["ip", "link", "set", NAME, "down"], check=True)
        return self.after != "gone"


def large_pipe():
    """Both ends. Its default size would be full before the report of several hosts ends. All pipes
    of an ordinary user have 64 MiB (pipe-user-pages-soft), and 32 programs run at a time."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 18)
    return read, write


def play(tun, program, given):
    """Replies until the program ends. Returns the peer."""
    peer, clock = Peer(tun, given), wait.Clock()
    ended = os.pidfd_open(program.pid)
    while clock.seconds() < LIMIT:
        ready = select.select([ended] + ([tun] if tun >= 0 else []), [], [], 1)[0]
        if tun in ready:
            try:
                frame = os.read(tun, 65536)[4:]
            except OSError:  # the interface is down
                os.close(tun)
                tun = -1
                continue
            # What the kernel itself sends has no pseudo-header: it begins with the IP version.
            if frame[:1] and frame[0] >> 4 in (4, 6):
                peer.take_of_kernel(frame)
            elif frame[20:22] in (b"\x08\x06", b"\x08\x00", b"\x86\xdd"):
                peer.take(frame)
                if not peer.disturb(program):
                    os.close(tun)
                    tun = -1
        elif ended in ready:
            return peer
    program.kill()
    raise TimeoutError("the probe does not end")


def make_interface(state):
    """Returns the TUN device's file descriptor."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", NAME.encode(), IFF_TUN))
    fcntl.ioctl(tun, TUNSETLINK, ARPHRD_INFINIBAND)
    subprocess.run(["ip", "link", "set", NAME, "mtu", "4096", state], check=True)
    return tun


def text_of(pipe):
    with os.fdopen(pipe, encoding="utf-8", errors="replace") as file:
        return file.read()


def main(given, command):
    tun = make_interface(given.get("state", "up"))
    for address in given.get("addresses", ()):
        subprocess.run(["ip", "addr", "add", address, "dev", NAME], check=True)
    for line in given.get("commands", ()):
        subprocess.run(line.split(), check=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/class"], check=True)
    describe("/sys/class/net", {**SYSFS, **given.get("sysfs", {})})
    describe("/sys/class/infiniband", given.get("infiniband", {}))
    describe("/sys/class/infiniband_mad", given.get("infiniband_mad", {}))
    if "debugfs" in given:
        subprocess.run(["mount", "-t", "tmpfs", "none", "/sys/kernel/debug"], check=True)
        describe("/sys/kernel/debug/ipoib", given["debugfs"])
    # Pipes: a test may limit the size of files.
    out, err = large_pipe(), large_pipe()
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=out[1], stderr=err[1]
    ) as program:
        os.close(out[1])
        os.close(err[1])
        peer = play(tun, program, given)
        program.wait()
    out, err = text_of(out[0]), text_of(err[0])
    frames = [f.hex() for f in peer.frames]
    json.dump({"status": program.returncode, "out": out, "err": err, "frames": frames}, sys.stdout)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
