"""Cold processes to their first finished training step, and what memory training takes: startup.py [--only TEXT] [--repeat N].

`freestone train` from the model and from a compiled step, until the first line of its metrics is there, with an empty cache;
PyTorch until its first step has ended. The memory is the peak of `freestone train step.stone` over 20 steps.
"""

import argparse
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

PEER = """
import sys, time
begin = time.perf_counter()
sys.path.insert(0, sys.argv[1])
import engines
size = tuple(map(int, sys.argv[4].split("x")))
engines.prepare(sys.argv[2], sys.argv[3], size, int(sys.argv[5]), "fp32", None)(0)
"""


def write_data(model, folder, steps):
    x, y = zip(*engines.make_batches(model, SIZES[model], steps))
    path = folder / "data.npz"
    np.savez(path, **{"tokens" if model == "gpt" else "x": np.concatenate(x), "y": np.concatenate(y)})
    return path


def train(source, model, data, folder, threads, steps):
    """Seconds to the first line of the metrics, and the peak of the process's memory in MiB."""
    axis = ["--class-axis", "2"] if model == "gpt" and str(source).endswith(".onnx") else []
    run = pathlib.Path(tempfile.mkdtemp(dir=folder))
    command = [engines.freestone_runtime.freestone(), "train", source, "--data", data, "--labels", "y", "--out", run / "run", *axis]
    command += ["--batch", SIZES[model][0], "--steps", steps, "--epochs", steps, "--threads", threads]
    environment = {**os.environ, "FREESTONE_CACHE_DIR": str(run / "cache"), "FREESTONE_CACHE": "rw"}
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
    return first, usage.ru_maxrss / 1024


def peer(engine, model, threads):
    size = "x".join(map(str, SIZES[model]))
    begin = time.perf_counter()
    command = [sys.executable, "-c", PEER, str(pathlib.Path(__file__).parent), engine, model, size, str(threads)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{engine} left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return float("nan")
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--peers", default="torch,torch.compile")
    default = engines.freestone_runtime.build_folder() / "models"
    parser.add_argument("--models", default=default, help="where filled models are")
    arguments = parser.parse_args()
    peers = [name for name in arguments.peers.split(",") if name]
    print("| model | from .onnx s | from .stone s | " + " | ".join(f"{name} s" for name in peers) + " | peak MiB |")
    print("|---" * (len(peers) + 4) + "|")
    for model in SIZES:
        if arguments.only not in model:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            data, stone = write_data(model, folder, 20), folder / "step.stone"
            source = engines.compile_step(model, "fp32", arguments.models, stone)

            def median(source):
                runs = (train(source, model, data, folder, arguments.threads, 3)[0] for _ in range(arguments.repeat))
                return statistics.median(runs)

            cold, warm = median(source), median(stone)
            memory = train(stone, model, data, folder, arguments.threads, 20)[1]
            others = [statistics.median(peer(e, model, arguments.threads) for _ in range(arguments.repeat)) for e in peers]
        print(f"| {model} | {cold:.2f} | {warm:.2f} | " + " | ".join(f"{s:.2f}" for s in others) + f" | {memory:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
