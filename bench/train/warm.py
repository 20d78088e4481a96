"""Fresh processes to their first finished step when everything was compiled before: warm.py [--only TEXT] [--repeat N].

`freestone train` from the model with an empty cache, from the model with what the cache then holds, and from a compiled step; PyTorch with
`torch.compile` with an empty and a full cache of TorchInductor. Each is timed from the start of its process until the first step has ended,
the warm ones of Freestone in turns. A steady step is beside it, so that what a start costs is seen.
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
import startup

# Limit of a warm start in seconds, besides its first step.
LIMIT = 0.3


def first_step(source, model, data, folder, threads, cache):
    """Seconds from the start of a process until it tells of its first step."""
    run = pathlib.Path(tempfile.mkdtemp(dir=folder))
    command = [engines.freestone_runtime.freestone(), "train", source, "--data", data, "--labels", "y", "--out", run / "run"]
    command += ["--batch", startup.SIZES[model][0], "--steps", 1, "--threads", threads]
    environment = {**os.environ, "FREESTONE_CACHE_DIR": str(cache), "FREESTONE_CACHE": "rw"}
    begin, first, said = time.perf_counter(), None, ""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    for line in process.stderr:
        said += line
        if first is None and "step 1/1" in line:
            first = time.perf_counter() - begin
    if process.wait() != 0 or first is None:
        sys.exit(f"{model}: freestone train failed: {said}")
    return first


def torch_first_step(model, threads, cache):
    size = "x".join(map(str, startup.SIZES[model]))
    command = [sys.executable, "-c", startup.PEER, str(pathlib.Path(__file__).parent), "torch.compile", model, size, str(threads), "1"]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCHINDUCTOR_FX_GRAPH_CACHE": "1"}
    begin = time.perf_counter()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=environment)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        print(f"torch.compile left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return float("nan")
    return seconds


def steady_step(model, models, threads):
    """Median seconds of a step of a process that trains on."""
    step = engines.prepare("freestone", model, startup.SIZES[model], threads, "fp32", models)
    step(0)
    times = []
    for index in range(8):
        begin = time.perf_counter()
        step(index % engines.BATCHES)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--no-torch", action="store_true")
    default = engines.freestone_runtime.build_folder() / "models"
    parser.add_argument("--models", default=default, help="where filled models are")
    arguments = parser.parse_args()
    print("| model | step s | empty cache s | warm s | from .stone s | warm less a step s | torch.compile empty s | warm s |")
    print("|---" * 8 + "|")
    slow = []
    for model in startup.SIZES:
        if arguments.only not in model:
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            data, stone = startup.write_data(model, folder, 4), folder / "step.stone"
            source = engines.compile_step(model, "fp32", arguments.models, stone)

            def run(path, cache):
                return first_step(path, model, data, folder, arguments.threads, folder / cache)

            cold = statistics.median(run(source, f"cold{number}") for number in range(min(3, arguments.repeat)))
            run(source, "warm")
            time.sleep(3.1)  # files that changed less than two seconds ago are hashed again
            pairs = [(run(source, "warm"), run(stone, "warm")) for _ in range(arguments.repeat + 1)][1:]
            warm, direct = (statistics.median(times) for times in zip(*pairs))
            step = steady_step(model, arguments.models, arguments.threads)
            peers = [float("nan")] * 2
            if not arguments.no_torch:
                peers = [torch_first_step(model, arguments.threads, folder / "inductor") for _ in range(3)]
                peers = [peers[0], min(peers[1:])]
        print(f"| {model} | {step:.3f} | {cold:.2f} | {warm:.3f} | {direct:.3f} | {warm - step:.3f} | {peers[0]:.1f} | {peers[1]:.1f} |",
              flush=True)
        if warm > LIMIT + step:
            slow.append(f"{model}: a warm training needs {warm - step:.2f} s besides its first step")
    print("\n".join(slow) or "all within the limits")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
