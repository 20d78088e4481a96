"""torch.compile with Freestone beside Inductor and eager PyTorch: inductor.py [--models NAME …] [--threads N …] [--out FILE].

The first call, and memory, are measured in processes of their own: cold with empty caches, then warm with the caches
that the cold one left. Each compiles for dynamic sizes and calls (a training step: forward and backward). Steady calls
are made in turns in one process, for --seconds, and their minimum counts, with each number of threads; first calls with
the first one. Milliseconds, of CPU time where it is warm (nothing waits or runs beside then, but other processes may),
and MiB.

The first call, warm, is told in its parts: Dynamo and the call itself; AOTAutograd, from Dynamo's graph to a function;
and of that what is the backend's own: to load what its cache has. Ratios are Freestone's of Inductor's, their geometric
means last. FILE keeps rows as JSON lines; those that it has are not measured again.
"""

import argparse
import copy
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

MODELS = ["mlp", "cnn", "gpt", "bert", "gpt2", "t5", "resnet18", "mobilenet_v2", "squeezenet1_1", "distilbert", "roberta",
          "electra", "llama", "mistral", "qwen2", "opt", "shufflenet_v2_x0_5", "mobilenet_v3_small", "mnasnet0_5",
          "alexnet", "albert", "gemma", "phi", "gpt_neox", "regnet_y_400mf"]
ENGINES = ("freestone", "inductor")


def make(name):
    """A model, the inputs of a call, and which of the first one's axes are dynamic."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), \
            (torch.randn(64, 784),), (0,)
    if name == "cnn":
        return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                             nn.Linear(32 * 49, 10)), (torch.randn(32, 1, 28, 28),), (0,)
    if name == "gpt":
        return Gpt(), (torch.randint(256, (4, 128)),), (0,)
    import torch_models

    module, (x, *_) = torch_models.make(name)
    if name in torch_models.TEXTS:
        x = torch.randint(3, 98, (8, 48))
    elif name in torch_models.PICTURES:
        x = torch.randn(4, 3, 224, 224)
    return module, (x,), (0, 1) if name in torch_models.TEXTS else (0,)


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
    module, inputs, axes = make(name)
    module.train(mode == "train")
    for axis in axes:
        torch._dynamo.mark_dynamic(inputs[0], axis)
    return module, inputs


def measure_first(name, engine, mode, threads):
    """The first call of a process, its parts, and the largest memory, in MiB."""
    module, inputs = prepare(name, mode, threads)
    import torch
    from torch._dynamo.backends.registry import lookup_backend
    from torch._functorch._aot_autograd.aot_autograd_result import GenericAOTAutogradResult

    figures = {}

    def timed(function, part):
        """In wall-clock and in CPU time."""

        def call(*arguments, **keywords):
            begin, cpu = time.perf_counter(), time.process_time()
            try:
                return function(*arguments, **keywords)
            finally:
                for clock, passed in (("wall", time.perf_counter() - begin), ("cpu", time.process_time() - cpu)):
                    figures[f"{part} {clock}"] = figures.get(f"{part} {clock}", 0) + 1e3 * passed

        return call

    GenericAOTAutogradResult._load_and_post_compile = timed(GenericAOTAutogradResult._load_and_post_compile, "own")
    run = torch.compile(module, backend=timed(lookup_backend(engine), "backend"))
    timed(call, "first")(run, module, inputs, mode)
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def measure_steady(name, mode, threads, seconds):
    """The fastest call of each engine."""
    module, inputs = prepare(name, mode, threads)
    import torch

    runs = {"eager": (module, module)}
    for engine in ENGINES:
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


def in_process(options, name, engine, mode, cache, threads):
    environment = dict(os.environ, FREESTONE_CACHE_DIR=f"{cache}/freestone", TORCHINDUCTOR_CACHE_DIR=f"{cache}/inductor",
                       OMP_NUM_THREADS=str(threads))
    command = [sys.executable, __file__, "--one", json.dumps([name, engine, mode]), "--threads", str(threads),
               "--seconds", str(options.seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name} with {engine}: " + done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def measure(options, name, mode):
    """A row: what each engine's processes told, cold and warm, and by threads the fastest steady calls."""
    row = {"model": name, "mode": mode, "threads": options.threads, "steady": {}}
    with tempfile.TemporaryDirectory() as cache:
        for engine in ENGINES:
            row[engine] = dict(zip(("cold", "warm"), [in_process(options, name, engine, mode, cache, options.threads[0])
                                                      for _ in range(2)]))
        for threads in options.threads:
            row["steady"][str(threads)] = in_process(options, name, "all", mode, cache, threads)
    return row


def columns(threads):
    """Columns with a ratio: a title, and the figure of an engine in a row."""
    return FIRST_CALLS | {f"steady, {number} thread{'s' * (number > 1)}":
                          lambda row, engine, number=number: row["steady"][str(number)][engine] for number in threads}


FIRST_CALLS = {
    "cold": lambda row, engine: row[engine]["cold"]["first wall"],
    "own part, warm": lambda row, engine: row[engine]["warm"]["own cpu"],
    "AOTAutograd": lambda row, engine: row[engine]["warm"]["backend cpu"] - row[engine]["warm"]["own cpu"],
    "Dynamo, call": lambda row, engine: row[engine]["warm"]["first cpu"] - row[engine]["warm"]["backend cpu"],
    "warm": lambda row, engine: row[engine]["warm"]["first cpu"],
    "MiB": lambda row, engine: row[engine]["warm"]["memory"],
}


def show(row):
    cells = ["{model}, {mode}".format(**row)]
    for figure in columns(row["threads"]).values():
        ours, theirs = (figure(row, engine) for engine in ENGINES)
        cells += [f"{number:.{0 if number >= 1000 else 1 if number >= 10 else 2}f}" for number in (ours, theirs)]
        cells.append(f"{ours / theirs:.2f}")
    cells += [f"{row['steady'][str(number)]['eager']:.2f}" for number in row["threads"]]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--modes", nargs="+", default=["inference", "train"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, engine, mode = json.loads(options.one)
        print(json.dumps(measure_steady(name, mode, *options.threads, options.seconds) if engine == "all" else
                         measure_first(name, engine, mode, *options.threads)))
        return
    found = []
    if options.out and options.out.exists():
        found = [json.loads(line) for line in options.out.read_text().splitlines()]
    shown = columns(options.threads)
    titles = [f"{title} | Inductor | ratio" for title in shown] + [f"eager, {number}" for number in options.threads]
    print("| model, mode | " + " | ".join(titles) + " |")
    print("|" + "---|" * (3 * len(shown) + len(options.threads) + 1))
    rows = []
    for name in options.models:
        for mode in options.modes:
            known = [row for row in found if (row["model"], row["mode"], row["threads"]) == (name, mode, options.threads)]
            rows += known or [measure(options, name, mode)]
            if options.out and not known:
                with options.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
            print(show(rows[-1]), flush=True)
    means = {title: math.exp(statistics.fmean(math.log(figure(row, ENGINES[0]) / figure(row, ENGINES[1])) for row in rows))
             for title, figure in shown.items()}
    print("\n" + ", ".join(f"{title} {mean:.2f}" for title, mean in means.items()))


if __name__ == "__main__":
    main()
