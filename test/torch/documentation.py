"""The examples of docs/torch.md run, in order: documentation.py DOCUMENT."""

import pathlib
import re
import sys

import networks  # noqa: F401, ends the test where PyTorch is missing

names = {}
blocks = re.findall(r"^```python\n(.*?)^```", pathlib.Path(sys.argv[1]).read_text(), re.S | re.M)
assert blocks
for block in blocks:
    exec(compile(block, "example", "exec"), names)
