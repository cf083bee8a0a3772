# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs Debian's node_exporter and Prometheus on this host, for metrics of ipoib-probe."""
import contextlib
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request


def unused_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, seconds=20):
    """The text at the address, as soon as the program answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def running(*command):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def exporter(folder):
    """Yields the address of a node_exporter that collects the files in the folder only."""
    address = f"127.0.0.1:{unused_port()}"
    with running(
        "prometheus-node-exporter",
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={folder}",
        f"--web.listen-address={address}",
    ):
        yield address


def scraped(folder):
    """What node_exporter exports of the files in the folder."""
    with exporter(folder) as address:
        return get(f"http://{address}/metrics")


def sample(text, name):
    """The value of the series NAME{...} in the text."""
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in {text}"
    return float(found.group(1))


class Prometheus:
    """Prometheus' API."""

    def __init__(self, address):
        self.address = address

    def api(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        return json.loads(get(f"http://{self.address}/api/v1/{path}?{query}"))["data"]

    def query(self, expression):
        """[(labels, value)] now."""
        return [
            (one["metric"], float(one["value"][1]))
            for one in self.api("query", query=expression)["result"]
        ]

    def wait_for(self, expression, seconds=30):
        """The same, as soon as the expression has a result."""
        end = time.monotonic() + seconds
        while not (found := self.query(expression)):
            assert time.monotonic() < end, f"Prometheus has no {expression}"
            time.sleep(0.2)
        return found


@contextlib.contextmanager
def prometheus(folder, target, rules):
    """A Prometheus with its data in the folder, which scrapes the target every second."""
    address = f"127.0.0.1:{unused_port()}"
    config = folder / "prometheus.yml"
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(rules)],
                "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [target]}]}],
            }
        )
    )
    with running(
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
    ):
        yield Prometheus(address)
