"""Products of squares and of odd shapes beside PyTorch (oneDNN, MKL) and numpy (OpenBLAS): shapes.py [--form F …].

All run in one process, in turns, on the same operands; results are compared with fp64 first. `inputs` and `transposed`
(B is stored as [n, k]) are one artifact for all sizes; of `weight`, the number of rows is symbolic, and PyTorch has its
weight packed by oneDNN. Freestone is measured for this machine and for x86-64-v3; with --avx2, the peers are held to
AVX2. Ratios are the minimum of Freestone's times to that of the best peer: CPU time for one thread, wall time for more.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# Peers whose threads spin for work would take the core of the engine that comes next.
os.environ |= {"OPENBLAS_THREAD_TIMEOUT": "4", "OMP_WAIT_POLICY": "passive"}

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import freestone_runtime  # noqa: E402

# (batch x) m x k x n
SQUARES = "256x256x256 512x512x512 1024x1024x1024 2048x2048x2048 4096x4096x4096"
ODD = (
    # One row, few rows, one column, few columns.
    "1x256x256 1x1024x1024 1x4096x4096 1x768x3072 1x3072x768 1x511x1001 1x512x20000 2x1024x1024 4x768x768 7x1000x1000 "
    "8x1024x4096 16x512x2048 31x1000x500 1024x1024x1 4096x4096x1 5000x300x1 1024x1024x2 2000x64x8 999x1001x10 1024x1024x17 "
    # Tall, wide, deep.
    "10000x64x64 3136x64x128 12544x27x32 784x192x64 4096x16x512 64x64x10000 64x128x3136 32x27x12544 128x9x12544 17x333x5001 "
    "64x10000x64 32x4096x32 10x20000x10 128x8192x128 1x20000x1 1x100000x16 300x7000x20 "
    # Near multiples of blocks.
    "17x17x17 33x65x31 63x64x65 100x100x100 127x131x137 200x300x400 255x257x259 383x385x387 509x511x513 768x767x769 "
    "1000x999x1001 1025x1023x1027 49x512x512 197x768x197 197x768x3072 1000x1000x64 1024x64x1024 2048x32x2048 "
    # Batches.
    "1000x3x3x3 256x8x8x8 500x16x16x16 64x32x32x32 96x64x64x17 8x49x32x49 12x128x64x128 16x197x64x197 12x1x64x1024 48x1x1024x64"
)
TYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "int8": np.int8}


def parse_shapes(text):
    return [(*[1] * (4 - len(shape)), *shape) for shape in (tuple(map(int, word.split("x"))) for word in text.split())]


def make_model(form, dtype, k, n, weight, path):
    """One product; sizes of inputs are symbolic."""
    kind = {"f32": TensorProto.FLOAT, "bf16": TensorProto.BFLOAT16, "int8": TensorProto.INT8}[dtype]
    is_weight, outer = form == "weight", [] if form == "weight" else ["b"]
    info, nodes = helper.make_tensor_value_info, []
    a = info("a", kind, outer + ["m", k if is_weight else "k"])
    b = info("b", kind, outer + (["n", "k"] if form == "transposed" else ["k", "n"]))
    right = "b"
    if form == "transposed":
        nodes.append(helper.make_node("Transpose", ["b"], ["right"], perm=[0, 2, 1]))
        right = "right"
    nodes.append(helper.make_node("MatMulInteger" if dtype == "int8" else "MatMul", ["a", right], ["c"]))
    result = info("c", TensorProto.INT32 if dtype == "int8" else kind, outer + ["m", n if is_weight else "n"])
    initializers = [numpy_helper.from_array(weight, "b")] if is_weight else []
    graph = helper.make_graph(nodes, "product", [a] if is_weight else [a, b], [result], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)


class Product:
    """One shape in one form: its operands, and functions that compute it."""

    def __init__(self, form, dtype, shape, folder):
        self.form, self.dtype, self.shape, self.folder = form, dtype, shape, folder
        batch, m, k, n = shape
        outer = () if form == "weight" else (batch,)

        def draw(which, *sizes):
            # The same weight for all numbers of rows; another matrix than A of these sizes.
            generator = np.random.default_rng((which, *sizes))
            if dtype == "int8":
                return generator.integers(-128, 128, outer + sizes, np.int8)
            return generator.standard_normal(outer + sizes, dtype=np.float32).astype(TYPES[dtype])

        self.a, self.b = draw(0, m, k), draw(1, n, k) if form == "transposed" else draw(1, k, n)

    def expect(self):
        right = np.swapaxes(self.b, -1, -2) if self.form == "transposed" else self.b
        return self.a.astype("f8") @ right.astype("f8")

    def check(self, result, name):
        expected = self.expect()
        allowed = {"f32": 1e-5, "bf16": 1e-2, "int8": 0}[self.dtype] * math.sqrt(self.shape[2]) * 8
        error = np.abs(np.asarray(result).astype("f8").reshape(expected.shape) - expected).max(initial=0)
        assert error <= allowed, (name, self.form, self.dtype, self.shape, error)

    def prepare_freestone(self, target, threads, options):
        _, _, k, n = self.shape
        name = f"{self.form}-{self.dtype}" + (f"-{k}x{n}" if self.form == "weight" else "")
        model, artifact = f"{self.folder}/{name}.onnx", f"{self.folder}/{name}.{target}.stone"
        if not os.path.exists(artifact):
            make_model(self.form, self.dtype, k, n, self.b, model)
            freestone_runtime.compile_model(model, artifact, "--target", target, *options)
        loaded = freestone_runtime.Model(artifact, threads)
        self.check(loaded.run({"a": self.a} if self.form == "weight" else {"a": self.a, "b": self.b})[0], target)
        return loaded.run_bound

    def prepare_torch(self):
        import torch

        def read(array):
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16) if self.dtype == "bf16" else torch.from_numpy(array)

        a, b = read(self.a), read(self.b)
        right = b.transpose(-1, -2) if self.form == "transposed" else b
        if self.dtype == "int8":
            if self.form != "weight" and self.shape[0] > 1:
                return None
            a, right = a.reshape(a.shape[-2:]), right.reshape(right.shape[-2:])
            run = lambda: torch._int_mm(a, right)
        elif self.form == "weight":
            linear = torch.nn.Linear(b.shape[0], b.shape[1], bias=False, dtype=b.dtype)
            linear.weight.data = b.t().contiguous()
            from torch.utils import mkldnn

            packed = mkldnn.to_mkldnn(linear.eval(), dtype=b.dtype)
            run = lambda: packed(a)
        else:
            c = torch.empty(*a.shape[:-1], right.shape[-1], dtype=a.dtype)
            run = lambda: torch.matmul(a, right, out=c)

        def without_gradients():
            with torch.no_grad():
                return run()

        self.check(without_gradients().float().numpy() if self.dtype != "int8" else without_gradients().numpy(), "torch")
        return without_gradients

    def prepare_numpy(self):
        if self.dtype != "f32":
            return None
        right = np.swapaxes(self.b, -1, -2) if self.form == "transposed" else self.b
        c = np.empty((*self.a.shape[:-1], right.shape[-1]), np.float32)
        return lambda: np.matmul(self.a, right, out=c)


def measure(runs, seconds, clock):
    """The least time of each, in turns; short runs are repeated, so that a turn is measured in microseconds."""
    repeats, least = {}, dict.fromkeys(runs, np.inf)
    for name, run in runs.items():
        start = time.perf_counter()
        run()
        run()
        repeats[name] = max(1, min(1000, int(1e-3 / max(1e-9, time.perf_counter() - start))))
    end = time.perf_counter() + seconds
    turns = 0
    while time.perf_counter() < end or turns < 3:
        turns += 1
        for name, run in runs.items():
            run()
            start = clock()
            for _ in range(repeats[name]):
                run()
            least[name] = min(least[name], (clock() - start) / repeats[name])
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--form", nargs="+", default=["weight", "inputs", "transposed"])
    parser.add_argument("--dtype", nargs="+", default=["f32"], choices=TYPES)
    parser.add_argument("--shapes", default=f"{SQUARES} {ODD}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--avx2", action="store_true", help="hold the peers to AVX2")
    parser.add_argument("--targets", nargs="+", default=["host", "x86-64-v3"])
    parser.add_argument("--seconds", type=float, default=0.5, help="for each row")
    parser.add_argument("--folder", help="where models and artifacts are kept")
    parser.add_argument("--options", default="", help="of `freestone compile`")
    arguments = parser.parse_args()
    held = {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "OPENBLAS_CORETYPE": "Haswell"}
    settings = {"OPENBLAS_NUM_THREADS": str(arguments.threads)} | (held if arguments.avx2 else {})
    if not settings.items() <= os.environ.items():
        # Libraries read them while they are loaded.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})
    import torch

    torch.set_num_threads(arguments.threads)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    clock = time.process_time if arguments.threads == 1 else time.perf_counter
    command = [freestone_runtime.build_folder() / "bin" / "freestone-peak"]
    if arguments.folder:
        pathlib.Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for dtype in arguments.dtype:
            for form in arguments.form:
                ratios = {target: [] for target in arguments.targets}
                print(f"\n{dtype}, {form}, GFLOP/s\n\n| shape | torch | numpy | peak |", " | ".join(f"{t} | ratio" for t in ratios), "|")
                print("|---" * (4 + 2 * len(ratios)) + "|")
                for shape in parse_shapes(arguments.shapes):
                    if form == "weight" and shape[0] > 1:
                        continue
                    product = Product(form, dtype, shape, arguments.folder or place)
                    runs = {t: product.prepare_freestone(t, arguments.threads, arguments.options.split()) for t in ratios}
                    runs |= {"torch": product.prepare_torch(), "numpy": product.prepare_numpy()}
                    runs = {name: run for name, run in runs.items() if run}
                    least = measure(runs, arguments.seconds, clock)
                    best = min((least[name] for name in ("torch", "numpy") if name in least), default=math.nan)
                    speed = {name: f"{2e-9 * math.prod(shape) / seconds:.1f}" for name, seconds in least.items()}
                    peak = subprocess.check_output(command, text=True).split()[0] if math.prod(shape) > 1e8 else ""
                    cells = ["x".join(map(str, shape[shape[0] == 1 :])), speed.get("torch", ""), speed.get("numpy", ""), peak]
                    for target in ratios:
                        ratios[target].append(least[target] / best)
                        cells += [speed[target], f"{least[target] / best:.2f}"]
                    print("|", " | ".join(cells), "|", flush=True)
                for target, of in ratios.items():
                    of = [ratio for ratio in of if not math.isnan(ratio)]
                    if of:
                        print(f"{target}: geometric mean {statistics.geometric_mean(of):.2f}, worst {max(of):.2f}", flush=True)


if __name__ == "__main__":
    main()
