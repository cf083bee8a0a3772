# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the benchmarks: captures to measure on; CPU time, peak memory and instructions of a
program; ratios with their range."""
import collections
import hashlib
import os
import re
import statistics
import subprocess
import sys

SRC = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
BUILD = os.environ.get("IPOIB_BUILD") or os.path.join(SRC, "build")
TSHARK_TASK = ["-q", "-z", "io,phs", "-r"]
CONFORMANT, VIOLATED = 0, 1  # exit statuses of ipoib-check

sys.path.insert(0, os.path.join(SRC, "tests"))
from frames import ib, edit, mixes, template  # noqa: E402

MIXES = list(mixes.MIXES)

# A capture of a mix. frames: their number; reassembled: bytes of messages that span several packets.
Mix = collections.namedtuple("Mix", "name path frames reassembled")


def is_optimised():
    """Does build/ have link-time optimisation, as the packages have?"""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
        return "IPOIB_LTO:BOOL=ON" in f.read()


def print_build():
    """Names a build that differs from the packages."""
    if not is_optimised():
        print("the build has no link-time optimisation (cmake -DIPOIB_LTO=ON)")


class Usage(collections.namedtuple("Usage", "user system peak")):
    """CPU seconds, in user space and in the kernel, and peak KiB of one run."""

    @property
    def cpu(self):
        return self.user + self.system


def measure(command, env=None, statuses=(0,)):
    """Usage of one run; discards its output."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in statuses:
        sys.exit(
            "%s: %s ended with %d"
            % (os.path.basename(sys.argv[0]), " ".join(command), process.returncode)
        )
    return Usage(usage.ru_utime, usage.ru_stime, usage.ru_maxrss)


def wireshark_environment(plugin):
    env = dict(os.environ, IPOIB_BUILD=BUILD)
    if not plugin:
        env["IPOIB_PLUGINS"] = ""
    return env


def tshark(capture, plugin):
    """Usage of `tshark -q -z io,phs`, without its wrapper, a shell script that starts more processes
    with the plugin than without."""
    wrapper = [os.path.join(SRC, "script/with-plugins"), sys.executable, os.path.realpath(__file__)]
    command = wrapper + ["tshark"] + TSHARK_TASK + [capture]
    run = subprocess.run(
        command, env=wireshark_environment(plugin), stdout=subprocess.PIPE, text=True, check=False
    )
    if run.returncode:
        sys.exit("%s: %s ended with %d" % (sys.argv[0], " ".join(command), run.returncode))
    user, system, peak = run.stdout.split()
    return Usage(float(user), float(system), int(peak))


def ipoib_check_command(capture):
    return [os.path.join(BUILD, "bin/ipoib-check"), capture]


def ipoib_check(capture):
    return measure(ipoib_check_command(capture), statuses=(CONFORMANT, VIOLATED))


CALLGRIND = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def instructions(command, env=None):
    """Instructions of one run, counted by callgrind: independent of the machine's load."""
    run = subprocess.run(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    found = re.search(r"Collected *: *(\d+)", run.stderr)
    if not found:
        sys.exit("%s: no count from callgrind:\n%s" % (" ".join(command), run.stderr[-500:]))
    return int(found.group(1))


def tshark_instructions(capture, plugin):
    command = [os.path.join(SRC, "script/with-plugins")] + CALLGRIND + ["tshark"] + TSHARK_TASK
    return instructions(command + [capture], wireshark_environment(plugin))


def ipoib_check_instructions(capture):
    return instructions(CALLGRIND + ipoib_check_command(capture))


def _made_by():
    """A digest of the code that makes the mixes. Their other input, testdata, does not change."""
    digest = hashlib.sha256()
    for module in (ib, edit, template, mixes):
        with open(module.__file__, "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()[:12]


def make_mix(name, frames, hosts=mixes.HOSTS):
    """A capture of tests/frames/mixes.py, cached in the build folder until its code changes."""
    folder = os.path.join(BUILD, "bench")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "%s-%d-%d-%s.pcap" % (name, frames, hosts, _made_by()))
    note = path + ".bytes"
    if not os.path.exists(note):
        # in a separate process: a child's peak memory is at least that of this process at its start
        command = [sys.executable, mixes.__file__, name, str(frames), path, str(hosts)]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        with open(note, "w", encoding="ascii") as f:
            f.write(run.stdout.split()[-1])
    with open(note, encoding="ascii") as f:
        return Mix(name, path, frames, int(f.read()))


def make(folder, frames, peers, connections):
    """A capture of tests/support/make_capture.c, readable for all users; made once."""
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
    """Calls both measuring functions in turn. Returns CPU and memory ratios, and minimum CPU times."""
    cpu, memory, plain, own = [], [], [], []
    for _ in range(runs):
        a = base()
        b = ours()
        cpu.append(b.cpu / a.cpu)
        memory.append(b.peak / a.peak)
        plain.append(a.cpu)
        own.append(b.cpu)
    return cpu, memory, min(plain), min(own)


if __name__ == "__main__":  # bench_common.py COMMAND...: measures it
    print(*measure(sys.argv[1:]))
