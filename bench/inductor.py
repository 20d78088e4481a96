"""torch.compile with Freestone beside Inductor and eager PyTorch: inductor.py [--models NAME …] [--threads N] [--modes …].

The first call, and memory, are measured in processes of their own: cold with empty caches, then warm with the caches
that the cold one left. Each compiles for a dynamic batch and calls (a training step: forward and backward). Steady calls
are made in turns in one process, for --seconds, and their minimum counts.
Milliseconds; the first call holds all of Dynamo, AOTAutograd and the backend; the time from the FX graph that Dynamo
gives to the function that it gets, AOTAutograd included, is told beside it. Ratios are Freestone's of Inductor's, their geometric means last.
"""

import argparse
import copy
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

MODELS = ["mlp", "cnn", "gpt", "resnet18", "mobilenet_v2", "squeezenet1_1"]


def make(name):
    """A model, and the inputs of a call."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), \
            (torch.randn(64, 784),)
    if name == "cnn":
        return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(32 * 49, 10)), (torch.randn(32, 1, 28, 28),)
    if name == "gpt":
        return Gpt(), (torch.randint(256, (4, 128)),)
    import torchvision

    module = getattr(torchvision.models, name)(weights=None)
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return module, (torch.randn(4, 3, 224, 224),)


def Gpt(width=192, heads=6, layers=4, words=256):
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.feed(self.norm2(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.blocks = nn.Embedding(words, width), nn.Sequential(*[Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

        def forward(self, tokens):
            return self.head(self.norm(self.blocks(self.embed(tokens))))

    return Model()


def call(run, module, inputs, mode):
    import torch

    if mode == "inference":
        with torch.no_grad():
            return run(*inputs)
    module.zero_grad()
    loss = run(*inputs).square().mean()
    loss.backward()
    return loss


def prepare(name, mode, threads):
    import torch
    import torch._dynamo

    torch.set_num_threads(threads)
    module, inputs = make(name)
    module.train(mode == "train")
    torch._dynamo.mark_dynamic(inputs[0], 0)
    return module, inputs


def measure_first(name, engine, mode, threads):
    """The first call of a process, the backend's part of it, and the largest memory, in MiB."""
    module, inputs = prepare(name, mode, threads)
    import torch
    from torch._dynamo.backends.registry import lookup_backend

    backend, figures = lookup_backend(engine), {"backend": 0.0}

    def timed(graph, example_inputs):
        begin = time.perf_counter()
        try:
            return backend(graph, example_inputs)
        finally:
            figures["backend"] += 1e3 * (time.perf_counter() - begin)

    run = torch.compile(module, backend=timed)
    begin = time.perf_counter()
    call(run, module, inputs, mode)
    figures["first"] = 1e3 * (time.perf_counter() - begin)
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def measure_steady(name, mode, threads, seconds):
    """The fastest call of each engine."""
    module, inputs = prepare(name, mode, threads)
    import torch

    runs = {"eager": (module, module)}
    for engine in ("freestone", "inductor"):
        torch._dynamo.reset()
        other = copy.deepcopy(module)
        runs[engine] = torch.compile(other, backend=engine), other
    fastest = dict.fromkeys(runs, math.inf)
    for run, own in runs.values():
        for _ in range(3):
            call(run, own, inputs, mode)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for engine, (run, own) in runs.items():
            begin = time.perf_counter()
            call(run, own, inputs, mode)
            fastest[engine] = min(fastest[engine], 1e3 * (time.perf_counter() - begin))
    return fastest


def in_process(options, name, engine, mode, cache):
    environment = dict(os.environ, FREESTONE_CACHE_DIR=f"{cache}/freestone", TORCHINDUCTOR_CACHE_DIR=f"{cache}/inductor",
                       OMP_NUM_THREADS=str(options.threads))
    command = [sys.executable, __file__, "--one", json.dumps([name, engine, mode]), "--threads", str(options.threads),
               "--seconds", str(options.seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} with {engine}: " + done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--modes", nargs="+", default=["inference", "train"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, engine, mode = json.loads(options.one)
        print(json.dumps(measure_steady(name, mode, options.threads, options.seconds) if engine == "all" else
                         measure_first(name, engine, mode, options.threads)))
        return
    print(f"threads: {options.threads}\n")
    print("| model | cold | Inductor | ratio | backend warm | Inductor | ratio | first call warm | Inductor | ratio | steady | "
          "Inductor | ratio | eager | MiB | Inductor |")
    print("|" + "---|" * 16)
    ratios = {}
    for mode in options.modes:
        for name in options.models:
            figures = {}
            with tempfile.TemporaryDirectory() as cache:
                for engine in ("freestone", "inductor"):
                    figures[engine] = [in_process(options, name, engine, mode, cache) for _ in range(2)]
                steady = in_process(options, name, "all", mode, cache)
            cells = [f"{name}, {mode}"]
            pairs = {column: [figures[engine][turn][key] for engine in figures] for column, turn, key in
                     (("cold", 0, "first"), ("backend", 1, "backend"), ("warm", 1, "first"))}
            pairs["steady"] = [steady[engine] for engine in figures]
            for column, (ours, theirs) in pairs.items():
                ratio = ours / theirs
                ratios.setdefault(column, []).append(ratio)
                cells += [f"{ours:.2f}", f"{theirs:.2f}", f"{ratio:.2f}"]
            cells += [f"{steady['eager']:.2f}"] + [f"{figures[engine][1]['memory']:.0f}" for engine in figures]
            print("| " + " | ".join(cells) + " |", flush=True)
    means = {column: math.exp(statistics.fmean(map(math.log, values))) for column, values in ratios.items()}
    print("\n" + ", ".join(f"{column} {mean:.2f}" for column, mean in means.items()))


if __name__ == "__main__":
    main()
