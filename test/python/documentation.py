"""The examples of docs/python.md run, in order, in one folder: documentation.py DOCUMENT…"""

import os
import pathlib
import re
import sys
import tempfile

import onnx

from graphs import classifier

texts = [pathlib.Path(path).read_text() for path in sys.argv[1:]]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    onnx.save(classifier(), "model.onnx")
    onnx.save(classifier(784, 10), "mlp.onnx")
    for text in texts:
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
        assert blocks
        names = {}
        for block in blocks:
            exec(compile(block, "example", "exec"), names)
