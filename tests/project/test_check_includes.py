# SPDX-License-Identifier: GPL-2.0-or-later
"""script/check-includes accepts the project's includes, and refuses includes that point up,
sideways or in a circle."""
import pytest
from support.programs import script

check = script("check-includes")


def test_the_projects_includes_point_down():
    assert check() == (0, "")


@pytest.mark.parametrize(
    "files, complaint",
    [
        (
            {"lib/wire/a.c": "model/b.h", "lib/model/b.h": None},
            "lib/wire may not include lib/model",
        ),
        ({"lib/model/a.c": "plugin/b.h", "plugin/b.h": None}, "lib/model may not include plugin"),
        ({"capture/a.c": "probe/b.h", "probe/b.h": None}, "capture may not include probe"),
        (
            {"probe/link/a.c": "probe/exchange/b.h", "probe/exchange/b.h": None},
            "probe/link may not include probe/exchange",
        ),
        (
            {"capture/write/a.c": "capture/receive/b.h", "capture/receive/b.h": None},
            "capture/write may not include capture/receive",
        ),
        (
            {"capture/receive/a.c": "capture/b.h", "capture/b.h": None},
            "capture/receive may not include capture",
        ),
        (
            {"capture/a.c": "probe/link/b.h", "probe/link/b.h": None},
            "capture may not include probe/link",
        ),
        ({"lib/pcapio/a.c": "report/b.h", "lib/report/b.h": None}, "may not include lib/report"),
        (
            {"lib/report/a.c": "cli/say.h", "lib/cli/say.h": None},
            "lib/report returns errors and prints nothing",
        ),
        (
            {"capture/write/a.c": "cli/say.h", "lib/cli/say.h": None},
            "capture/write returns errors",
        ),
        ({"probe/link/groups.c": None}, "remove it from PRINTING"),
        ({"lib/wire/a.h": "b.h", "lib/wire/b.h": "wire/a.h"}, "circle of includes: lib/wire/a.h"),
        ({"lib/rules/a.c": "model/write.h", "lib/model/write.h": None}, "private to lib/model"),
        (
            {"lib/model/a.h": "model/write.h", "lib/model/write.h": None},
            "a public header may not include a private one",
        ),
        ({}, "there are no sources"),
    ],
    ids=[
        "up",
        "product",
        "part",
        "capture's part",
        "product from its part",
        "part of another",
        "sideways",
        "beside",
        "printing",
        "printing part",
        "outdated exception",
        "circle",
        "writer",
        "handed-on",
        "empty",
    ],
)
def test_wrong_includes_are_refused(tmp_path, files, complaint):
    for path, included in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f'#include "{included}"\n' if included else "\n")
    status, text = check(str(tmp_path))
    assert status == 1
    assert complaint in text


def test_includes_that_point_down_are_accepted(tmp_path):
    for path, text in {
        "lib/wire/a.h": "#include <stdint.h>\n",
        "lib/model/b.h": '#include "wire/a.h"\n',
        "check/c.c": '#include "model/b.h"\n#include "generated.h"\n',
        "probe/run/d.h": "",
        "probe/link/e.h": '#include "probe/run/d.h"\n#include "wire/a.h"\n',
        "probe/f.c": '#include "probe/link/e.h"\n#include "cli/say.h"\n',
        "probe/link/groups.c": '#include "cli/say.h"\n',
        "lib/cli/say.h": "",
        "lib/cli/g.c": '#include "cli/say.h"\n',
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert check(str(tmp_path)) == (0, "")


def test_a_struct_with_two_definitions(tmp_path):
    for folder in ("plugin", "probe"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.c").write_text("struct route {\n    int lid;\n};\n")
    complaint = "struct route is defined in plugin/a.c and probe/a.c: give each its own name\n"
    assert check(str(tmp_path)) == (1, complaint)
