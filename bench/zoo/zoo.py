"""The whole zoo: agreement, compile time, run time, memory, training steps and losses, beside peers.

  zoo.py --folder FOLDER [NETWORK …] [--what agreement inference memory training losses training-memory]

Every figure is measured in a process of its own and added to FOLDER/results.jsonl at once; what is there is not measured
again, so that an interrupted run goes on where it ended. Figures of another machine in that file are refused. With
--table, nothing is measured: the tables of what is there are printed.

Inference is timed at the first sizes of networks.py, training at the second. Each network is compiled once for all of
them. Ratios are Freestone's time of the best peer's.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FREESTONE_BUILD", HERE.parents[1] / "build"))
FORMS = ("dynamo", "torchscript")
PEERS = ("onnxruntime", "openvino")


def machine():
    """The processor's name and the cores that are there."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    name = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in lines if ":" in line}
    return f"{name.get('model name')} (family {name.get('cpu family')}, model {name.get('model')}), {os.cpu_count()} cores"


def cells(name, what, targets, threads):
    """The arguments of the processes that measure something of a network."""
    rows = {
        "agreement": [(form,) for form in FORMS],
        "inference": [(target, count) for target in targets for count in threads],
        "memory": [(engine,) for engine in ("freestone", *PEERS)],
        "training": [(target, count) for target in targets for count in threads],
        "losses": [()],
        "training-memory": [(engine,) for engine in ("freestone", "torch")],
    }
    return [[what, name, *map(str, row)] for row in rows[what]]


class Results:
    """The figures of one machine in a file, by the arguments of their cells."""

    def __init__(self, path):
        self.path, self.here, self.rows = path, machine(), {}
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            if row["machine"] != self.here:
                sys.exit(f"{path} has figures of another machine ({row['machine']}); name another --folder")
            self.rows[tuple(row["cell"])] = row["figures"]

    def add(self, cell, figures):
        self.rows[tuple(cell)] = figures
        with open(self.path, "a") as file:
            file.write(json.dumps({"machine": self.here, "cell": cell, "figures": figures}) + "\n")

    def get(self, *cell):
        return self.rows.get(tuple(map(str, cell)), {})


def measure(cell, folder, threads):
    """The figures of a cell; {"failed": reason} where it could not be measured."""
    path = os.pathsep.join([str(HERE), str(HERE.parent), str(BUILD / "python"), os.environ.get("PYTHONPATH", "")])
    environment = dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS=str(threads), FREESTONE_CACHE_DIR=str(folder / "cache"))
    command = ["taskset", "-c", ",".join(map(str, sorted(os.sched_getaffinity(0))[:threads])),
               sys.executable, str(HERE / "cell.py"), str(folder), *cell]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def ratio(figures, engines):
    """Our time of the best peer's."""
    peers = [figures[engine] for engine in engines if engine in figures]
    return figures["freestone"] / min(peers) if peers and "freestone" in figures else None


def text(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


class Table:
    """Rows with the times of several targets and threads, and the means of their ratios."""

    def __init__(self, results, what, peers, targets, threads):
        self.results, self.what, self.peers = results, what, peers
        self.pairs = [(target, count) for target in targets for count in threads]
        self.ratios = {}

    def begin(self, before, names, after):
        times = [" | ".join([f"{target}, {count} threads: ms", *names, "ratio"]) for target, count in self.pairs]
        heading = " | ".join([*before, *times, *after])
        print(f"\n| {heading} |\n" + "|---" * (heading.count("|") + 1) + "|")

    def times(self, name):
        cells = []
        for pair in self.pairs:
            figures = self.results.get(self.what, name, *pair)
            found = ratio(figures, self.peers)
            if found:
                self.ratios.setdefault(pair, []).append(found)
            cells += [text(figures.get(engine)) for engine in ("freestone", *self.peers)] + [text(found)]
        return cells

    def end(self):
        for (target, count), values in self.ratios.items():
            print(f"\n{target}, {count} threads: geometric mean {math.exp(statistics.fmean(map(math.log, values))):.2f}, "
                  f"worst {max(values):.2f}, {len(values)} networks")


def print_inference(results, names, targets, threads):
    table = Table(results, "inference", PEERS, targets, threads)
    table.begin(["network", "error", "compiled in s", "the older exporter's error"], ["ONNX Runtime", "OpenVINO"],
                ["MiB", "ONNX Runtime", "OpenVINO"])
    for name in names:
        new, old = (results.get("agreement", name, form) for form in FORMS)
        row = [name, text(new.get("error"), "{:.0e}"), text(new.get("compile_s")), text(old.get("error"), "{:.0e}")]
        row += table.times(name)
        row += [text(results.get("memory", name, engine).get("mib"), "{:.0f}") for engine in ("freestone", *PEERS)]
        print("| " + " | ".join(row) + " |")
    table.end()


def print_training(results, names, targets, threads):
    table = Table(results, "training", ("torch",), targets, threads)
    table.begin(["network", "compiled in s"], ["PyTorch"], ["MiB", "PyTorch", "losses of 30 steps"])
    for name in names:
        row = [name, text(results.get("training", name, targets[0], threads[0]).get("compile_s")), *table.times(name)]
        row += [text(results.get("training-memory", name, engine).get("mib"), "{:.0f}") for engine in ("freestone", "torch")]
        row += [text(results.get("losses", name).get("difference"), "{:.0e}")]
        print("| " + " | ".join(row) + " |")
    table.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", help="of networks.py; all")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="keeps exported models, compiled ones and results")
    parser.add_argument("--what", nargs="+", default=["agreement", "inference", "memory", "training", "losses", "training-memory"])
    parser.add_argument("--targets", nargs="+", default=["host", "x86-64-v3"], help="what Freestone compiles for")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--table", action="store_true", help="print what was measured")
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = Results(arguments.folder / "results.jsonl")
    names = arguments.networks or sorted({cell[1] for cell in results.rows}) if arguments.table else arguments.networks
    if not arguments.table:
        import export
        import networks

        names = names or list(networks.NETWORKS)
        for name in names:
            for form, reason in export.export_forms(name, arguments.folder).items():
                print(f"{name}: PyTorch can't export the form {form}: {reason}", file=sys.stderr)
            export.write_inputs(name, arguments.folder)
            for cell in (cell for what in arguments.what for cell in cells(name, what, arguments.targets, arguments.threads)):
                if tuple(cell) in results.rows:
                    continue
                threads = int(cell[-1]) if cell[0] in ("inference", "training") else 1
                figures = measure(cell, arguments.folder, threads)
                results.add(cell, figures)
                print(" ".join(cell), json.dumps(figures), file=sys.stderr, flush=True)
    print_inference(results, names, arguments.targets, arguments.threads)
    print_training(results, names, arguments.targets, arguments.threads)


if __name__ == "__main__":
    main()
