# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames built byte by byte, real frames with one change, and the fixtures of the rules."""
