"""Products of what a scan goes along leave it, through `freestone run`, against the interpreter: scans.py FOLDER.

A recurrent cell over no step to many, of batches of any size, with a product of each slice and one of the state; and a
scan whose slices are factors as they are, transposed, and with each other. With `--disable scan-products` nothing
leaves them, and the numbers are the same but for rounding.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import loops
import numpy as np
import onnx

FACTORS = """<ir_version: 9, opset_import: ["": 20]>
factors (float[t, b, 4] x, float[4, 6] w, float[b, 4] y) => (float[b, 6] last, float[t, b, b] squares) {
  zeros = Expand(zero, size)
  last, squares = Scan<num_scan_inputs = 1, body = step (float[b, 6] h, float[b, 4] s) => (float[b, 6] n, float[b, b] q) {
    e = Exp(s) m = Mul(e, y) p = MatMul(m, w) a = Add(h, p) n = Tanh(a)
    r = Transpose<perm = [1, 0]>(s) q = MatMul(m, r)
  }>(zeros, x)
}"""


def factors():
    """FACTORS, whose state begins with zeros."""
    text = FACTORS.replace("zeros = Expand(zero, size)", """
      zero = Constant<value = float {0}>() six = Constant<value = int64[1] {6}>()
      batch = Shape<start = 1, end = 2>(x) size = Concat<axis = 0>(batch, six) zeros = Expand(zero, size)""")
    return onnx.parser.parse_model(text)


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


def feeds_of_cell(steps, batch):
    return {"x": drawn(steps, batch, 8)}


def feeds_of_factors(steps, batch):
    return {"x": drawn(steps, batch, 4) / 2, "w": drawn(4, 6), "y": drawn(batch, 4)}


def run(folder, model, *options):
    command = [freestone_runtime.freestone(), "run", model, "--input", folder / "feeds.npz", "--outputs", folder / "results.npz"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "results.npz") as results:
        return list(results.values())


def check(folder, made, products, feeds):
    model, counted = folder / "model.onnx", []
    onnx.save(made, model)
    for number, options in enumerate(((), ("--disable", "scan-products"))):
        artifact = folder / f"{number}.stone"
        command = [freestone_runtime.freestone(), "compile", "--no-cache", model, "-o", artifact, "--json", *options]
        counted.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["counters"]["scan_products"])
    assert counted == [products, 0], counted
    for steps, batch in ((0, 3), (2, 0), (1, 1), (2, 3), (17, 1), (5, 33)):
        np.savez(folder / "feeds.npz", **feeds(steps, batch))
        expected = run(folder, model, "--interpret")
        for number in range(2):
            for workers in (1, 3):
                for result, value in zip(run(folder, folder / f"{number}.stone", "--threads", str(workers)), expected, strict=True):
                    np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5, err_msg=f"{steps} steps of {batch}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    check(folder, loops.nas_cell(8), 1, feeds_of_cell)
    check(folder, factors(), 2, feeds_of_factors)


if __name__ == "__main__":
    main()
