# SPDX-License-Identifier: GPL-2.0-or-later
"""The dashboard for Grafana (packaging/monitoring/grafana-ipoib.json)."""
import json
import os
import re

from support.paths import SRC

DASHBOARD = os.path.join(SRC, "packaging", "monitoring", "grafana-ipoib.json")
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}


def dashboard():
    with open(DASHBOARD, encoding="utf-8") as f:
        return json.load(f)


def expressions():
    """The queries of the panels, with a value for each variable, as Grafana sends them."""
    found = []
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            text = target["expr"]
            for name, value in VARIABLES.items():
                text = text.replace(name, value)
            found.append(text)
    return found


def names_of(texts):
    """Names of metrics in these queries."""
    return {name for text in texts for name in re.findall(r"\bipoib_\w+", text)}
