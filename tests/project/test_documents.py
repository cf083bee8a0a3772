# SPDX-License-Identifier: GPL-2.0-or-later
"""A test runs every command of the documents: this test, exactly as printed, or the test that
ELSEWHERE names. Links of installed documents lead to installed files.

A command that runs here finds the files that its page names. ipoib-capture has the simulated
devices of tests/capture/replay/, and gets a SIGINT if it does not end; ipoib-probe gets --dry-run.
doc/cluster.md and doc/upstream.md have tests of their own. No command that installs packages, boots
a machine or runs other tests runs here.

The simulated device's groups are shared by the whole machine: this test does not run in parallel
with others that use them."""
import contextlib
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest

from support import wait
from support.folders import open_folder
from support.needs import needs
from support.paths import BIN, BUILD, SRC, TSHARK, testdata

OTHERS = {
    "doc/cluster.md": "tests/project/test_cluster.py",
    "doc/upstream.md": "tests/plugin/test_upstream.py",
}
# The scenarios whose captures a page uses.
SCENARIOS = {"testbed/README.md": ("datagram", "large"), "doc/first-hour.md": ("mine",)}
COMMAND = re.compile(
    r"(ipoib-(?:check|probe|capture)|script/|testbed/\w|build/|tests/|/usr/bin/python3 |python3 |pytest |cmake |sudo |apt |mergecap|tshark|ibdump|IPOIB_)"
)
RUN_HERE = re.compile(r"ipoib-|tshark -r |build/bin/ipoib-|testbed/wire-list|script/tshark")
# Commands that take too long, or need a machine: the test that runs it, a text in it (None: a test)
ELSEWHERE = [
    (r"script/demo$", "tests/project/test_demo.py", '"demo"'),
    (r"script/demo --live$", "tests/project/demo_live.sh", "script/demo"),
    (r"script/test( --all| --release| --only .*)?$", ".ci/run", "script/test"),
    (r"script/bootstrap$", "script/test", "bootstrap"),
    (r"script/test-costs --all$", "tests/project/test_test_costs.py", "test-costs"),
    (r"script/seed-faults$", "tests/project/test_seeded_faults.py", "seed-faults"),
    (r"script/lint( --quick)?$", "tests/project/test_lint.py", '"lint"'),
    (r"script/coverage( --quick)?$", "tests/project/test_coverage.py", '"coverage"'),
    (r"script/fuzz ", "fuzz/CMakeLists.txt", "script/fuzz"),
    (r"IPOIB_PLUGINS=build-fuzz/plugins ", "tests/plugin/test_fuzz_sequence.py", "sequence"),
    (r"script/noise ", "tests/judge/test_noise.py", '"noise"'),
    (r"script/package && apt install", "tests/project/walk", "script/package && apt install"),
    (r"script/tarball$", "tests/project/tarball", "script/tarball"),
    (r"script/image$", "tests/project/image", "script/image"),
    (r"script/image --fabric", "tests/project/image", "options=(--fabric)"),
    (r"script/package --source ", "tests/project/test_rpm.py", '"--source"'),
    (r"script/bootstrap && cmake --install", "tests/project/walk", "script/bootstrap && cmake"),
    (r"script/bootstrap --tools && cmake --install", "tests/project/walk", "bootstrap --tools"),
    (r"cmake --build build --target uninstall$", "tests/project/test_uninstall.py", '"uninstall"'),
    (r"apt purge ", "tests/project/bare", "apt-get -q -y purge"),
    (r"cmake -S . -B build ", "script/bootstrap", "cmake -S . -B build"),
    (r"script/wireshark-tree$", "tests/plugin/test_wireshark_tree.py", '"wireshark-tree"'),
    (r"script/recall$", "tests/judge/test_recall.py", '"recall"'),
    (r"script/law --chains \d+", "tests/judge/test_law_all.py", '"law"'),
    (r"build/tests/law-chains ", "tests/judge/test_law.py", "law-chains"),
    (r"script/bench-decode", "tests/project/test_benchmarks.py", '"bench-decode"'),
    (r"script/bench-check", "tests/project/test_benchmarks.py", '"bench-check"'),
    (r"script/bench-capture", "tests/project/test_benchmarks.py", '"bench-capture"'),
    (r"build/tests/test_memory", "tests/CMakeLists.txt", "test_memory"),
    (r"build/tests/test_probe_sweep", "tests/CMakeLists.txt", "test_probe_sweep"),
    (
        r"/usr/bin/python3 -m pytest .*tests/judge/test_hostile.py$",
        "tests/judge/test_hostile.py",
        None,
    ),
    (r"testbed/fabric (once|start|run|stop|shell) ", "tests/project/fabric.sh", "fabric"),
    (r"tshark -q -z ipoib,", "tests/plugin/test_taps.py", '"events", "peers"'),
    (r"ibdump ", "doc/ibdump.md", None),
    (r"sudo script/try-hardware ", "tests/capture/test_firmware.py", '"try-hardware"'),
]
PLAY = """\
device mlx5_0
pkeys 0xffff 0x8001
group ff12:401b:ffff::ffff:ffff 0xc000 0xb1b
group ff12:401b:8001::ffff:ffff 0xc001 0xb1b
synthetic 100
rate 200
"""


