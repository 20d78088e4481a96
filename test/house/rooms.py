"""Rooms include only rooms above them in the table of their README: rooms.py CHECK-HOUSE.

Three rooms without a fault, and with each fault: an include of a room below, a folder that is not in the table, a room
that does not exist.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

TABLE = "# part\n\n| room | owns |\n|---|---|\n| `low/{one,two}` | what all need |\n| `high` | what needs it |\n"


def check(folder, files):
    """The output of the check for these files, each with a README beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(sys.argv[1], folder / "scripts")
    (folder / "README.md").write_text("# house\n")
    for name, text in files.items():
        path = folder / "part" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for made in (path for path in list(folder.rglob("*")) if path.is_dir() and not (path / "README.md").exists()):
        (made / "README.md").write_text("# room\n")
    done = subprocess.run([folder / "scripts" / "check-house"], capture_output=True, text=True)
    assert (done.returncode == 0) == done.stdout.endswith("no fault\n"), done
    return done.stdout.splitlines() if done.returncode else []


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "house"
        good = {"README.md": TABLE, "low/one/A.h": "\n", "low/two/B.h": '#include "part/low/one/A.h"\n',
                "high/inner/C.cpp": '#include "part/low/two/B.h"\n#include "part/high/D.h"\n', "high/D.h": "\n"}
        assert check(folder, good) == []
        for file, text, part in [
                ("low/one/A.h", '#include "part/low/two/B.h"\n', "`low/two` stands below `low/one`"),
                ("low/two/B.td", 'include "part/high/D.h"\n', "low/two/B.td:1"),
                ("low/three/E.h", "\n", "its folder is not in the table of rooms of part/README.md"),
                ("README.md", TABLE + "| `roof` | rain |\n", "there is no room `roof`")]:
            faults = check(folder, {**good, file: text})
            assert len(faults) == 1 and part in faults[0], (part, faults)
        without = {**good, "README.md": "# part\n", "low/one/A.h": '#include "part/high/D.h"\n'}
        assert check(folder, without) == [], "there is no order without a table"
    print("rooms are held to the order of their table")


main()
