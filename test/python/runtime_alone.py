"""Where only freestone-runtime and NumPy are installed, compiled files run and train, and compiling says what is
missing: runtime_alone.py PYTHON COMMAND. PYTHON is the interpreter of such an environment; COMMAND, the command of the
whole package, compiles the files."""

import pathlib
import subprocess
import sys
import tempfile

import onnx

from graphs import classifier

LINES = """
import importlib.util
import freestone
import numpy as np

assert not importlib.util.find_spec("onnx")
assert freestone.load("model.stone")(x=np.full((3, 16), 0.5, "f4")).shape == (3, 4)

trainer = freestone.Trainer("step.stone", lr=0.1)
x = np.random.default_rng(0).standard_normal((200, 16), "f4")
data = {"x": x, "y": x[:, :4].argmax(1)}
before = trainer.evaluate(data).loss
trainer.fit(data, epochs=5, batch=20)
assert len(trainer.history) == 50 and trainer.evaluate(data).loss < 0.8 * before, (before, trainer.evaluate(data).loss)
try:
    freestone.compile("model.onnx")
except freestone.Incompatible as error:
    print(error)
else:
    raise AssertionError("compiled without a compiler")
maps = open("/proc/self/maps").read()
assert "LLVM" not in maps and "libfreestone_compiler" not in maps
"""

python, command = (pathlib.Path(path).absolute() for path in sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    onnx.save(classifier(), f"{folder}/model.onnx")
    for arguments in (["compile", "model.onnx", "-o", "model.stone"],
                      ["train", "model.onnx", "--labels", "y", "--optimizer", "sgd", "--compile-only", "-o", "step.stone"]):
        subprocess.run([command, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([python, "-c", LINES], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print("runs and trains; compiling says:", done.stdout.strip())
