#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# test: here-only
# test: lock=groups of the played device
"""Every command of the documents is run by a test: here, as it stands there, or by the test that ELSEWHERE names. What an
installed document links to is installed where the link says.

What is run here finds the files that it speaks of; ipoib-capture has the played devices of tests/replay/ and is ended by SIGINT
if it does not end; ipoib-probe gets --dry-run. doc/cluster.md and doc/upstream.md have tests of their own.
Environment: IPOIB_SRC, IPOIB_BUILD, IPOIB_BIN, IPOIB_TSHARK. Output: TAP."""
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from tap import BIN, BUILD, SRC, TSHARK, finish, tap

OTHERS = {"doc/cluster.md": "tests/merge.py", "doc/upstream.md": "tests/upstream.py"}
SCENARIOS = {"testbed/README.md": ("datagram", "large"), "doc/first-hour.md": ("mine",)}  # whose captures a page looks at
COMMAND = re.compile(r"(ipoib-(?:check|probe|capture)|script/|testbed/|build/|tests/|cmake |sudo |apt |mergecap|tshark|ibdump|IPOIB_)")
RUN_HERE = re.compile(r"ipoib-|tshark -r |build/bin/ipoib-|testbed/wire-list|script/tshark")
# What is too long, or wants a machine of its own: the test that runs it, and what stands there. None: the test is it itself.
ELSEWHERE = [
    (r"script/demo$", "tests/demo.sh", "script/demo"),
    (r"script/demo --live$", "tests/demo_live.sh", "script/demo"),
    (r"script/test( --fast| --only unit/)?$", ".ci/run", "script/test"),
    (r"script/bootstrap$", "script/test", "bootstrap"),
    (r"script/lint$", "tests/lint.sh", "script/lint"),
    (r"script/coverage$", "tests/coverage.sh", "script/coverage"),
    (r"script/fuzz ", "fuzz/CMakeLists.txt", "script/fuzz"),
    (r"script/noise ", "tests/noise.sh", "script/noise"),
    (r"script/package && apt install", "tests/package.sh", "script/package"),
    (r"cmake -S . -B build ", "script/bootstrap", "cmake -S . -B build"),
    (r"script/bench-", "tests/benchmarks.sh", "script/bench-"),
    (r"build/tests/test_(memory|probe_sweep)", "tests/CMakeLists.txt", "test_"),
    (r"tests/hostile.py$", "tests/hostile.py", None),
    (r"testbed/fabric (once|start|run|stop|shell) ", "tests/fabric.sh", "fabric"),
    (r"ibdump ", "doc/ibdump.md", None),
]


def commands_of(path):
    """Lines of the indented blocks that begin as a command; in manual pages those of EXAMPLES. Comments behind them are not part."""
    with open(os.path.join(SRC, path), encoding="utf-8") as f:
        text = f.read()
    if path.startswith("doc/man/"):
        examples = re.search(r"\.S[hH] EXAMPLES\n(.*?)\n\.S[hH] ", text, re.DOTALL).group(1)
        lines = [m.replace("\\-", "-").strip() for m in re.findall(r"^\.(?:Dl [$#]|B) (.*)$", examples, re.MULTILINE)]
    else:
        lines = [m.strip() for m in re.findall(r"^    (\S.*)$", text, re.MULTILINE)]
    return [re.split(r"\s{2,}#|; echo", line)[0].strip() for line in lines if COMMAND.match(line)]


# ---- running them here

def wrapper(folder, name, line):
    path = os.path.join(folder, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + line + "\n")
    os.chmod(path, 0o755)


