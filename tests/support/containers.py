# SPDX-License-Identifier: GPL-2.0-or-later
"""The file formats for a capture's frames: pcap, pcapng, ERF, each in its variants, compressed or
not."""
import dataclasses
import gzip

from support import capfile


def _plain(frames):
    return [(f.time, f.data, f.wire) for f in frames]


def _pcap(**options):
    return lambda linktype, frames: capfile.pcap(linktype, _plain(frames), **options)


def _pcapng(endian):
    def write(linktype, frames):
        """Writes one interface if all frames arrived on the first."""
        interfaces = 1 + max((f.interface for f in frames), default=0)
        with_interface = [capfile.Frame(f.time, f.data, f.wire, f.interface) for f in frames]
        return capfile.pcapng([linktype] * interfaces, with_interface, endian)

    return write


def erf_record(frame):
    """Flags: bits 0 and 1 are the interface, bit 2 says that the length varies."""
    return capfile.erf_record(frame.time, frame.data, frame.wire, 4 | frame.interface)


def _erf(_, frames):
    return b"".join(erf_record(f) for f in frames)


def _erf_pcap(_, frames):
    records = [(f.time, erf_record(f), 16 + f.wire) for f in frames]
    return capfile.pcap(capfile.ERF, records, nanoseconds=True)


FORMS = {
    "pcap": _pcap(nanoseconds=True),
    "pcap, microseconds": _pcap(nanoseconds=False),
    "pcap, big-endian": _pcap(nanoseconds=True, endian=">"),
    "pcapng": _pcapng("<"),
    "pcapng, big-endian": _pcapng(">"),
    "erf": _erf,
    "erf in pcap": _erf_pcap,
}
OF_INFINIBAND = ("erf", "erf in pcap")
WITH_INTERFACES = ("pcapng", "pcapng, big-endian", "erf", "erf in pcap")


@dataclasses.dataclass
class Container:
    form: str = "pcap"
    compressed: bool = False

    def write(self, linktype, frames):
        data = FORMS[self.form](linktype, frames)
        return gzip.compress(data, 1, mtime=0) if self.compressed else data


def possible(linktype, interfaces):
    """The formats that can hold frames of this link type on one or more interfaces."""
    return [
        form
        for form in FORMS
        if (linktype == capfile.INFINIBAND or form not in OF_INFINIBAND)
        and (interfaces == 1 or form in WITH_INTERFACES)
    ]
