#!/usr/bin/env python3
"""Every operator beside ONNX Runtime: atlas.py [OPERATOR …] [--threads 1,2] [--target x86-64-v3] [--json].

Both sides run in this process on the same CPUs and inputs, in turns; a figure is the least of all runs. Rows are sorted
by ratio, the worst first; what the other side can't run stands at the end, and has no ratio. A result that differs is
marked, and the command then fails.
"""

import argparse
import json
import math
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import race
import rows


def select(families, operators, family_names):
    """The cases of the operators that are named, by any part of a row's name in quotes, else of all."""
    for family, members in families.items():
        if family_names and family not in family_names:
            continue
        for row in members:
            if not operators or row.operator in operators or row.name in operators:
                yield from ((family, case) for case in row.each())


def prepare_peer(case):
    """The other side, which has no bfloat16 and computes in float32 instead."""
    dtype = "float32" if case.dtype == "bfloat16" else None
    return race.OnnxRuntime(case.model(dtype)), case.feeds(dtype)


def measure(family, case, arguments):
    """The figures of a case, a dictionary for every number of threads."""
    row = {"family": family, "operator": case.row.name, "shape": case.shape, "dtype": case.dtype}
    options = ["--disable", arguments.disable] if arguments.disable else []
    try:
        ours, feeds = race.Freestone(case.model(symbolic=arguments.symbolic), arguments.target, options), case.feeds()
    except race.Refused as refused:
        yield row | {"refused": str(refused)}
        return
    theirs, other_feeds = prepare_peer(case)
    for threads in arguments.threads:
        os.sched_setaffinity(0, arguments.cpus[:threads])
        with ours.load(feeds, threads) as (run, outputs):
            yield row | {"threads": threads} | race_with(theirs, other_feeds, run, outputs, case, threads, arguments.seconds)


def race_with(theirs, feeds, run, outputs, case, threads, seconds):
    """The figures of both sides; where the other one refuses the model, of Freestone alone."""
    try:
        with theirs.load(feeds, threads) as (other_run, other_outputs):
            ours, other = race.time_in_turns([run, other_run], seconds)
            result = {"freestone_ms": ours * 1e3, "onnxruntime_ms": other * 1e3, "ratio": ours / other}
            if case.row.compared and (wrong := race.get_error(outputs, other_outputs, case.dtype)):
                result["wrong"] = wrong
            return result
    except race.REFUSALS as error:
        (ours,) = race.time_in_turns([run], seconds)
        return {"freestone_ms": ours * 1e3, "peer": str(error).splitlines()[0]}


def get_geometric_mean(results, threads):
    ratios = [result["ratio"] for result in results if result.get("threads") == threads and "ratio" in result]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def print_table(results, means):
    print("| operator | shape | type | threads | Freestone ms | ONNX Runtime ms | ratio |\n|---|---|---|---|---|---|---|")
    for result in results:
        number = lambda key, digits: f"{result[key]:.{digits}f}" if key in result else "–"
        mark = next((f" **{result[key]}**" for key in ("wrong", "refused") if key in result), "")
        print(f"| {result['operator']} | {result['shape']} | {result['dtype']} | {result.get('threads', '–')} "
              f"| {number('freestone_ms', 3)} | {number('onnxruntime_ms', 3)} | {number('ratio', 2)}{mark} |")
    for threads, mean in means.items():
        if mean is not None:
            print(f"\ngeometric mean, {threads} {'thread' if threads == 1 else 'threads'}: {mean:.2f}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="such as Relu, or a row: 'ReduceSum of all'")
    parser.add_argument("--family", action="append", choices=rows.FAMILIES, help="only its rows")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--target", default="host", help="of Freestone alone: host, x86-64-v3 or x86-64-v4")
    parser.add_argument("--disable", help="optimisations that Freestone leaves out, separated by commas")
    parser.add_argument("--symbolic", action="store_true", help="compiles for all sizes, not for those at hand")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each side of a row")
    parser.add_argument("--json", action="store_true", help="prints the figures as JSON")
    arguments = parser.parse_args()
    arguments.cpus = sorted(os.sched_getaffinity(0))
    if max(arguments.threads) > len(arguments.cpus):
        parser.error(f"{max(arguments.threads)} threads, but only {len(arguments.cpus)} CPUs may be used")
    return arguments


def main():
    arguments = parse_arguments()
    cases = list(select(rows.families(), set(arguments.operators), arguments.family))
    if not cases:
        sys.exit(f"no row is called {' or '.join(arguments.operators)}")
    results = []
    for number, (family, case) in enumerate(cases, 1):
        if sys.stderr.isatty():
            print(f"\r{number}/{len(cases)} {case.row.name:<40}", end="", file=sys.stderr, flush=True)
        results += measure(family, case, arguments)
    if sys.stderr.isatty():
        print("\r" + " " * 60, end="\r", file=sys.stderr)
    results.sort(key=lambda result: -result.get("ratio", 0.0))
    means = {threads: get_geometric_mean(results, threads) for threads in arguments.threads}
    if arguments.json:
        print(json.dumps({"rows": results, "geometric_means": means}, indent=1))
    else:
        print_table(results, means)
    return 1 if any("wrong" in result or "refused" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
