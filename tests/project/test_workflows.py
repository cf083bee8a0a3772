# SPDX-License-Identifier: GPL-2.0-or-later
"""The workflows for a public forge: the YAML is right, and their commands are scripts of this tree
with options that these have."""
import glob
import os
import re

import pytest

from support.paths import SRC
from support.programs import run

yaml = pytest.importorskip("yaml", reason="needs python3-yaml: script/bootstrap --with test")
WORKFLOWS = sorted(glob.glob(os.path.join(SRC, ".github", "workflows", "*.yml")))
# Commands of a step that are no program of this tree.
OTHERS = ("apt-get ", "git config --global --add safe.directory ")


def read(path):
    with open(path, encoding="utf-8") as f:
        return yaml.safe_load(f)


def jobs():
    return [
        pytest.param(job, id=f"{os.path.basename(path)}-{name}")
        for path in WORKFLOWS
        for name, job in read(path)["jobs"].items()
    ]


def commands(job):
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
    return [line for line in lines if not line.startswith(OTHERS)]


def sets():
    with open(os.path.join(SRC, "script", "packages"), encoding="utf-8") as f:
        return {line.split()[0] for line in f if line.strip() and not line.startswith("#")} | {
            "all"
        }


def test_there_is_a_workflow():
    assert WORKFLOWS


@pytest.mark.parametrize("path", WORKFLOWS, ids=os.path.basename)
def test_workflow(path):
    flow = read(path)
    assert flow["name"] and flow[True]  # YAML 1.1 reads the key "on" as true
    assert flow["permissions"] == {"contents": "read"}
    assert flow["jobs"]


@pytest.mark.parametrize("job", jobs())
def test_job(job):
    container = job["container"]
    image = container if isinstance(container, str) else container["image"]
    versions = job.get("strategy", {}).get("matrix", {}).get("debian", [])
    images = [image.replace("${{ matrix.debian }}", version) for version in versions] or [image]
    assert set(images) <= {"debian:12", "debian:13"}
    assert 0 < job["timeout-minutes"] <= 150
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert "actions/checkout@v4" in used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)
    assert commands(job)


@pytest.mark.parametrize("job", jobs())
def test_commands_are_of_this_tree(job):
    for command in commands(job):
        program, *arguments = command.split()
        if program.startswith("build/bin/"):
            assert any("script/bootstrap" in line for line in commands(job))
            continue
        path = os.path.join(SRC, program)
        assert os.access(path, os.X_OK), command
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for option in arguments:
            assert option in text or option in sets(), command


def test_the_scripts_are_those_of_ci():
    """.ci/run and the workflows call the same scripts."""
    with open(os.path.join(SRC, ".ci", "run"), encoding="utf-8") as f:
        of_ci = set(re.findall(r"script/[a-z-]+", f.read()))
    called = {
        c.split()[0]
        for path in WORKFLOWS
        for job in read(path)["jobs"].values()
        for c in commands(job)
    }
    assert {"script/bootstrap", "script/test"} <= of_ci & called
    assert ".ci/run" in called
    assert run(["bash", "-n", os.path.join(SRC, ".ci", "run")]).returncode == 0


EXAMPLE = os.path.join(SRC, "testbed", "ci", "workflow.yml")


def test_the_example_for_other_projects():
    """It runs the example of a test on the fabric, in the image of script/image --fabric, and judges
    the capture that this test writes."""
    flow = read(EXAMPLE)
    assert flow["permissions"] == {"contents": "read"} and {"push", "pull_request"} == set(
        flow[True]
    )
    (job,) = flow["jobs"].values()
    assert job["container"] == "${{ vars.IPOIB_FABRIC_IMAGE }}" and job["timeout-minutes"] == 20
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", name) for name in used)
    runs = [step["run"] for step in job["steps"] if "run" in step]
    (test,) = [line.split()[2] for line in runs if line.startswith("fabric once ")]
    path = os.path.join(SRC, test.replace("/usr/lib/ipoib-fabric/", "testbed/"))
    assert run(["bash", "-n", path]).returncode == 0
    with open(path, encoding="utf-8") as f:
        (capture,) = re.findall(r"fabric_capture (\S+)", f.read())
    (judge,) = [line for line in runs if line.startswith("ipoib-check ")]
    assert judge.endswith(f" out/{capture}")
    with open(os.path.join(SRC, "doc", "fabric-in-ci.md"), encoding="utf-8") as f:
        page = f.read()
    assert "`testbed/ci/workflow.yml`" in page and "`testbed/ci/dhcp-test.sh`" in page
