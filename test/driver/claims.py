"""Tiles that workers claim from each other: claims.py MODELS, a folder with the filled models.

The models, and a loop of products whose trip count is an input, on one to eight workers, of which another process steals a
CPU: with claims (as on a busy machine) and without, the bits of one worker. Claims have taken place, and nothing is
claimed where they are switched off, or when compiling `--disable claimed`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
import onnx.parser
import workloads

CLAIMS = 64  # FREESTONE_CLAIMS
WORKERS = range(1, 9)
SIZES = {"mlp": [(2048,), (3,)], "cnn": [(512,)], "gpt": [(8, 128)]}
LOOP = """<ir_version: 9, opset_import: ["": 20]>
    loop (float[n, 768] x, float[768, 768] w, int64 m) => (float[n, 768] y) {
        y = Loop<body = b (int64 i, bool c, float[n, 768] p) => (bool d, float[n, 768] q) {
            d = Identity(c) r = MatMul(p, w) q = Softmax<axis = 1>(r) }>(m, , x)
    }"""


def cases(models, folder):
    """Names, models and the inputs of several runs."""
    for name, sizes in SIZES.items():
        yield name, models / f"{name}.onnx", [workloads.Workload(name, size).feeds() for size in sizes]
    path = folder / "loop.onnx"
    onnx.save(onnx.parser.parse_model(LOOP), path)
    draw = np.random.default_rng(1).standard_normal
    yield "loop", path, [{"x": draw((1024, 768), np.float32), "w": draw((768, 768), np.float32), "m": np.array(m)}
                         for m in (0, 1, 7)]


def run(artifact, threads, feeds, **options):
    """The outputs of two runs of each, and the counters."""
    model = freestone_runtime.Model(artifact, threads, **options)
    outputs = [value for given in feeds for _ in range(2) for value in model.run(given)]
    counters = model.counters()
    model.close()
    return [np.copy(value) for value in outputs], counters


def main():
    faults = []
    thief = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(thief.pid, {max(os.sched_getaffinity(0))})
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, path, feeds in cases(pathlib.Path(sys.argv[1]), pathlib.Path(folder)):
                artifact = pathlib.Path(folder) / f"{name}.stone"
                freestone_runtime.compile_model(path, artifact)
                expected, _ = run(artifact, 1, feeds)
                steals = 0
                for threads in WORKERS:
                    for options in ({"assume_busy": True}, {"switched_off": CLAIMS}):
                        outputs, counters = run(artifact, threads, feeds, **options)
                        if not all(np.array_equal(one, other) for one, other in zip(outputs, expected, strict=True)):
                            faults.append(f"{name}: other bits on {threads} workers with {options}")
                        may_claim = threads > 1 and "assume_busy" in options
                        # On many workers shares may be too short.
                        must_claim = may_claim and threads == 2
                        if not must_claim <= (counters.claiming_runs > 0) <= may_claim or (counters.steals > 0 and not may_claim):
                            faults.append(f"{name}: {counters.claiming_runs} runs claim on {threads} workers with {options}")
                        steals += counters.steals
                print(name, "steals:", steals, flush=True)
                if steals == 0:
                    faults.append(f"{name}: nothing was taken from others")
                freestone_runtime.compile_model(path, artifact, "--disable=claimed")
                outputs, counters = run(artifact, 2, feeds, assume_busy=True)
                if counters.claiming_runs > 0 or not all(map(np.array_equal, outputs, expected)):
                    faults.append(f"{name}: claims, or other bits, without claimed phases")
    finally:
        thief.kill()
        thief.wait()
    print("\n".join(faults) or "the same bits on 1 to 8 workers, whoever computes the tiles")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
