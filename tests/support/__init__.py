# SPDX-License-Identifier: GPL-2.0-or-later
"""What the Python tests share."""
