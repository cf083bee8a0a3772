# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipes of doc/cluster.md, exactly as printed there: ClusterShell, GNU parallel, Slurm,
mergecap.

The captures are those of 16 nodes, of which node03 violates a MUST; support/check.py describes
their contents."""
import os
import re
import stat
import subprocess

import pytest

from support import capfile, reports, wait
from support.check import CONNECTED, DATAGRAM, ENCAP, OK, VIOLATED, load
from support.needs import needs
from support.paths import BIN, SRC

PAGE = os.path.join(SRC, "doc/cluster.md")
SLURM = os.path.join(SRC, "tests/project/cluster/slurm")
NODES = ["node%02d" % i for i in range(1, 17)]
JUDGED = "16 nodes: 1 violated, 0 not judged, 15 conformant"

# The simulated ssh runs the command here. Its last two arguments are host and command.
SSH = 'while [ $# -gt 2 ]; do shift; done; NODE=$1 exec sh -c "$2"\n'


def read_recipes():
    """Name to the indented commands after each <!-- recipe: NAME -->, in the order of the page."""
    with open(PAGE, encoding="utf-8") as f:
        found = re.findall(r"<!-- recipe: (.*) -->\n\n((?:    .*\n|\n)+)", f.read())
    return {name: "\n".join(line[4:] for line in text.splitlines()) + "\n" for name, text in found}


RECIPES = read_recipes()
TESTED = ["clush probe", "clush exec", "parallel", "tree", "slurm script", "slurm submit", "join"]
CLUSH_PROBE, CLUSH_EXEC, PARALLEL, TREE, SLURM_SCRIPT, SLURM_SUBMIT, JOIN = map(RECIPES.get, TESTED)


class Site:
    """A folder with the captures of the nodes; its programs come before the machine's in PATH."""

    def __init__(self, path):
        self.path = path
        (path / "captures").mkdir()
        (path / "bin").mkdir()
        for node in NODES:
            data = load(ENCAP if node == "node03" else DATAGRAM)
            (path / "captures" / f"{node}.pcapng").write_bytes(data)

    def program(self, name, text):
        path = self.path / "bin" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def follow(self, *command):
        env = {**os.environ, "PATH": f"{self.path}/bin:{BIN}:{os.environ['PATH']}"}
        return wait.run(
            command,
            cwd=self.path,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def shell(self, text):
        return self.follow("sh", "-c", text)


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def check_end(done, status, last):
    """The exit status, and the last line of stdout."""
    shown = f"exit {done.returncode}, stdout {done.stdout[-800:]}, stderr {done.stderr[-800:]}"
    assert done.returncode == status, shown
    assert done.stdout.splitlines()[-1:] == [last], shown


def test_clustershell_probes_the_nodes_and_reports_the_one_that_does_not_answer(site):
    """ssh is simulated: node07 has no device, node11 has no ipoib-probe."""
    needs("clush", "cluster")
    reports.of_simulated_subnet(site.path / "probe.json")
    (site.path / "no-device.json").write_bytes(reports.without_device("fabric"))
    site.program("ssh", SSH)
    site.program(
        "ipoib-probe",
        "case $NODE in\n"
        f"node07) cat '{site.path}/no-device.json'; exit 3;;\n"
        "node11) echo 'sh: ipoib-probe: not found' >&2; exit 127;;\n"
        "esac\n"
        f"cat '{site.path}/probe.json'\n"
        "exit 1\n",
    )
    done = site.shell(CLUSH_PROBE)
    check_end(done, VIOLATED, "16 nodes: 15 violated, 1 not judged, 0 conformant")
    assert re.search(r"^node07: fabric: FAULT: ", done.stdout, re.MULTILINE)
    assert "fabric.device  at 1 of 16 nodes" in done.stdout
    assert re.search(r"^node11: .*NOT JUDGED: ", done.stdout, re.MULTILINE)


def test_clustershell_exec_worker_checks_local_captures(site):
    needs("clush", "cluster")
    check_end(site.shell(CLUSH_EXEC), VIOLATED, JUDGED)


def test_gnu_parallel_checks_captures(site):
    needs("parallel", "cluster")
    check_end(site.shell(PARALLEL), VIOLATED, JUDGED)


def test_more_reports_than_a_command_line_holds_are_merged_in_two_steps(site):
    needs("parallel", "cluster")
    site.shell(PARALLEL)
    check_end(site.shell(TREE), VIOLATED, JUDGED)


@pytest.fixture
def slurm(site):
    """Runs a script on a Slurm of one node, in the folder of the captures."""
    needs("slurmctld", "cluster")
    needs("slurmd", "cluster")
    needs("sbatch", "cluster")
    (site.path / "check.sbatch").write_text(SLURM_SCRIPT)

    def run(text):
        done = site.follow(SLURM, "sh", "-c", text)
        reports.skip_if_not_here(done)
        return done

    return run


def test_slurm_accepts_the_job_array(slurm):
    """sbatch --test-only of the recipe's first command prints when the job would start."""
    only_tested = re.sub(
        r"sbatch --parsable (.*)\)$",
        r"sbatch --test-only \1 2>&1)",
        SLURM_SUBMIT.split("sbatch --dep")[0],
        flags=re.MULTILINE,
    )
    done = slurm(only_tested + 'echo "$job"')
    assert done.returncode == 0 and " to start at " in done.stdout, (done.stdout, done.stderr)


def test_slurm_job_array_checks_captures_and_a_job_merges_the_reports(site, slurm):
    jobs_end = "for _ in $(seq 600); do [ $(squeue -h | wc -l) = 0 ] && break; sleep 0.2; done"
    done = slurm(f"{SLURM_SUBMIT}\n{jobs_end}\nsqueue >&2\ncat merged.txt\n")
    check_end(done, OK, JUDGED)
    assert len(os.listdir(site.path / "reports")) == 16
    assert (site.path / "merge.log").read_text() == ""


def test_two_joined_files_are_checked_as_one(tmp_path):
    needs("mergecap", "build")
    whole = tmp_path / "whole.pcap"
    convert = [os.path.join(BIN, "ipoib-capture"), "convert", CONNECTED, whole]
    done = subprocess.run(convert, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    capture = capfile.read(whole)
    middle = len(capture.frames) // 2
    for n, frames in enumerate((capture.frames[:middle], capture.frames[middle:]), 1):
        data = capfile.pcap(capture.linktype, frames, capture.nanoseconds, capture.endian)
        (tmp_path / ("ring_%05d.pcap" % n)).write_bytes(data)
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    done = wait.run(
        ["sh", "-c", JOIN], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == OK, done.stdout[-500:] + done.stderr
    assert "CONFORMANT" in done.stdout and "inconclusive" not in done.stdout, done.stdout[-500:]


def test_every_command_of_the_page_is_in_a_recipe_that_is_tested():
    with open(PAGE, encoding="utf-8") as f:
        lines = f.read().splitlines()
    begins = [
        i
        for i, line in enumerate(lines)
        if line.startswith("    ")
        and (lines[i - 1], lines[i - 2][:4]) != ("", "    ")
        and not lines[i - 1].startswith("    ")
    ]
    names = [re.fullmatch(r"<!-- recipe: (.*) -->", lines[i - 2]) for i in begins]
    assert begins
    assert [lines[i] for i, name in zip(begins, names) if not name] == []
    assert {name.group(1) for name in names} == set(TESTED) == set(RECIPES)
