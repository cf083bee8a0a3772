# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the Wireshark suite with the plugins of the build: tshark, and sharkd, which returns
the contents of Wireshark's windows."""
import json
import re
import subprocess

from support import kept, wait
from support.needs import needs
from support.paths import TSHARK, WITH_PLUGINS


def asked(capture, *arguments, **options):
    """As tshark() with `-r capture`, but a run of the tests asks the same about the same bytes only
    once: see support.kept. In the answer the capture may have another name of the same file."""
    read = ("-r", capture) if capture else ()
    return kept.answer(capture, arguments, lambda: tshark(*read, *arguments, **options))


def found_by(capture, display_filter, *options):
    """The number of frames that a display filter finds."""
    only = ["-Y", display_filter, "-T", "fields", "-e", "frame.number"]
    done = tshark("-r", capture, *options, *only)
    assert done.returncode == 0, f"{capture}: {display_filter}: {done.stderr}"
    return len(done.stdout.split())


def matches(capture, filters, *options):
    """The same for each of many filters, {filter: frames}, with one run of tshark. A comma would end
    a filter in the statistics: such a filter has a run of its own."""
    apart = {f: found_by(capture, f, *options) for f in filters if "," in f}
    together = [f for f in filters if f not in apart]
    done = tshark("-r", capture, *options, "-q", "-z", ",".join(["io,stat,0", *together]))
    assert done.returncode == 0, f"{capture}: {done.stderr}"
    (row,) = re.findall(r"^\|[^|]*<>[^|]*\|(.*)\|$", done.stdout, re.MULTILINE)
    frames = row.split("|")[::2]  # every other column is bytes
    assert len(frames) == len(together), done.stdout
    return apart | dict(zip(together, map(int, frames)))


# What tests ask about: Wireshark has 250,000 fields, and to read them all takes as long as to start it.
FAMILIES = """_ws arp data dhcp erf eth frame icmp icmpv6 igmp infiniband ip ipoib ipv6 rpcordma sll
tcp udp vxlan""".split()


def registered_fields():
    """The rows (F or P, label, name, type, ...) of tshark -G fields, of FAMILIES."""

    def start():
        done = tshark("-G", "fields", check=True)
        rows = (line.split("\t") for line in done.stdout.split("\n") if line[:2] in ("F\t", "P\t"))
        found = ["\t".join(row) for row in rows if row[2].split(".")[0] in FAMILIES]
        done.stdout = "\n".join(found)
        return done

    done = kept.answer(None, ["-G", "fields", FAMILIES], start)
    return [line.split("\t") for line in done.stdout.split("\n")]


def tshark(*arguments, timeout=300, check=False, **options):
    """Runs tshark: its exit status, and its output as text."""
    return wait.run(
        [*TSHARK, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        check=check,
        **options,
    )


def load(capture):
    """The request that loads a capture; a path must be absolute."""
    return {"method": "load", "params": {"file": str(capture)}}


def ask_sharkd(requests):
    """The responses of one sharkd, without their numbers. A request without a response is an error.

    Skips the test if there is no sharkd."""
    needs("sharkd", "test")
    lines = [json.dumps({**r, "jsonrpc": "2.0", "id": i}) for i, r in enumerate(requests, 1)]
    out = wait.run(
        [*WITH_PLUGINS, "sharkd", "-"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    responses = [
        json.loads(line) for line in out.stdout.splitlines() if line.startswith('{"jsonrpc"')
    ]
    assert len(responses) == len(requests), (
        f"sharkd sent {len(responses)} responses to {len(requests)} requests: "
        f"exit status {out.returncode}, {out.stderr[-2000:]}"
    )
    return [{k: v for k, v in a.items() if k != "id"} for a in responses]
