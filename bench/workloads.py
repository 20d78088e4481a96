"""The models of the tests with the sizes at which they are measured and compared."""

import dataclasses
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Workload:
    model: str
    sizes: tuple

    @property
    def name(self):
        return f"{self.model} {'x'.join(map(str, self.sizes))}"

    def feeds(self):
        generator = np.random.default_rng(sum(self.sizes))
        if self.model.startswith("gpt"):
            return {"tokens": generator.integers(0, 128, self.sizes)}
        shape = (784,) if self.model == "mlp" else (1, 28, 28)
        return {"x": generator.standard_normal((*self.sizes, *shape), dtype=np.float32)}

    def operations(self):
        """Multiplications and additions of all contractions, convolutions included."""
        batch = self.sizes[0]
        if self.model == "mlp":
            return 2 * batch * (784 * 1024 + 1024 * 1024 + 1024 * 10)
        if self.model == "cnn":
            convolutions = 28 * 28 * 32 * 9 + 14 * 14 * 64 * 32 * 9
            return 2 * batch * (convolutions + 3136 * 128 + 128 * 10)
        sequence, width, layers = self.sizes[1], 384, 6
        per_token = layers * 12 * width * width + width * 128
        return 2 * batch * sequence * (per_token + layers * 2 * sequence * width)


RACE = [
    Workload("mlp", (1,)),
    Workload("mlp", (128,)),
    Workload("cnn", (1,)),
    Workload("cnn", (64,)),
    Workload("gpt", (1, 128)),
    Workload("gpt", (8, 128)),
]

# Batch 1 and sequence 2, primes, sequence up to 1,000, batch up to 512.
BATCHES = [1, 2, 3, 5, 7, 13, 16, 31, 64, 127, 128, 257, 512]
TOKENS = [
    (1, 2),
    (1, 3),
    (2, 7),
    (3, 13),
    (1, 16),
    (5, 17),
    (1, 64),
    (4, 61),
    (8, 128),
    (2, 251),
    (1, 509),
    (1, 1000),
    (512, 2),
]


def accuracy_workloads():
    for model in ("mlp", "cnn"):
        yield from (Workload(model, (batch,)) for batch in BATCHES)
    for model in ("gpt", "gpt_unoptimized"):
        yield from (Workload(model, sizes) for sizes in TOKENS)


def filled_model(name, folder):
    """The path of the model with its weights, made on demand."""
    path = pathlib.Path(folder) / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        fill = ROOT / "bench" / "models" / "fill.py"
        subprocess.run([sys.executable, fill, ROOT / "test" / "models" / f"{name}.onnx", path], check=True)
    return path
