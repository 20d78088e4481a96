"""Cold processes to their first finished training step, and what memory training takes: startup.py [--only TEXT] [--limit].

`freestone train` from the model and from a compiled step, until the first line of its metrics is there, with an empty cache;
PyTorch until its first step has ended. The memory is the peak of the process over 20 steps, of Freestone from the compiled step;
beside its seconds is the median of these steps. Figures are medians of --repeat processes. With --limit, fails when Freestone
starts later or takes more memory than it may.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import engines
import numpy as np

SIZES = {"mlp": (128,), "cnn": (64,), "gpt": (8, 128)}
STEPS = 20

# Limits: seconds to the first step from the model; additional seconds from a compiled step; MiB.
COLD_LIMITS, START_LIMIT, MEMORY_LIMITS = {"gpt": 8.0}, 0.3, {"cnn": 150, "gpt": 500}

# Writes a line after the first step.
PEER = """
import sys
sys.path.insert(0, sys.argv[1])
import engines
size = tuple(map(int, sys.argv[4].split("x")))
step = engines.prepare(sys.argv[2], sys.argv[3], size, int(sys.argv[5]), "fp32", None)
step(0)
print(flush=True)
for index in range(1, int(sys.argv[6])):
    step(index % engines.BATCHES)
"""


def write_data(model, folder, steps):
    x, y = zip(*engines.make_batches(model, SIZES[model], steps))
    path = folder / "data.npz"
    np.savez(path, **{"tokens" if model == "gpt" else "x": np.concatenate(x), "y": np.concatenate(y)})
    return path


def train(source, model, data, folder, threads, steps):
    """Seconds to the first line of the metrics, the peak of the process's memory in MiB, and the median seconds of its steps."""
    run = pathlib.Path(tempfile.mkdtemp(dir=folder))
    command = [engines.freestone_runtime.freestone(), "train", source, "--data", data, "--labels", "y", "--out", run / "run"]
    command += ["--batch", SIZES[model][0], "--steps", steps, "--epochs", steps, "--threads", threads]
    environment = {**os.environ, "FREESTONE_CACHE_DIR": str(run / "cache"), "FREESTONE_CACHE": "rw"}
    # A machine is measured once for all, before its first compilation.
    subprocess.run([command[0], "machine", "--calibrate"], check=True, stdout=subprocess.DEVNULL, env=environment)
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    metrics, first = run / "run" / "metrics.jsonl", None
    while first is None and process.poll() is None:
        if metrics.exists() and metrics.stat().st_size:
            first = time.perf_counter() - begin
        time.sleep(0.002)
    if process.returncode is not None:
        sys.exit(f"{model}: freestone train ended before it was seen to finish a step")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{model}: freestone train failed")
    speeds = [json.loads(line)["samples_per_s"] for line in metrics.read_text().splitlines()]
    return first, usage.ru_maxrss / 1024, SIZES[model][0] / statistics.median(speeds)


def peer(engine, model, threads):
    """Seconds to the end of the first step, and the peak of the process's memory in MiB."""
    size = "x".join(map(str, SIZES[model]))
    command = [sys.executable, "-c", PEER, pathlib.Path(__file__).parent, engine, model, size, threads, STEPS]
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=errors, text=True)
        answered = process.stdout.readline()
        first = time.perf_counter() - begin
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 or not answered:
            errors.seek(0)
            print(f"{engine} left out: {(errors.read().strip() or 'it ended').splitlines()[-1]}", file=sys.stderr)
            return float("nan"), float("nan")
    return first, usage.ru_maxrss / 1024


def medians(runs):
    return [statistics.median(figures) for figures in zip(*runs)]


def missed(model, cold, start, step, memory):
    """What Freestone may not take, as sentences."""
    if cold > COLD_LIMITS.get(model, cold):
        yield f"{model}: the first step from the model ends after {cold:.2f} s, more than {COLD_LIMITS[model]} s"
    if start > START_LIMIT + step:
        yield f"{model}: a start from a compiled step takes {start - step:.2f} s besides a step, more than {START_LIMIT} s"
    if memory > MEMORY_LIMITS.get(model, memory):
        yield f"{model}: training takes {memory:.0f} MiB, more than {MEMORY_LIMITS[model]} MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peers", default="torch,torch.compile")
    parser.add_argument("--limit", action="store_true", help="fail when Freestone takes more than it may")
    default = engines.freestone_runtime.build_folder() / "models"
    parser.add_argument("--models", default=default, help="where filled models are")
    arguments = parser.parse_args()
    peers = [name for name in arguments.peers.split(",") if name]
    columns = ["model", "from .onnx s", "from .stone s", "a step s", "MiB", *(f"{name} {unit}" for name in peers for unit in ("s", "MiB"))]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    slow = []
    for model in SIZES:
        if arguments.only not in model:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            data, stone = write_data(model, folder, STEPS), folder / "step.stone"
            source = engines.compile_step(model, "fp32", arguments.models, stone)

            def median(source, steps):
                return medians(train(source, model, data, folder, arguments.threads, steps) for _ in range(arguments.repeat))

            cold = median(source, 3)[0]
            start, memory, step = median(stone, STEPS)
            others = [medians(peer(name, model, arguments.threads) for _ in range(arguments.repeat)) for name in peers]
        cells = [model, f"{cold:.2f}", f"{start:.2f}", f"{step:.3f}", f"{memory:.0f}"]
        cells += [cell for seconds, peak in others for cell in (f"{seconds:.2f}", f"{peak:.0f}")]
        print(f"| {' | '.join(cells)} |", flush=True)
        slow += missed(model, cold, start, step, memory)
    if arguments.limit:
        print("\n".join(slow) or "all within the limits")
    return 1 if slow and arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
