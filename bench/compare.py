"""Side by side with ONNX Runtime and OpenVINO: compare.py [--threads N] [--rounds N] [--markdown] [--limit FACTOR].

All engines run in this process on the same CPUs and inputs, in turns, so that whatever slows the machine slows all of
them. The figure is the median of all runs. With --limit, fails when Freestone is slower than FACTOR times the best peer
in any row.
"""

import argparse
import os
import statistics
import sys
import time

import freestone_runtime
import peers
import workloads


def measure(engines, model, feeds, threads, rounds, block_seconds):
    """Median seconds per engine, and what each returned."""
    runs, results, times = {}, {}, {name: [] for name in engines}
    for name, engine in engines.items():
        runs[name], results[name] = engine.prepare(model, feeds, threads)
    for _ in range(rounds):
        for name, run in runs.items():
            # The others' workers may still spin; the first run of a block warms caches and is not counted.
            time.sleep(0.02)
            run()
            end = time.perf_counter() + block_seconds
            while True:
                begin = time.perf_counter()
                run()
                now = time.perf_counter()
                times[name].append(now - begin)
                if now >= end:
                    break
    return {name: statistics.median(values) for name, values in times.items()}, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--block-seconds", type=float, default=0.3)
    parser.add_argument("--engines", default=",".join(peers.ALL))
    parser.add_argument("--only", default="", help="part of the name of a row, such as 'gpt 1x'")
    parser.add_argument("--limit", type=float, help="fail when a row is slower than so many times the best peer")
    parser.add_argument("--models", default=freestone_runtime.build_folder() / "models", help="where filled models are")
    arguments = parser.parse_args()

    cpus = sorted(os.sched_getaffinity(0))[: arguments.threads]
    if len(cpus) < arguments.threads:
        sys.exit(f"{arguments.threads} threads, but only {len(cpus)} CPUs may be used")
    os.sched_setaffinity(0, cpus)
    engines = {name: peers.ALL[name] for name in arguments.engines.split(",")}
    print(
        f"| {arguments.threads} threads | "
        + " | ".join(f"{name} ms" for name in engines)
        + " | against the best peer | GFLOP/s |"
    )
    print("|---" * (len(engines) + 3) + "|")
    slow = []
    for workload in workloads.RACE:
        if arguments.only not in workload.name:
            continue
        model = workloads.filled_model(workload.model, arguments.models)
        medians, _ = measure(
            engines, model, workload.feeds(), arguments.threads, arguments.rounds, arguments.block_seconds
        )
        ours, others = medians.get("freestone"), [seconds for name, seconds in medians.items() if name != "freestone"]
        factor = ours / min(others) if ours and others else float("nan")
        cells = [f"{seconds * 1e3:.3f}" for seconds in medians.values()]
        speed = workload.operations() / (ours or min(others)) * 1e-9
        print(f"| {workload.name} | " + " | ".join(cells) + f" | {factor:.2f} | {speed:.0f} |", flush=True)
        if arguments.limit and factor > arguments.limit:
            slow.append(workload.name)
    if slow:
        print(f"slower than {arguments.limit} times the best peer: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
