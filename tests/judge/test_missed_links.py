# SPDX-License-Identifier: GPL-2.0-or-later
"""As test_missed.py, of links: the addresses of ports and of interfaces, which may change, other links
in the same file, and the tables of groups that the SA sends in segments."""
import pytest

from frames import missed
from frames.missed import addresses, copied_flags, lmc, moved_ports, other_links, sa_segments

TOPICS = addresses, copied_flags, lmc, moved_ports, other_links, sa_segments


@pytest.mark.parametrize(**missed.parametrized(*TOPICS))
def test_verdict(case):
    case.check()
