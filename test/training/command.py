"""`freestone` in the folder of a test, and what its trainings leave there."""

import collections
import json
import os
import pathlib
import shutil
import subprocess

from graphs import tensors

Tensor = collections.namedtuple("Tensor", "type shape content")


class Command:
    """The command in a folder that is emptied first. Its words may be of any type; a run is the folder of a training."""

    def __init__(self, path, folder):
        self.path, self.folder = pathlib.Path(path).resolve(), pathlib.Path(folder).resolve()
        self.environment = dict(os.environ)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def call(self, *words):
        """The process after its end, with its code and the text of stdout and stderr."""
        return subprocess.run([self.path, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True)

    def run(self, *words):
        """As `call`, of what must succeed."""
        result = self.call(*words)
        assert result.returncode == 0, (words, result.stderr)
        return result

    def train(self, *words):
        """As `call`, of a training that must succeed."""
        return self.run("train", *words)

    def refuse(self, parts, *words, codes=(1, 2)):
        """A training must fail by one of `codes` (1: while it trains, 2: by its options), and stderr name all of `parts`."""
        result = self.call("train", *words)
        assert result.returncode in codes, (words, result)
        for part in parts:
            assert part in result.stderr, (part, result.stderr)

    def remove(self, run):
        """Removes what a training left, where there was one."""
        shutil.rmtree(self.folder / run, ignore_errors=True)

    def lines(self, run, kind="metrics"):
        """What each step of a run told, or each of its `evaluations`: list of name → number."""
        return [json.loads(line) for line in (self.folder / run / f"{kind}.jsonl").read_text().splitlines()]

    def metrics(self, run, key="loss"):
        """One number of each step: list of floats or integers."""
        return [line[key] for line in self.lines(run)]

    def timeless(self, run):
        """What each step told but for rates and ranks, which no two runs share: list of name → number."""
        return [{key: number for key, number in line.items()
                 if not key.endswith("_per_s") and key not in ("bubble", "rank_bytes")} for line in self.lines(run)]

    def expect_counters(self, run, **expected):
        """A training must have counted these integers, among others."""
        counters = json.loads((self.folder / run / "counters.json").read_text())
        assert {name: counters[name] for name in expected} == expected, counters

    def model(self, run):
        """The bytes of the trained model."""
        return (self.folder / run / "model.onnx").read_bytes()

    def weights(self, run):
        """The initializers of the trained model: name → array."""
        return tensors(self.folder / run / "model.onnx")

    def checkpoints(self, run):
        """Step → folder of its checkpoint, in the order of steps; there may be nothing beside them."""
        folders = sorted((self.folder / run / "checkpoints").iterdir())
        return {int(folder.name.removeprefix("step-")): folder for folder in folders}

    def checkpoint(self, run, step):
        """The tensors of a checkpoint: name → (type in the words of safetensors, shape, bytes)."""
        found = {}
        for path in self.checkpoints(run)[step].glob("*.safetensors"):
            content = path.read_bytes()
            data = 8 + int.from_bytes(content[:8], "little")
            for name, about in json.loads(content[8:data]).items():
                if name != "__metadata__":
                    assert name not in found, (path, name)
                    begin, end = about["data_offsets"]
                    found[name] = Tensor(about["dtype"], tuple(about["shape"]), content[data + begin:data + end])
        assert found, (run, step)
        return found
