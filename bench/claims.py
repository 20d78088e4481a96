"""What it gains that workers claim tiles from each other: claims.py [NAME...] [--threads N] [--rounds N].

MLP 128, CNN 64 and GPT 8x128: milliseconds of a run, in turns, with tiles as they were dealt, always claimed, and claimed
when the runtime sees that the machine is busy; first as the machine is, then beside a process that computes on one of its
CPUs at the same priority. The minimum tells what claims cost, mean and median what they gain.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import freestone_runtime
import workloads

NAMES = ("mlp 128", "cnn 64", "gpt 8x128")
CLAIMS = 64  # FREESTONE_CLAIMS
MODES = {"dealt": {"switched_off": CLAIMS}, "claimed": {"assume_busy": True}, "as it sees fit": {}}


def measure(instances, rounds, seconds):
    """Milliseconds of all runs, by modes, and the share of runs that claimed."""
    times = {mode: [] for mode in instances}
    before = {mode: instances[mode].counters() for mode in instances}
    for _ in range(rounds):
        for mode, model in instances.items():
            time.sleep(0.005)  # the other's workers may still spin
            model.run_bound()
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                begin = time.perf_counter()
                model.run_bound()
                times[mode].append((time.perf_counter() - begin) * 1e3)
    shares = {}
    for mode, model in instances.items():
        after = model.counters()
        shares[mode] = (after.claiming_runs - before[mode].claiming_runs) / (after.runs - before[mode].runs)
    return times, shares


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn")
    parser.add_argument("--compile-only", action="store_true", help="compiles the models and measures nothing")
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    parser.add_argument("--folder", type=pathlib.Path, default=freestone_runtime.build_folder() / "claims")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = [workload for workload in workloads.RACE if workload.name in options.names]
    compiler = freestone_runtime.build_folder() / "lib" / "libfreestone_compiler.so"
    artifacts = {}
    for workload in chosen:
        path = artifacts[workload.name] = options.folder / f"{workload.model}.stone"
        if not path.exists() or path.stat().st_mtime < compiler.stat().st_mtime:
            freestone_runtime.compile_model(workloads.filled_model(workload.model, options.models), path)
    if options.compile_only:
        return 0
    print("| | beside | " + " | ".join(f"{mode}: minimum | median | mean" for mode in MODES) + " | of dealt, mean: "
          + " | ".join(list(MODES)[1:]) + " | runs that claimed |")
    print("|---" * (5 + 3 * len(MODES)) + "|")
    for workload in chosen:
        instances = {mode: freestone_runtime.Model(artifacts[workload.name], options.threads, **chosen_options)
                     for mode, chosen_options in MODES.items()}
        for model in instances.values():
            model.run(workload.feeds())
        for is_beside in (False, True):
            neighbour = None
            if is_beside:
                neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
                os.sched_setaffinity(neighbour.pid, {max(os.sched_getaffinity(0))})
            try:
                times, shares = measure(instances, options.rounds, options.seconds)
            finally:
                if neighbour:
                    neighbour.kill()
                    neighbour.wait()
            cells = [f"{min(each):.3f} | {statistics.median(each):.3f} | {statistics.mean(each):.3f}" for each in times.values()]
            means = [statistics.mean(each) for each in times.values()]
            ratios = [f"{mean / means[0]:.2f}" for mean in means[1:]]
            print(f"| {workload.name} | {'a neighbour' if is_beside else 'nothing'} | " + " | ".join(cells + ratios)
                  + f" | {100 * shares['as it sees fit']:.0f} % |", flush=True)
        for model in instances.values():
            model.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
