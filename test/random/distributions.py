"""The distributions of what compiled programs draw: distributions.py FOLDER; the environment names the build.

Seeds are fixed, so that the test gives the same result every time. Every bound is such that the right distribution exceeds it
with a probability below 1e-7: six standard deviations of what is close to normal are 2e-9, 3 / √n of Kolmogorov and Smirnov's
distance 3e-8.
"""

import math
import pathlib
import sys

import numpy as np

from drawing import BFLOAT, DOUBLE, FLOAT, HALF, draw, uniform

COUNT = 10_000_000
DEVIATIONS = 6


def expect_moments(name, numbers, moments):
    """Means of the first four powers; `moments` are the first eight of the distribution."""
    power = np.ones_like(numbers)
    for order in range(1, 5):
        power *= numbers
        allowed = DEVIATIONS * math.sqrt((moments[2 * order - 1] - moments[order - 1]**2) / len(numbers))
        assert abs(power.mean() - moments[order - 1]) < allowed, (name, order, power.mean())


def expect_independence(name, centred):
    """No correlation at distances of up to two blocks of the generator."""
    variance = np.mean(np.square(centred))
    for distance in range(1, 9):
        correlation = np.mean(centred[distance:] * centred[:-distance]) / variance
        assert abs(correlation) < DEVIATIONS / math.sqrt(len(centred)), (name, distance, correlation)


def expect_distribution(name, numbers, cumulative):
    """The Kolmogorov-Smirnov distance, at every hundredth number: in between it grows by at most 100 / n."""
    step = 100
    at = np.sort(numbers)[step - 1::step]
    rank = np.arange(step, len(numbers) + 1, step) / len(numbers)
    distance = np.abs(cumulative(at) - rank).max() + step / len(numbers)
    assert distance < 3 / math.sqrt(len(numbers)), (name, distance)


def normal_cumulative(at):
    return np.fromiter((0.5 * math.erfc(-x / math.sqrt(2)) for x in at), np.float64, len(at))


def check_wide(folder):
    for dtype in (FLOAT, DOUBLE):
        numbers = draw(folder, "RandomUniform", dtype, COUNT).astype(np.float64)
        expect_moments(("uniform", dtype), numbers, [1 / (order + 1) for order in range(1, 9)])
        expect_independence(("uniform", dtype), numbers - 0.5)
        expect_distribution(("uniform", dtype), numbers, lambda at: at)
        numbers = draw(folder, "RandomNormal", dtype, COUNT).astype(np.float64)
        expect_moments(("normal", dtype), numbers, [0, 1, 0, 3, 0, 15, 0, 105])
        expect_independence(("normal", dtype), numbers)
        expect_distribution(("normal", dtype), numbers, normal_cumulative)


def check_narrow(folder):
    """χ² over the numbers of the type, rare ones together: their frequencies are those of the fractions k / 2^24 that round to them."""
    fractions = np.arange(1 << 24) * 2.0**-24
    for dtype in (BFLOAT, HALF):
        for low, high in ((0.0, 1.0), (-1.0, 3.0)):
            values, expected = np.unique(uniform(fractions, low, high, dtype), return_counts=True)
            numbers = draw(folder, "RandomUniform", dtype, COUNT // 5, low=low, high=high).astype(np.float64)
            places = np.searchsorted(values, numbers)
            assert np.array_equal(values[np.minimum(places, len(values) - 1)], numbers), (dtype, "other numbers")
            counts = np.bincount(places, minlength=len(values)).astype(np.float64)
            expected = expected * (len(numbers) / len(fractions))
            rare = expected < 50
            counts = np.append(counts[~rare], counts[rare].sum())
            expected = np.append(expected[~rare], expected[rare].sum())
            statistic = np.sum(np.square(counts - expected) / expected)
            freedom = len(expected) - 1
            # Wilson-Hilferty: the cube root of χ² / degrees of freedom is approximately normal.
            spread = math.sqrt(2 / (9 * freedom))
            assert abs((statistic / freedom)**(1 / 3) - (1 - spread**2)) < DEVIATIONS * spread, (dtype, low, statistic, freedom)


def main():
    folder = pathlib.Path(sys.argv[1])
    check_wide(folder)
    check_narrow(folder)


main()
