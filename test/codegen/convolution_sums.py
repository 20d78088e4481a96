"""The sums of convolutions in fp64, which the tests of their programs compare with."""

import numpy as np


def convolve(x, w, strides, dilations, pads):
    """The sums in fp64 of a convolution without groups."""
    axes = w.ndim - 2
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0)] + [(pads[i], pads[axes + i]) for i in range(axes)])
    sizes = [(padded.shape[2 + i] - dilations[i] * (w.shape[2 + i] - 1) - 1) // strides[i] + 1 for i in range(axes)]
    result = np.zeros((len(x), len(w), *sizes))
    for tap in np.ndindex(*w.shape[2:]):
        part = padded[(..., *(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, sizes, strides)))]
        result += np.einsum("nc...,oc->no...", part, w[(..., *tap)].astype(np.float64))
    return result
