# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that the Python tests share."""
