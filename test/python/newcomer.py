"""A newcomer runs the README's lines of Python, and the command: newcomer.py COMMAND README."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

from graphs import classifier

command, readme = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).read_text()
lines = "\n".join(re.findall(r"```python\n(.*?)```", readme, re.S))
assert "freestone.compile" in lines and "freestone.Trainer" in lines
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["FREESTONE_CACHE_DIR"] = os.path.join(folder, "cache")
    onnx.save(classifier(784, 10), "mlp.onnx")
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert pathlib.Path("trained.onnx").exists() and pathlib.Path("mlp.stone").exists()
    done = subprocess.run([command, "run", "mlp.stone", "--input", "x=8x784xf32=0.5"], capture_output=True, text=True)
    assert done.returncode == 0 and "logits" in done.stdout, done
    done = subprocess.run([command, "compile", "trained.onnx"], capture_output=True, text=True)
    assert done.returncode == 0, done
