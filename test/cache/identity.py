"""A changed compiler is always detected: identity.py PROBE LIBRARY OTHER

Whatever decides which library is opened (the search path, the folder of the executable, a file that appears before another) counts.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

probe, *libraries = map(pathlib.Path, sys.argv[1:4])
name = "libfreestone_compiler.so"


def ask(executable=probe, path=None, cwd="/", **environment):
    """The identity, and whether the compiler was loaded for it."""
    environment = {**os.environ, **environment}
    environment.pop("LD_LIBRARY_PATH", None)
    if path is not None:
        environment["LD_LIBRARY_PATH"] = str(path)
    told = subprocess.run([executable, cache], env=environment, cwd=cwd, capture_output=True, text=True, check=True).stdout
    return told.strip().removeprefix("opened").strip(), told.startswith("opened")


def expect_known(expected, **how):
    """Loaded once, then recorded."""
    build, opened = ask(**how)
    assert opened and build == expected, (build, opened, expected, how)
    assert ask(**how) == (expected, False), how


with tempfile.TemporaryDirectory() as temporary:
    root = pathlib.Path(temporary)
    cache = root / "cache"
    for number, library in enumerate(libraries):
        (root / f"{number}").mkdir()
        shutil.copy(library, root / f"{number}" / name)
    builds = [ask(path=root / f"{number}")[0] for number in range(2)]
    assert builds[0] != builds[1] and all(build.startswith("libfreestone_compiler.so ") for build in builds), builds
    for number in (0, 1, 0):
        assert ask(path=root / f"{number}") == (builds[number], False)
    assert ask()[0] == "", "a path that is not set leads to no compiler"

    # Relative paths are relative to the current folder.
    expect_known(builds[0], path=".", cwd=root / "0")
    expect_known(builds[1], path=".", cwd=root / "1")

    # A library that appears earlier in the search than the recorded one.
    (root / "before").mkdir()
    both = f"{root}/before:{root}/0"
    expect_known(builds[0], path=both)
    shutil.copy(libraries[1], root / "before" / name)
    expect_known(builds[1], path=both)
    (root / "before" / name).unlink()
    expect_known(builds[0], path=both)

    # Two installations, each with its own compiler; the second also through a link with the first's name.
    for number, library in enumerate(libraries):
        for folder in ("bin", "lib"):
            (root / f"installed{number}" / folder).mkdir(parents=True)
        shutil.copy(probe, root / f"installed{number}/bin")
        shutil.copy(library, root / f"installed{number}/lib" / name)
        expect_known(builds[number], executable=root / f"installed{number}/bin" / probe.name)
        expect_known(builds[number], executable=root / f"installed{number}/bin" / probe.name, path=root / "0")
    (root / "installed0").rename(root / "gone")
    (root / "installed1").rename(root / "installed0")
    expect_known(builds[1], executable=root / "installed0/bin" / probe.name)
    # Called by its name alone, in a folder with a compiler.
    (root / "0/lib").mkdir()
    shutil.copy(libraries[0], root / "0/lib" / name)
    found = f"{root}/installed0/bin:{os.environ['PATH']}"
    told = subprocess.run(["env", f"PATH={found}", probe.name, cache], cwd=root / "0", capture_output=True, text=True, check=True).stdout
    assert told.strip() == builds[1], told
print("identity: right")
