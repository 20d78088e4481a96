"""The wheels are as small as they should be, and name the machines that they run on: wheels.py FOLDER."""

import pathlib
import subprocess
import sys
import zipfile

MOST = {"freestone": 80e6, "freestone_runtime": 2e6}

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
