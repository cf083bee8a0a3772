# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the Wireshark suite with the plugins of the build: tshark, and sharkd, which returns
the contents of Wireshark's windows."""
import json
import subprocess

from support import wait
from support.needs import needs
from support.paths import TSHARK, WITH_PLUGINS


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
