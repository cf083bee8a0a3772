# SPDX-License-Identifier: GPL-2.0-or-later
"""What packaging/monitoring ships for ipoib-probe node: Prometheus' alerts, the systemd units, the
check of Node Health Check, the command of Nagios, the dashboard of Grafana, the manifest of
Kubernetes."""
import contextlib
import json
import os
import re
import signal
import subprocess
import time

import pytest

from support.dashboard import dashboard, expressions, names_of
from support.needs import needs
from support.paths import SRC

SHIPPED = os.path.join(SRC, "packaging", "monitoring")
SERVICE = os.path.join(SHIPPED, "ipoib-probe-node.service")
MOST_EXPOSED = 25  # tenths, of systemd-analyze security: "OK" ends at 49


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def text_of(name):
    with open(os.path.join(SHIPPED, name), encoding="utf-8") as f:
        return f.read()


def test_alerts():
    """Each alert fires for its node, and for no other (rules-test.yml)."""
    needs("promtool", "test")
    tests = os.path.join(SRC, "tests", "project", "rules-test.yml")
    done = run("promtool", "check", "rules", os.path.join(SHIPPED, "ipoib.rules.yml"))
    assert done.returncode == 0, done.stdout + done.stderr
    done = run("promtool", "test", "rules", tests)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(tests, encoding="utf-8") as f:
        tested = set(re.findall(r"alertname: (\w+)", f.read()))
    assert tested == set(re.findall(r"alert: (\w+)", text_of("ipoib.rules.yml")))


def metrics_that_exist():
    names = set()
    for path in ("node/prometheus.c", "metrics.c"):
        with open(os.path.join(SRC, "probe", path), encoding="utf-8") as f:
            names |= set(re.findall(r'"(ipoib_\w+)"', f.read()))
    histograms = {name for name in names if name.endswith("_duration_seconds")}
    return names | {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}


def test_metrics_that_are_used_exist():
    exist = metrics_that_exist()
    assert set(re.findall(r"ipoib_\w+", text_of("ipoib.rules.yml"))) <= exist
    assert names_of(expressions()) <= exist
    variables = json.dumps(dashboard()["templating"])
    assert names_of([variables]) and names_of([variables]) <= exist


def test_metrics_are_documented():
    with open(os.path.join(SRC, "doc", "monitoring.md"), encoding="utf-8") as f:
        page = f.read()
    short = set(re.findall(r"`\.\.\.(_\w+)`", page))
    for name in metrics_that_exist():
        if re.search(r"_(bucket|sum|count)$|ipoib_node_\w+_total$", name):
            continue
        assert name in page or any(name.endswith(end) for end in short), name


# ---- Grafana


def rectangles(panels):
    return [(p["id"], *(p["gridPos"][k] for k in "xywh")) for p in panels]


def overlap(a, b):
    return a[1] < b[1] + b[3] and b[1] < a[1] + a[3] and a[2] < b[2] + b[4] and b[2] < a[2] + a[4]


