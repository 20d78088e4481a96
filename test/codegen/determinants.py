"""Determinants against numpy's in f64: determinants.py FOLDER.

Several columns are eliminated in a step: of matrices with fewer, with whole steps, and with a rest; singular ones,
permutations, and those whose pivots are never where they begin. For AVX-512 where the machine has it, and AVX2.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import onnx
from targets import distinct

TYPES = {"float": (np.float32, 3e-6), "double": (np.float64, 1e-13)}


def compile_model(folder, dtype, shape, target):
    folder.mkdir(parents=True, exist_ok=True)
    batch = shape.rsplit(",", 2)[0]
    onnx.save(onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 22]>
        g ({dtype}[{shape}] x) => ({dtype}[{batch}] y) {{ y = Det(x) }}"""), folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone", "--target", target)
    return freestone_runtime.Model(folder / "m.stone", 2)


def make_matrices(generator, n):
    x = generator.standard_normal((6, n, n))
    x[1] = 0
    x[2] = np.eye(n)[generator.permutation(n)]
    x[3] = np.triu(x[3])[::-1]
    x[4, :, -1] = x[4, :, 0]
    x[5, 0] *= 1e-3
    return x


def check(model, x, tolerance):
    (result,) = model.run({"x": x})
    exact = x.astype(np.float64)
    # Errors are relative to the product of the rows' lengths, which no determinant exceeds.
    bound = np.prod(np.sqrt((exact**2).sum(-1)), -1)
    error = np.abs(result - np.linalg.det(exact))
    assert result.shape == x.shape[:-2] and (error <= tolerance * bound).all(), (x.shape, result, error / bound)


def main():
    folder, generator = pathlib.Path(sys.argv[1]), np.random.default_rng(0)
    for target in distinct("host", "x86-64-v3"):
        for dtype, (numpy_type, tolerance) in TYPES.items():
            for n in (1, 3, 4, 5, 8, 30):
                model = compile_model(folder / target, dtype, f"6,{n},{n}", target)
                check(model, make_matrices(generator, n).astype(numpy_type), tolerance)
                model.close()
            model = compile_model(folder / target, dtype, "a,b,n,n", target)
            for a, b, n in ((1, 1, 1), (2, 3, 2), (1, 6, 4), (2, 2, 7), (0, 2, 3), (2, 1, 0)):
                check(model, generator.standard_normal((a, b, n, n)).astype(numpy_type), tolerance)
            model.close()
        print(f"{target}: determinants are those of numpy")


if __name__ == "__main__":
    sys.exit(main())
