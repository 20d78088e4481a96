"""How long workers wait for each other, and what two threads gain: waits.py [--threads N] [--rounds N].

Of GPT 8x128, MLP 128 and CNN 64: waits that had to look more than once, per run, with the order of phases as it is, with
`--disable elide-waits,merge-phases,schedule` and with tiles dealt evenly; the share of each worker's time in waits, from a
trace; and how much faster N threads are than one, in turns, beside what as many copies of the peak loop, fed by loads, and
of a stream of memory reach over one copy in the same run (`freestone-peak N`). Models are compiled by the first call.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import freestone_runtime
import numpy as np
import plane
import workloads

NAMES = ("gpt 8x128", "mlp 128", "cnn 64")
ORDER = ("--disable", "elide-waits,merge-phases,schedule")
DEALS = 16  # FREESTONE_DEALS


def make_artifacts(workload, folder, models):
    """Artifacts with the order of phases as it is and switched off."""
    model = workloads.filled_model(workload.model, models)
    compiler = freestone_runtime.build_folder() / "lib" / "libfreestone_compiler.so"
    paths = []
    for kind, options in (("on", ()), ("off", ORDER)):
        paths.append(folder / f"{workload.model}-{kind}.stone")
        if not paths[-1].exists() or paths[-1].stat().st_mtime < compiler.stat().st_mtime:
            freestone_runtime.compile_model(model, paths[-1], *options)
    return paths


def count_waits(artifact, feeds, threads, runs, switched_off=0):
    """Waits and phases of a run."""
    model = freestone_runtime.Model(artifact, threads, switched_off)
    model.run(feeds)
    before = model.counters()
    for _ in range(runs):
        model.run_bound()
    after = model.counters()
    model.close()
    return [(getattr(after, name) - getattr(before, name)) / runs for name in ("waits", "phases")]


def share_of_waits(artifact, feeds, threads, runs, folder):
    """Each worker's share of a run in which it waits, the median of runs."""
    np.savez(folder / "feeds.npz", **feeds)
    trace = folder / "trace.json"
    trace.unlink(missing_ok=True)
    command = [freestone_runtime.freestone(), "run", artifact, "--input", folder / "feeds.npz", "--threads", str(threads), "--repeat", str(runs)]
    subprocess.run([*command, "--trace", trace], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lanes = [events for name, events in plane.read_lanes(trace, 0).items() if "planned" not in name]
    numbers = sorted({event["args"]["run"] for events in lanes for event in events})[runs // 4:]
    shares = [[] for _ in lanes]
    for number in numbers:
        chosen = [[event for event in events if event["args"]["run"] == number] for events in lanes]
        begin = min(event["ts"] for events in chosen for event in events)
        end = max(event["ts"] + event["dur"] for events in chosen for event in events)
        for share, events in zip(shares, chosen):
            share.append(sum(event["dur"] for event in events if "tiles" not in event["args"]) / (end - begin))
    return [statistics.median(share) for share in shares]


def measure_gain(artifact, feeds, threads, rounds, seconds):
    """The median time of a run on one thread, and on `threads`, in turns."""
    models = [freestone_runtime.Model(artifact, count) for count in (1, threads)]
    times = [[] for _ in models]
    for model in models:
        model.run(feeds)
    for _ in range(rounds):
        for model, measured in zip(models, times):
            time.sleep(0.005)  # the other's workers may still spin
            model.run_bound()
            end = time.perf_counter() + seconds
            while not measured or time.perf_counter() < end:
                begin = time.perf_counter()
                model.run_bound()
                measured.append(time.perf_counter() - begin)
    for model in models:
        model.close()
    return [statistics.median(measured) for measured in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="of each turn")
    parser.add_argument("--runs", type=int, default=20, help="counted, and traced")
    parser.add_argument("--compile-only", action="store_true", help="compiles the models and measures nothing")
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    parser.add_argument("--folder", type=pathlib.Path, default=freestone_runtime.build_folder() / "waits")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = [workload for workload in workloads.RACE if workload.name in NAMES]
    artifacts = {workload.name: make_artifacts(workload, options.folder, options.models) for workload in chosen}
    if options.compile_only:
        return 0
    machine = subprocess.check_output([freestone_runtime.build_folder() / "bin" / "freestone-peak", str(options.threads)], text=True)
    registers, loads, streams = (float(line.split()[0]) for line in machine.splitlines())
    print(f"{options.threads} copies over one: peak loop {registers:.2f}, fed by loads {loads:.2f}, streams {streams:.2f}\n")
    workers = [f"worker {number}" for number in range(options.threads)]
    print("| | phases, order off | phases | waits a run, order off | waits, even deals | waits | "
          + " | ".join(f"waiting, {name}, order off" for name in workers) + " | " + " | ".join(f"waiting, {name}" for name in workers)
          + f" | 1 thread ms | {options.threads} threads ms | gain | of the peak loop's |")
    print("|---" * (10 + 2 * len(workers)) + "|")
    for workload in chosen:
        feeds, (on, off) = workload.feeds(), artifacts[workload.name]
        waits_off, phases_off = count_waits(off, feeds, options.threads, options.runs)
        waits_even, _ = count_waits(on, feeds, options.threads, options.runs, DEALS)
        waits, phases = count_waits(on, feeds, options.threads, options.runs)
        shares = [share_of_waits(path, feeds, options.threads, options.runs, options.folder) for path in (off, on)]
        alone, together = measure_gain(on, feeds, options.threads, options.rounds, options.seconds)
        cells = [f"{phases_off:.0f}", f"{phases:.0f}", f"{waits_off:.0f}", f"{waits_even:.0f}", f"{waits:.0f}"]
        cells += [f"{100 * share:.1f} %" for both in shares for share in both]
        cells += [f"{alone * 1e3:.3f}", f"{together * 1e3:.3f}", f"{alone / together:.2f}", f"{alone / together / loads:.2f}"]
        print(f"| {workload.name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
