"""Freestone compiles in one process with other libraries that carry LLVM or protobuf, wherever it is imported among them:
PyTorch, Triton and ONNX Runtime, as far as they are there, in both orders. Each order is a process."""

import importlib.util
import subprocess
import sys

USE = {
    "freestone": """import freestone
assert (freestone.compile(double(), cache=False)(np.ones((2, 8), 'f4')) == 2).all()""",
    "torch": """import torch
assert torch.compile(lambda x: x + x, backend='eager')(torch.ones(2)).tolist() == [2, 2]""",
    "triton": "import triton",
    "onnxruntime": """import onnxruntime
onnxruntime.InferenceSession(double().SerializeToString(), providers=['CPUExecutionProvider'])""",
}
there = [name for name in USE if importlib.util.find_spec(name)]
others = [name for name in there if name != "freestone"]
orders = {(*row[:place], "freestone", *row[place:]) for row in (others, others[::-1]) for place in range(len(row) + 1)}
for order in sorted(orders):
    begin = ["import numpy as np", "from graphs import double"]
    script = "\n".join(begin + [USE[name] for name in order] + [USE["freestone"]])
    done = subprocess.run([sys.executable, "-c", script], cwd=sys.path[0], capture_output=True, text=True)
    assert done.returncode == 0, (order, done.returncode, done.stderr)
print(f"in {len(orders)} orders:", ", ".join(there))