def read(path):
    with open(os.path.join(SRC, path), encoding="utf-8") as f:
        return f.read()


def commands_of(page):
    """The lines of the indented blocks that start with a command, without trailing comments; in
    manual pages those of EXAMPLES."""
    text = read(page)
    if page.startswith("doc/man/"):
        examples = re.search(r"\.S[hH] EXAMPLES\n(.*?)\n\.S[hH] ", text, re.DOTALL).group(1)
        lines = [
            m.replace("\\-", "-").strip()
            for m in re.findall(r"^\.(?:Dl [$#]|B) (.*)$", examples, re.MULTILINE)
        ]
    else:
        lines = [m.strip() for m in re.findall(r"^    (\S.*)$", text, re.MULTILINE)]
    return [re.split(r"\s{2,}#|; echo", line)[0].strip() for line in lines if COMMAND.match(line)]


def runs_here(command):
    return RUN_HERE.match(command) and "[" not in command  # a line with [...] is a synopsis


def runs_elsewhere(command):
    return not runs_here(command) and ("[" not in command or "wire-list" in command)


def documents(folder, end):
    names = sorted(os.listdir(os.path.join(SRC, folder)))
    return [f"{folder}/{n}" for n in names if re.search(end, n)]


PAGES = ["README.md", "testbed/README.md", "testdata/README.md"]
PAGES += documents("doc", r"\.md$") + documents("doc/man", r"\.[0-9]$")
COMMANDS = {page: commands_of(page) for page in PAGES if page not in OTHERS}


# ---- commands that run here


def wrapper(folder, name, line):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def prepare(folder, page):
    """Creates the programs under their names, and the files that the documents name. Returns the
    environment."""
    binaries = folder / "path"
    for name in ("path", "reports", "script", "testbed", "build"):
        (folder / name).mkdir()
    (folder / "play").write_text(PLAY + f"sysfs {folder}/sysfs\n")
    # a driver whose sniffer is that of verbs: the firmware's needs root and mstflint
    (folder / "sysfs" / "device").mkdir(parents=True)
    (folder / "sysfs" / "device" / "driver").symlink_to("/sys/bus/pci/drivers/hfi1")
    replay = f"IPOIB_REPLAY={folder}/play LD_LIBRARY_PATH={BUILD}/tests/capture/replay"
    tshark = shlex.join(TSHARK)
    wrapper(binaries, "ipoib-capture", f'exec env {replay} {BIN}/ipoib-capture "$@"')
    wrapper(binaries, "ipoib-check", f'exec {BIN}/ipoib-check "$@"')
    dry = 'case "$*" in *--list*|*--dry-run*) ;; *) set -- --dry-run "$@" ;; esac'
    wrapper(binaries, "ipoib-probe", f'{dry}; exec {BIN}/ipoib-probe "$@"')
    wrapper(binaries, "tshark", f'PATH={os.environ["PATH"]} exec {tshark} "$@"')
    wrapper(binaries, "less", "exec cat")
    wrapper(folder / "script", "tshark", f'exec {tshark} "$@"')
    (folder / "testbed/wire-list").symlink_to(os.path.join(SRC, "testbed/wire-list"))
    (folder / "build/bin").symlink_to(BIN)
    (folder / "testdata").symlink_to(os.path.join(SRC, "testdata"))
    capture = testdata("datagram.pcap")
    if page in SCENARIOS:
        (folder / "OUT").mkdir()
        for name in SCENARIOS[page]:
            shutil.copy(capture, folder / "OUT" / f"{name}.pcap")
    for name in ("capture.pcap", "IN", "host-a.pcap", "host-b.pcap"):
        shutil.copy(capture, folder / name)
    subprocess.run(
        ["editcap", "-F", "pcapng", testdata("built/built-arp.pcap"), "capture.pcapng"],
        cwd=folder,
        check=False,
        stderr=subprocess.DEVNULL,
    )
    if not (folder / "capture.pcapng").exists():  # this Wireshark opens none of link type 247
        shutil.copy(capture, folder / "capture.pcapng")
    for node in ("node01", "node02"):
        report = ["--format", "json", "-o", f"reports/{node}.json", "capture.pcap"]
        subprocess.run([os.path.join(BIN, "ipoib-check"), *report], cwd=folder, check=True)
    return {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}


