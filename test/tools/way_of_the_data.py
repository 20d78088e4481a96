"""docs/the-way-of-the-data.md shows what the command really prints: way_of_the_data.py FREESTONE ROOT FOLDER.

Its blocks are what `inspect` prints of ONNX's Softmax at each level, with any white space; `…` stands for what is left out,
and what follows a `#` in assembly is the document's own.
"""

import pathlib
import re
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

LEVELS = {"graph": "graph", "tile": "tile", "task": "task", "code": "asm"}


def make_model(path):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "classes"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], name="probabilities")], "softmax", values[:1], values[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def main():
    freestone, root, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    make_model(folder / "softmax.onnx")
    document = (root / "docs" / "the-way-of-the-data.md").read_text()
    sections = dict(re.findall(r"^## (\w+)$(.*?)(?=^## |\Z)", document, re.MULTILINE | re.DOTALL))
    for section, level in LEVELS.items():
        block = re.search(r"^```\w+\n(.*?)^```$", sections[section], re.MULTILINE | re.DOTALL).group(1)
        if level == "asm":
            block = re.sub(r"\s#.*", "", block)
        command = [freestone, "inspect", folder / "softmax.onnx", "--level", level, "--target", "x86-64-v4"]
        printed = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
        end = 0
        for piece in block.split("…"):
            text = " ".join(piece.split())
            start = printed.find(text, end)
            assert start >= 0, f"the document's {section} differs from what `inspect --level {level}` prints: {text}"
            end = start + len(text)


main()
