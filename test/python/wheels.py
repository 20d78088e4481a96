"""The wheels are as small as they should be, name the machines that they run on, and export nothing of what is linked
into them: wheels.py FOLDER."""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MOST = {"freestone": 80e6, "freestone_runtime": 2e6}
#: Mangled names of LLVM, MLIR, lld and protobuf, of which other libraries in the process have copies of their own.
LINKED_IN = re.compile(r"4llvm|4mlir|3lld|6google8protobuf|^LLVM|^mlir")


def exported(library):
    """The symbols that a shared library exports (nm prints the kinds of local ones in lower case)."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {name.partition("@")[0] for *_, kind, name in map(str.split, lines.splitlines()) if kind.isupper() or kind in "uvw"}


wheels = sorted(pathlib.Path(sys.argv[1]).glob("*.whl"))
assert {wheel.name.split("-")[0] for wheel in wheels} == set(MOST), wheels
for wheel in wheels:
    size = wheel.stat().st_size
    names = zipfile.ZipFile(wheel).namelist()
    print(f"{wheel.name}: {size / 1e6:.2f} MB, {len(names)} files")
    assert size <= MOST[wheel.name.split("-")[0]], f"{wheel.name} is larger than it should be"
    assert "manylinux" in wheel.name
    shown = subprocess.run([pathlib.Path(sys.executable).with_name("auditwheel"), "show", wheel], capture_output=True,
                           text=True, check=True).stdout
    print("  auditwheel:", *next(part for part in shown.split("\n\n") if "platform tag" in part).split())
    if wheel.name.startswith("freestone_runtime"):
        needed = {"NOTICE", "_freestone.pyi", "program.py", "py.typed"}
        assert {f"freestone/{name}" for name in needed} <= set(names), names
        assert not any("LLVM" in name or "MLIR" in name or "compiler" in name for name in names), names
    with tempfile.TemporaryDirectory() as folder:
        # auditwheel puts Debian's libraries beside the package, under names that nothing else has.
        libraries = [name for name in names if re.match(r"freestone/.*\.so(\.|$)", name)]
        zipfile.ZipFile(wheel).extractall(folder, libraries)
        for name in libraries:
            shared = sorted(filter(LINKED_IN.search, exported(pathlib.Path(folder, name))))
            assert not shared, f"{name} exports {', '.join(shared[:5])}"
    print(f"  {len(libraries)} libraries export nothing of what is linked into them")