def capturing(session):
    """The processes of ipoib-capture in a session that are ready for SIGINT."""
    listed = subprocess.run(
        ["ps", "-s", str(session), "-o", "pid=,caught=,comm="], stdout=subprocess.PIPE, text=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    bit = 1 << (signal.SIGINT - 1)
    return [int(r[0]) for r in rows if r[2] == "ipoib-capture" and int(r[1], 16) & bit]


def stop_capturing(process):
    """Sends SIGINT to the capturing processes as soon as they are ready for it, until they end."""

    def is_ready():
        return process.poll() is not None or capturing(process.pid)

    wait.until(is_ready, "ipoib-capture is ready for SIGINT")
    for pid in capturing(process.pid):
        with contextlib.suppress(ProcessLookupError):  # it has ended just now
            os.kill(pid, signal.SIGINT)


def run(command, folder, env):
    """Status (of the last command of a pipe) and output; status None: the command does not end."""
    captures = "ipoib-capture" in command and "convert" not in command
    process = subprocess.Popen(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        try:
            out, _ = wait.communicate(process, 2 if captures else 60)  # the time for a capture
        except subprocess.TimeoutExpired:
            stop_capturing(process)
            out, _ = wait.communicate(process, 30)
        return process.returncode, out.decode(errors="replace")
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0].decode(errors="replace")


@functools.lru_cache(maxsize=None)
def results_of(page):
    """By the command, the results of the commands of a page that run here. They run one after
    another in one folder."""
    needs("editcap", "test")
    with open_folder(0o1777) as folder:
        env = prepare(folder, page)
        return {c: run(c, folder, env) for c in COMMANDS[page] if runs_here(c)}


def cases(select):
    """Each page with each of its selected commands."""
    return [
        pytest.param(page, command, id=f"{page}: {command}")
        for page, commands in COMMANDS.items()
        for command in dict.fromkeys(commands)
        if select(command)
    ]


@pytest.mark.parametrize("page, command", cases(runs_here))
def test_command_runs(page, command):
    status, out = results_of(page)[command]
    said = "\n".join(out.splitlines()[-10:])
    # 1: ipoib-check found a violation; 130: SIGINT ended the capture
    allowed = (0, 130, 1) if "ipoib-check" in command else (0, 130)
    assert status in allowed, f"exit status {status}, expected one of {allowed}\n{said}"


# ---- commands that other tests run


@pytest.mark.parametrize("page, command", cases(runs_elsewhere))
def test_command_is_run_by_another_test(page, command):
    test, needle = next((e[1:] for e in ELSEWHERE if re.match(e[0], command)), (None, None))
    assert test, f"{page}: no test runs: {command}"
    assert os.path.exists(os.path.join(SRC, test)), f"there is no {test}"
    assert not needle or needle in read(test), f"{needle} is not in {test}"


@pytest.mark.parametrize("page, test", OTHERS.items())
def test_page_has_a_test_of_its_own(page, test):
    assert page in read(test)


def test_commands_are_found():
    assert sum(map(len, COMMANDS.values())) > 60, COMMANDS


# ---- links


def links_of(page):
    """A page's relative links to files."""
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    return [link for link in links if not re.match(r"[a-z]+:", link)]


def test_links_of_installed_documents_lead_to_installed_files(tmp_path):
    subprocess.run(
        ["cmake", "--install", BUILD, "--component", "doc", "--prefix", str(tmp_path)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    pages = {page: links_of(page) for page in sorted(tmp_path.rglob("*.md"))}
    assert sum(map(len, pages.values())) > 100, pages
    dead = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page, links in pages.items()
        for link in links
        if not (page.parent / link).exists()
    ]
    assert dead == []
