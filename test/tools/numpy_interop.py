"""Files of numpy are read by the command, and vice versa: numpy_interop.py FREESTONE.

FREESTONE has the scripted compiler, whose interpreter returns its input.
"""

import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
from onnx import numpy_helper

TYPES = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ?".split()
SHAPES = [(), (1,), (0, 3), (4, 5), (2, 1, 3, 4)]


def through(freestone, folder, source):
    """Sends a tensor file through the command; returns it as read back from .npy and from .npz."""
    command = [
        freestone,
        "run",
        folder / "model.onnx",
        "--interpret",
        "--input",
        source,
        "--output",
        folder / "out.npy",
        "--outputs",
        folder / "out.npz",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with np.load(folder / "out.npz") as archive:
        return np.load(folder / "out.npy"), archive["y"]


def arrays():
    generator = np.random.default_rng(1)
    for shape in SHAPES:
        for code in TYPES:
            yield (generator.random(shape) * 200).astype(code)
        yield (generator.random(shape) * 200).astype(ml_dtypes.bfloat16)
    yield np.asfortranarray(generator.random((3, 4, 5)))
    yield generator.integers(-(2**60), 2**60, (3, 4)).astype(">i8")


def main():
    freestone = sys.argv[1]
    count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model.onnx").write_text("reverse\n")
        for array in arrays():
            native = array.astype(array.dtype.newbyteorder("="), order="C")
            np.save(folder / "in.npy", array)
            (folder / "in.pb").write_bytes(numpy_helper.from_array(native, "x").SerializeToString())
            np.savez(folder / "stored.npz", x=array)
            np.savez_compressed(folder / "deflated.npz", x=array)
            for source in ("in.npy", "in.pb", "stored.npz", "deflated.npz"):
                for result in through(freestone, folder, folder / source):
                    # numpy reads bf16 back as two opaque bytes.
                    if array.dtype == ml_dtypes.bfloat16:
                        result = result.view(ml_dtypes.bfloat16)
                    np.testing.assert_array_equal(result, native)
                    assert result.dtype == native.dtype and result.shape == array.shape, (
                        result.dtype,
                        result.shape,
                        source,
                    )
                count += 1
    print(f"{count} files went through unchanged")


if __name__ == "__main__":
    main()