def prepare(folder, page):
    """The programs under their names, and the files that the documents speak of."""
    binaries = os.path.join(folder, "path")
    for name in ("path", "reports", "script", "testbed", "build"):
        os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, "play"), "w") as f:
        f.write("device mlx5_0\npkeys 0xffff 0x8001\ngroup ff12:401b:ffff::ffff:ffff 0xc000 0xb1b\ngroup ff12:401b:8001::ffff:ffff 0xc001 0xb1b\n"
                "synthetic 100\nrate 200\n")
    replay = "IPOIB_REPLAY=%s/play LD_LIBRARY_PATH=%s" % (folder, os.path.join(BUILD, "tests", "replay"))
    wrapper(binaries, "ipoib-capture", 'exec env %s %s/ipoib-capture "$@"' % (replay, BIN))
    wrapper(binaries, "ipoib-check", 'exec %s/ipoib-check "$@"' % BIN)
    wrapper(binaries, "ipoib-probe", 'case "$*" in *--list*|*--dry-run*) ;; *) set -- --dry-run "$@" ;; esac; exec %s/ipoib-probe "$@"' % BIN)
    wrapper(binaries, "tshark", 'PATH=%s exec %s "$@"' % (os.environ["PATH"], shlex.join(TSHARK)))
    wrapper(binaries, "less", "exec cat")
    wrapper(os.path.join(folder, "script"), "tshark", 'exec %s "$@"' % shlex.join(TSHARK))
    os.symlink(os.path.join(SRC, "testbed", "wire-list"), os.path.join(folder, "testbed", "wire-list"))
    os.symlink(BIN, os.path.join(folder, "build", "bin"))
    capture = os.path.join(SRC, "testdata", "datagram.pcap")
    if page in SCENARIOS:
        os.mkdir(os.path.join(folder, "OUT"))
        for name in SCENARIOS[page]:
            shutil.copy(capture, os.path.join(folder, "OUT", name + ".pcap"))
    for name in ("capture.pcap", "IN"):
        shutil.copy(capture, os.path.join(folder, name))
    subprocess.run(["editcap", "-F", "pcapng", os.path.join(SRC, "testdata", "built", "built-arp.pcap"), "capture.pcapng"], cwd=folder,
                   check=False, stderr=subprocess.DEVNULL)
    if not os.path.exists(os.path.join(folder, "capture.pcapng")):  # this Wireshark opens none of link type 247
        shutil.copy(capture, os.path.join(folder, "capture.pcapng"))
    for node in ("node01", "node02"):
        subprocess.run([os.path.join(BIN, "ipoib-check"), "--format", "json", "-o", "reports/%s.json" % node, "capture.pcap"], cwd=folder,
                       check=True)
    return {**os.environ, "PATH": binaries + ":" + os.environ["PATH"]}


def run(command, folder, env):
    """Status (of the last of a pipe) and output. What captures until it is stopped is stopped."""
    process = subprocess.Popen(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out = process.communicate(timeout=60 if "ipoib-capture" not in command or "convert" in command else 2)[0]
    except subprocess.TimeoutExpired:
        subprocess.run(["pkill", "-INT", "-s", str(process.pid), "-x", "ipoib-capture"], check=False)
        try:
            out = process.communicate(timeout=30)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out = process.communicate()[0] + b"\n(did not end)"
    return process.returncode, out.decode(errors="replace")


def run_here(where, command, folder, env):
    status, out = run(command, folder, env)
    ok = status in (0, 130) or (status == 1 and "ipoib-check" in command)  # 1: something is violated in it, which is its answer
    tap(ok and "(did not end)" not in out, "%s: %s" % (where, command), ["exit status %s" % status, *out.splitlines()[-10:]])


def look_elsewhere(where, command):
    for pattern, test, needle in ELSEWHERE:
        if re.match(pattern, command):
            path = os.path.join(SRC, test)
            there = os.path.exists(path) and (not needle or needle in open(path, encoding="utf-8").read())
            tap(there, "%s: %s: by %s" % (where, command, test), "%s is not in it" % needle)
            return
    tap(False, "%s: %s" % (where, command), "no test runs it")


# ---- links

def dead_links(page):
    """Of a page's links to files beside it those that are not there, and how many it has."""
    with open(page, encoding="utf-8") as f:
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", f.read())
    relative = [link for link in links if not re.match(r"[a-z]+:", link)]
    return [link for link in relative if not os.path.exists(os.path.join(os.path.dirname(page), link))], len(relative)


def check_links():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cmake", "--install", BUILD, "--component", "doc", "--prefix", folder], check=True, stdout=subprocess.DEVNULL)
        followed, complaints = 0, []
        for page in sorted(glob.glob(os.path.join(folder, "**/*.md"), recursive=True)):
            dead, links = dead_links(page)
            followed += links
            complaints += ["%s: %s" % (os.path.relpath(page, folder), link) for link in dead]
    tap(not complaints and followed > 100, "installed: what the documents link to", complaints or "%d links" % followed)


def main():
    pages = ["README.md", "testbed/README.md", "testdata/README.md"] + sorted(
        os.path.relpath(p, SRC) for p in glob.glob(os.path.join(SRC, "doc", "*.md")) + glob.glob(os.path.join(SRC, "doc", "man", "*.[0-9]")))
    for page in pages:
        if page in OTHERS:
            with open(os.path.join(SRC, OTHERS[page]), encoding="utf-8") as f:
                tap(page in f.read(), "%s: by %s" % (page, OTHERS[page]))
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o1777)
            env = prepare(folder, page)
            for command in commands_of(page):
                if RUN_HERE.match(command) and "[" not in command:
                    run_here(page, command, folder, env)
                elif "[" not in command or "wire-list" in command:  # with [...] it is a synopsis
                    look_elsewhere(page, command)
    check_links()
    return finish()


if __name__ == "__main__":
    sys.exit(main())
