"""What the README tells a newcomer to type does work: readme.py ROOT BUILD FOLDER.

Types the lines of "Ten lines" in a folder that looks like the repository after a build.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def main():
    root, build, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("bench", "scripts", "test"):
        (folder / name).symlink_to(root / name)
    (folder / "build").symlink_to(build)
    section = re.search(r"^## Ten lines$(.*?)^## ", (root / "README.md").read_text(), re.MULTILINE | re.DOTALL).group(1)
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2, section
    subprocess.run(["bash", "-euxc", "".join(blocks)], cwd=folder, check=True)
    for made in ("mlp.stone", "scores.npy", "run/model.onnx", "run/model.stone"):
        assert (folder / made).stat().st_size > 0, made


main()