def test_dashboard():
    """What Grafana needs to import it; the user chooses the data source."""
    board = dashboard()
    assert board["uid"] and board["title"] and board["schemaVersion"] >= 37 and "id" not in board
    panels = board["panels"]
    assert len({p["id"] for p in panels}) == len(panels) > 10
    places = rectangles(panels)
    assert all(x + w <= 24 and w > 0 and h > 0 for _, x, _, w, h in places)
    assert not [(a, b) for a in places for b in places if a[0] < b[0] and overlap(a, b)]
    for panel in panels:
        assert panel["type"] in ("row", "stat", "table", "timeseries") and panel["title"]
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}" and target["refId"]
    names = {variable["name"] for variable in board["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(panels)))
    assert used - {"__rate_interval"} <= names


def test_queries_of_the_dashboard(tmp_path):
    needs("promtool", "test")
    rules = [{"record": f"x{i}", "expr": text} for i, text in enumerate(expressions())]
    path = tmp_path / "rules.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = run("promtool", "check", "rules", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_units(tmp_path):
    needs("systemd-analyze", "test")
    done = run(
        "systemd-analyze", "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", SERVICE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("ipoib-probe-node.service", "ipoib-probe-node.timer"):
        unit = re.sub(r"^Documentation=.*\n", "", text_of(name), flags=re.MULTILINE)
        (tmp_path / name).write_text(unit.replace("/usr/bin/ipoib-probe", "/bin/true"))
        (tmp_path / name).chmod(0o644)  # script/coverage has a umask of 0
    done = run("systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir())))
    said = [line for line in done.stderr.splitlines() if "ipoib" in line]
    assert not said and done.returncode == 0, done.stderr


@pytest.mark.parametrize("status, healthy", [(0, True), (1, False), (2, True), (3, False)])
def test_node_health_check(tmp_path, status, healthy):
    """A run that is not judged drains no node."""
    probe = tmp_path / "ipoib-probe"
    probe.write_text(f'#!/bin/sh\necho "line $*"\nexit {status}\n')
    probe.chmod(0o755)
    script = f'die() {{ echo "die $*"; }}; . {SHIPPED}/ipoib.nhc; check_ipoib_node -d ib0'
    done = run("bash", "-c", script, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (done.returncode == 0) == healthy and done.stderr == ""
    said = "die 1 check_ipoib_node:  line --state /run/ipoib-probe-nhc -d ib0 node\n"
    assert done.stdout == ("" if healthy else said)


# ---- Kubernetes


@pytest.fixture(name="daemon_set")
def fixture_daemon_set():
    yaml = pytest.importorskip("yaml", reason="needs python3-yaml: script/bootstrap --with test")
    return yaml.safe_load(text_of("kubernetes.yml"))


def test_daemon_set(daemon_set):
    """The members that apps/v1 requires, and those without which the probe sees nothing."""
    assert (daemon_set["apiVersion"], daemon_set["kind"]) == ("apps/v1", "DaemonSet")
    spec = daemon_set["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    for name in (daemon_set["metadata"]["name"], daemon_set["metadata"]["namespace"]):
        assert re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name)
    pod = spec["template"]["spec"]
    [container] = pod["containers"]
    assert pod["hostNetwork"] and container["securityContext"]["privileged"]
    assert not pod["automountServiceAccountToken"]
    assert container["image"] and container["name"] and len(container["command"]) == 3
    volumes = {volume["name"]: volume["hostPath"] for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert volumes.keys() == mounts.keys()
    assert all(path["type"] == "DirectoryOrCreate" for path in volumes.values())
    known = {"hostNetwork", "automountServiceAccountToken", "enableServiceLinks", "tolerations"}
    known |= {"terminationGracePeriodSeconds", "containers", "volumes"}
    assert pod.keys() == known


@pytest.mark.parametrize("adapter", [True, False])
def test_command_of_the_daemon_set(daemon_set, tmp_path, adapter):
    """It runs the probe, waits, and ends at once when the pod does."""
    command = daemon_set["spec"]["template"]["spec"]["containers"][0]["command"]
    probe, called = tmp_path / "ipoib-probe", tmp_path / "called"
    probe.write_text(f'#!/bin/sh\necho "$@" >>{called}\n')
    probe.chmod(0o755)
    if adapter:
        (tmp_path / "infiniband").mkdir()
    script = command[2].replace("/sys/class/infiniband", str(tmp_path / "infiniband"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    with subprocess.Popen(
        [*command[:2], script], env={**os.environ, "PATH": path}, start_new_session=True
    ) as process:
        try:
            for _ in range(100 if adapter else 5):
                if called.exists():
                    break
                time.sleep(0.1)
            process.terminate()
            assert process.wait(timeout=20) == 0
        finally:
            with contextlib.suppress(ProcessLookupError):  # its sleep
                os.killpg(process.pid, signal.SIGKILL)
    assert called.exists() == adapter
    if adapter:
        [line] = called.read_text().splitlines()
        assert line.endswith("-o /metrics/ipoib.prom node") and "--format prometheus" in line


def test_each_monitor_has_a_state_of_its_own():
    """The growth of a counter is seen once for each state."""
    states = [
        re.findall(r"--state (\S+)", text_of(name))
        for name in ("ipoib-probe-node.service", "ipoib.nhc", "nagios.cfg", "kubernetes.yml")
    ]
    assert all(len(found) == 1 for found in states) and len({s[0] for s in states}) == 4
