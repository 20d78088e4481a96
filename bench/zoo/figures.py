"""How the figures of the zoo are taken: files of a network, turns, memory, and what the machine reaches."""

import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from turns import SPINNING  # noqa: E402

SECONDS = float(os.environ.get("FREESTONE_ZOO_SECONDS", 6))
BUILD = pathlib.Path(os.environ.get("FREESTONE_BUILD", HERE.parents[1] / "build"))
# Larger ones lie in memory, whatever the caches.
LARGEST_FOOTPRINT = 512 << 20


class Place:
    """Where the files of a network are."""

    def __init__(self, folder, store, name):
        self.folder, self.store, self.name = pathlib.Path(folder), pathlib.Path(store), name

    def model(self, form):
        return self.folder / f"{self.name}.{form}.onnx"

    def first_model(self):
        """The form that is timed: the newer exporter's, where it could write one."""
        return next((form for form in ("dynamo", "torchscript") if self.model(form).exists()), "dynamo")

    def arrays(self, what):
        """Arrays from a file, so that PyTorch is not in the process."""
        import numpy as np

        return dict(np.load(self.folder / f"{self.name}.{what}.npz"))

    def work(self, what):
        return json.loads((self.folder / f"{self.name}.work.json").read_text())[what]

    def artifact(self, form, target):
        return self.store / f"{self.name}.{form}.{target}.stone"

    def kept_steps(self, target, precision, *words):
        return self.store / ".".join([self.name, "steps", target, precision, *words])

    def rates(self):
        """The folder with the rates of this machine, which are measured once for all that is compiled here."""
        cache = self.store / "cache"
        if not (cache / "machine").exists():
            subprocess.run([BUILD / "bin" / "freestone", "machine", "--calibrate"], check=True, stdout=subprocess.DEVNULL,
                           env=dict(os.environ, FREESTONE_CACHE_DIR=str(cache)))
        return cache / "machine"

    def compiled(self, path, what, *arguments):
        """The path of what is compiled; where it is not there, another process makes it: this one's memory and CPUs are
        what is measured."""
        if not path.exists():
            subprocess.run([sys.executable, HERE / "cell.py", self.folder, self.store, what, self.name, *arguments],
                           check=True, stdout=subprocess.DEVNULL)
        return path


def peak():
    """MiB of this program alone; ru_maxrss would hold those of the process that started it."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def in_turns(runs, threads, at_least=0.0):
    """The least time of each in milliseconds, the mean of as many runs as take `at_least` seconds; the first run of a turn
    warms the caches. CPU time on one thread: that of threads beside the caller's, as run steps, counts in ticks of some
    milliseconds, of which a single run may miss one."""
    clock = time.process_time if threads == 1 else time.perf_counter
    least, end = dict.fromkeys(runs, float("inf")), time.perf_counter() + SECONDS * len(runs)
    counts = {}
    for name, run in runs.items():
        run()
        begin = time.perf_counter()
        run()
        counts[name] = max(1, round(at_least / (time.perf_counter() - begin)))
    rounds = 0
    while rounds < 2 or time.perf_counter() < end:
        rounds += 1
        for name, run in runs.items():
            if threads > 1:
                time.sleep(SPINNING)
            for _ in range(2):
                begin = clock()
                for _ in range(counts[name]):
                    run()
                least[name] = min(least[name], 1e3 * (clock() - begin) / counts[name])
    return least


def measure_rates(target, threads, footprint):
    """GFLOP/s of these threads with the target's instructions, and GB/s of reading so many bytes again and again."""
    command = [BUILD / "bin" / "freestone-peak", str(threads), str(max(1, min(footprint, LARGEST_FOOTPRINT) >> 20))]
    command += ["avx2"] if target == "x86-64-v3" else []
    return [float(line.split()[0]) for line in subprocess.check_output(command, text=True).splitlines()]


def beside_limit(runs, target, threads, work, at_least=0.0):
    """Times in turns, and the least that the machine needs: by its rates before and after, whatever it reached more of."""
    before = measure_rates(target, threads, work["footprint"])
    least = in_turns(runs, threads, at_least)
    gflops, gbytes = map(max, zip(before, measure_rates(target, threads, work["footprint"])))
    bounds = {"operations": work["flops"] / gflops / 1e6, "bytes": work["bytes"] / gbytes / 1e6}
    bound = max(bounds, key=bounds.get)
    return least | {"limit_ms": bounds[bound], "bound": bound, "gflops": gflops, "gbytes": gbytes}
