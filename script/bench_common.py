# SPDX-License-Identifier: GPL-2.0-or-later
"""What the benchmarks share: captures to measure on, CPU time and peak memory of a program, ratios with their range."""
import os
import statistics
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BUILD = os.environ.get("IPOIB_BUILD") or os.path.join(SRC, "build")


def measure(command, env=None, statuses=(0,)):
    """CPU seconds (user and system) and peak KiB of one run, whose output is dropped."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        sys.exit(
            "%s: %s ended with %d"
            % (os.path.basename(sys.argv[0]), " ".join(command), process.returncode)
        )
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def tshark(capture, plugin):
    """`tshark -q -z io,phs`; the wrapper script's own share is the same few ms with and without the plugin."""
    env = dict(os.environ, IPOIB_BUILD=BUILD)
    if not plugin:
        env["IPOIB_PLUGINS"] = ""
    return measure([os.path.join(SRC, "script/tshark"), "-q", "-z", "io,phs", "-r", capture], env)


def make(folder, frames, peers, connections):
    """A capture of tests/make_capture.c, readable by everybody; made once."""
    path = os.path.join(folder, "%d-%d-%d.pcap" % (frames, peers, connections))
    if not os.path.exists(path):
        with open(path, "wb") as out:
            subprocess.run(
                [
                    os.path.join(BUILD, "bin/make-capture"),
                    str(frames),
                    str(peers),
                    str(connections),
                ],
                stdout=out,
                check=True,
            )
    os.chmod(path, 0o644)
    return path


def spread(ratios):
    return "%.2f (%.2f to %.2f)" % (statistics.median(ratios), min(ratios), max(ratios))


def pairs(base, ours, runs):
    """Both in turn, each a function that measures; the ratios of CPU time and of memory, and the least CPU times."""
    cpu, memory, plain, own = [], [], [], []
    for _ in range(runs):
        a, am = base()
        b, bm = ours()
        cpu.append(b / a)
        memory.append(bm / am)
        plain.append(a)
        own.append(b)
    return cpu, memory, min(plain), min(own)
