# SPDX-License-Identifier: GPL-2.0-or-later
"""script/check-links accepts the links of the project's documents, and finds broken ones."""
import pytest
from support.programs import script

check = script("check-links")


def test_the_links_of_the_project_are_right():
    assert check() == (0, "")


@pytest.mark.parametrize(
    "text, says",
    [
        ("[a](other.md#two-words)", ""),
        ("[a](other.md#two-words-1)", ""),
        ("[a](#here)", ""),
        ("[a](https://www.rfc-editor.org/rfc/rfc4391#section-6)", ""),
        ("`[a](missing.md)`", ""),
        ("    [a](missing.md)", ""),
        ("[a](missing.md)", "page.md:3: missing.md leads to no file"),
        ("[a](other.md#three)", "page.md:3: other.md#three leads to no heading"),
        ("[a](#gone)", "page.md:3: #gone leads to no heading"),
        ("[a](../outside.md)", "leads out of the project"),
        ("[a](https:/example.org)", "is not a well-formed address"),
        ("![picture](gone.png)", "gone.png leads to no file"),
    ],
)
def test_link(text, says, tmp_path):
    (tmp_path / "page.md").write_text(f"# Here\n\n{text}\n")
    (tmp_path / "other.md").write_text("# Two words\n\n## `Two` words\n")
    status, output = check(str(tmp_path))
    assert status == (1 if says else 0), output
    assert says in output
