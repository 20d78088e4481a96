"""Discrete Fourier transforms agree with NumPy's to the precision of floats: transforms.py FREESTONE.

Lengths that have two factors, powers of two or not, and a prime; of real and of complex signals, along the last axis
and others, of all frequencies and of one side, padded and cut.
"""

import sys

import numpy as np
from text_models import check_targets

LENGTHS = (12, 64, 96, 97, 250, 1000)


def close(tool, inputs, expected, what):
    done = tool.run(inputs, 2)
    assert done.returncode == 0, f"{what}: {done.stderr}"
    with np.load(tool.folder / "out.npz") as outputs:
        actual = outputs["y"]
    actual = actual[..., 0] + 1j * actual[..., 1] if actual.shape[-1] == 2 else actual[..., 0]
    assert actual.shape == expected.shape, f"{what}: {actual.shape} instead of {expected.shape}"
    error = np.abs(actual - expected).max() / np.abs(expected).max()
    assert error < 1e-6, f"{what}: differs by {error:.1e}"


def check_transforms(tool, random, target):
    for length in LENGTHS:
        for parts, axis, onesided in ((1, 1, 1), (1, 2, 0), (2, 1, 0)):
            shape = [3, length, 5, parts] if axis == 1 else [3, 5, length, parts]
            text = ", ".join(map(str, shape))
            tool.compile(f"g (float[{text}] x) => (float[p, q, r, s] y) <int64 a = {{{axis}}}> "
                         f"{{ y = DFT<onesided = {onesided}>(x, , a) }}", target)
            x = random.standard_normal(shape).astype("float32")
            signal = x[..., 0] if parts == 1 else x[..., 0] + 1j * x[..., 1].astype("complex128")
            expected = np.fft.rfft(signal, axis=axis) if onesided else np.fft.fft(signal, axis=axis)
            close(tool, {"x": x}, expected, f"DFT of {parts} x {length} along {axis}, onesided {onesided}, for {target}")


def check_fitted(tool, random, target):
    """The length of the transform is not that of the signal."""
    for length in (80, 128):
        tool.compile(f"g (float[4, 100, 1] x) => (float[p, q, r] y) <int64 n = {{{length}}}, int64 a = {{1}}> "
                     "{ y = DFT(x, n, a) }", target)
        x = random.standard_normal((4, 100, 1)).astype("float32")
        close(tool, {"x": x}, np.fft.fft(x[..., 0], length, axis=1), f"DFT of 100 as {length} for {target}")


def check_frames(tool, random, target):
    tool.compile("g (float[2, 1000, 1] x) => (float[p, q, r, s] y) <int64 step = {100}, int64 n = {128}> "
                 "{ y = STFT(x, step, , n) }", target)
    x = random.standard_normal((2, 1000, 1)).astype("float32")
    frames = np.stack([x[:, begin : begin + 128, 0] for begin in range(0, 1000 - 128 + 1, 100)], 1)
    close(tool, {"x": x}, np.fft.rfft(frames, axis=2), f"STFT for {target}")


check_targets(sys.argv[1], check_transforms, check_fitted, check_frames)
