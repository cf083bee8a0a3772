# SPDX-License-Identifier: GPL-2.0-or-later
"""As test_missed.py, of connections: their set-up and end, and what is sent over them."""
import pytest

from frames import missed
from frames.missed import connections, earlier_messages, qpn_claims, reused_queue_pairs
from frames.missed import set_up_order

TOPICS = connections, earlier_messages, qpn_claims, reused_queue_pairs, set_up_order


@pytest.mark.parametrize(**missed.parametrized(*TOPICS))
def test_verdict(case):
    case.check()
