"""The whole zoo: agreement, compile time, run time, memory, training steps and losses, beside peers and the machine's limit.

  zoo.py --folder FOLDER [NETWORK …] [--what compile inference …] [--targets …] [--threads …] [--precisions …]

FOLDER keeps the exported networks, and a folder of each machine and build for what is compiled and measured there. Every
figure is measured in a process of its own and added to results.jsonl at once; what is there is not measured again, so
that an interrupted run goes on where it ended, and what failed is tried again. With --table, nothing is measured: the
tables of what is there are printed.

Inference is timed at the first sizes of networks.py, training at the second, on the first CPUs that the process may use;
compiling uses all of them. Rows for x86-64-v3 on a machine with AVX-512 stand beside PyTorch that is held to AVX2.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import results as kept
import tables
from figures import BUILD, HERE

WHAT = ("compile", "agreement", "inference", "memory", "step-compile", "torch-compile", "training", "losses", "training-memory")
FORMS = ("dynamo", "torchscript")
LIMIT = 1e-4  # of errors
# Those beside torch.compile, which takes minutes for each.
COMPILED_BY_TORCH = ("resnet50", "mobilenet_v2", "minilm", "gpt2")
# MKL, which computes PyTorch's products, knows a switch of its own.
HELD_TO_AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}


def cells(name, what, options):
    """The arguments of the processes that measure something of a network."""
    forms = [(form, "host") for form in FORMS if (options.folder / f"{name}.{form}.onnx").exists()]
    forms = [pair for pair in forms if "host" in options.targets]
    forms += [("dynamo", target) for target in options.targets if target != "host"]
    # Where bf16 has no instructions of its own, nothing is to be gained.
    steps = [(target, precision) for target in options.targets for precision in options.precisions
             if target == "host" or precision == "fp32"]
    rows = {
        "compile": forms,
        "agreement": forms,
        "inference": [(target, count) for target in options.targets for count in options.threads],
        "memory": [("freestone",), ("onnxruntime",), ("openvino",)],
        "step-compile": steps,
        "torch-compile": [(precision, count) for precision in options.precisions for count in options.threads
                          if name in COMPILED_BY_TORCH and "host" in options.targets],
        "training": [(*step, count) for step in steps for count in options.threads],
        "losses": [()],
        "training-memory": [("freestone",), ("recomputing",), ("early",), ("least",), ("torch",)],
    }
    return [[what, name, *map(str, row)] for row in rows[what]]


def is_timed(cell):
    return cell[0] in ("inference", "training")


def measure(cell, folder, store, seconds):
    """The figures of a cell; {"failed": reason} where it could not be measured. What is timed runs on as many CPUs as it has
    threads."""
    path = os.pathsep.join([str(HERE), str(HERE.parent), str(BUILD / "python"), os.environ.get("PYTHONPATH", "")])
    environment = dict(os.environ, PYTHONPATH=path, FREESTONE_CACHE_DIR=str(store / "cache"),
                       FREESTONE_ZOO_SECONDS=str(seconds))
    command = [sys.executable, str(HERE / "cell.py"), str(folder), str(store), *cell]
    if is_timed(cell):
        threads = int(cell[-1])
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < threads:
            return {"failed": f"{threads} threads on {len(cpus)} CPUs"}
        command = ["taskset", "-c", ",".join(map(str, cpus[:threads])), *command]
        environment["OMP_NUM_THREADS"] = str(threads)
        if "x86-64-v3" in cell:
            environment |= HELD_TO_AVX2
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def measure_all(names, options, store, results):
    import export

    for name in names:
        for form, reason in export.export_forms(name, options.folder).items():
            print(f"{name}: PyTorch can't export the form {form}: {reason}", file=sys.stderr)
        export.write_inputs(name, options.folder)
        for cell in (cell for what in WHAT if what in options.what for cell in cells(name, what, options)):
            if results.has(cell):
                continue
            begin = time.perf_counter()
            figures = measure(cell, options.folder, store, options.seconds)
            results.add(cell, figures)
            print(" ".join(cell), json.dumps(figures), f"({time.perf_counter() - begin:.0f} s)", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    targets = ["host", "x86-64-v3"] if kept.has_avx512() else ["host"]
    parser.add_argument("networks", nargs="*", help="of networks.py; all")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="keeps exported networks, compiled ones and results")
    parser.add_argument("--what", nargs="+", choices=WHAT, default=WHAT, metavar="WORD", help=", ".join(WHAT))
    parser.add_argument("--targets", nargs="+", choices=["host", "x86-64-v3"], default=targets, help="what Freestone compiles for")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"], help="of steps")
    parser.add_argument("--seconds", type=float, default=6, help="that an engine runs for a time")
    parser.add_argument("--table", action="store_true", help="print what was measured")
    options = parser.parse_args()
    store = kept.store_of(options.folder, BUILD)
    if not options.table:
        store.mkdir(parents=True, exist_ok=True)
    results = kept.Results(store)
    names = options.networks or results.names()
    if not options.table:
        import networks

        unknown = set(options.networks) - set(networks.NETWORKS)
        if unknown:
            parser.error(f"there is no network {', '.join(sorted(unknown))}; there are {', '.join(networks.NETWORKS)}")
        names = options.networks or list(networks.NETWORKS)
        measure_all(names, options, store, results)
    tables.print_all(results, names, options.targets, options.threads, options.precisions)
    wrong = results.failed | {cell: f"an error of {figures['error']:.0e}" for cell, figures in results.rows.items()
                              if figures.get("error", 0) > LIMIT}
    for cell, reason in wrong.items():
        print(f"failed: {' '.join(cell)}: {reason}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
