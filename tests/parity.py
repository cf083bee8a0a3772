#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin and the pure decoder agree: for every capture of testdata, tshark's fields against wire-fields.

Environment: IPOIB_SRC, IPOIB_BUILD, IPOIB_TSHARK. Output: TAP."""
import glob
import ipaddress
import os
import subprocess
import sys

from tap import BUILD, SRC, TSHARK, finish, skip, tap

FIELDS = """ipoib.type ipoib.reserved ipoib.lladdr ipoib.lladdr.flags ipoib.lladdr.flags.rc ipoib.lladdr.flags.uc
ipoib.lladdr.flags.reserved ipoib.lladdr.qpn ipoib.lladdr.gid ipoib.mgid ipoib.mgid.flags ipoib.mgid.transient
ipoib.mgid.scope ipoib.mgid.signature ipoib.mgid.pkey ipoib.mgid.ipv4 ipoib.mgid.ipv6 ipoib.sa.status
ipoib.sa.join_state ipoib.sa.mtu ipoib.sa.rate ipoib.sa.component_mask ipoib.cm.service_id ipoib.cm.service_id.qpn
ipoib.cm.ud_qpn ipoib.cm.recv_mtu ipoib.cm.reserved""".split()
NOT_READ = 3  # exit status of wire-fields: libpcap cannot read the capture
# what only a REQ's own octets show to a decoder without state
STATEFUL = {"ipoib.cm.ud_qpn", "ipoib.cm.recv_mtu", "ipoib.cm.reserved", "ipoib.cm.service_id", "ipoib.cm.service_id.qpn"}


def normal(value):
    """One spelling for a value: numbers as numbers, booleans as 0 and 1, IPv6 compressed, octets without colons."""
    if value in ("True", "False"):
        return int(value == "True")
    for read in (lambda v: int(v, 0), lambda v: str(ipaddress.ip_address(v))):
        try:
            return read(value)
        except ValueError:
            pass
    return value.replace(":", "").lower()


def values(text):
    return [normal(v) for v in text.split(",")] if text else []


def by_wire(capture):
    out = subprocess.run([os.path.join(BUILD, "bin/wire-fields"), capture], capture_output=True, text=True)
    if out.returncode == NOT_READ:
        return None
    if out.returncode:
        raise RuntimeError("wire-fields: exit status %d\n%s" % (out.returncode, out.stderr[:2000]))
    frames = {}
    for line in out.stdout.splitlines():
        number, *rest = line.split("\t")
        frames[int(number)] = None if rest == ["-"] else {k: values(v) for k, v in (r.split("=", 1) for r in rest)}
    return frames


def by_tshark(capture):
    command = TSHARK + ["-r", capture, "-T", "fields", "-e", "frame.number", "-e", "ipoib.cm.message",
                         "-e", "ipoib.connection.service"]
    for field in FIELDS:
        command += ["-e", field]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode:
        raise RuntimeError(out.stderr.strip())
    frames = {}
    for line in out.stdout.splitlines():
        number, message, service, *rest = line.split("\t")
        # data of another protocol's connection: the decoder without state sees no connection
        foreign = service not in ("", "1", "2") and not message
        frames[int(number)] = (foreign, message, {f: values(v) for f, v in zip(FIELDS, rest)})
    return frames


def compare(capture):
    """Differences, and the number of values that were compared."""
    wire, tshark, problems, compared = by_wire(capture), by_tshark(capture), [], 0
    if wire is None:
        return None, 0
    if len(wire) != len(tshark):
        return ["%d frames by the decoder, %d by tshark" % (len(wire), len(tshark))], 0
    for number, fields in wire.items():
        foreign, message, shown = tshark[number]
        if fields is None or foreign:
            continue
        for field in FIELDS:
            if field in STATEFUL and message != "0x0010":
                continue
            a, b = fields.get(field, []), shown[field]
            compared += len(a)
            if a != b:
                problems.append("frame %d %s: decoder %s, tshark %s" % (number, field, a, b))
    return problems, compared


def main():
    captures = sorted(glob.glob(os.path.join(SRC, "testdata/*.pcap*")) + glob.glob(os.path.join(SRC, "testdata/built/*.pcap*")))
    total = 0
    for capture in captures:
        name = os.path.basename(capture)
        try:
            problems, compared = compare(capture)
        except RuntimeError as e:
            problems, compared = str(e).splitlines(), 0
        total += compared
        if problems is None:
            skip(name, "libpcap cannot read it")
        else:
            tap(not problems, name if problems else "%s: %d values agree" % (name, compared), problems)
    if total < 1000:
        tap(False, "enough values were compared", "only %d" % total)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
