"""NonMaxSuppression keeps the boxes that a plain loop keeps, on any number of workers: suppression.py FREESTONE.

With no box, few, more than a vector and many; equal scores and equal boxes; corners in any order, and centers; limits
below and above what would be kept; for AVX2 and for this machine.
"""

import sys

import numpy as np
from text_models import check_targets


def corners(boxes, is_center):
    if is_center:
        return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
    return np.concatenate([np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], 1)


def covered(box, others, most):
    common = np.prod(np.maximum(np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2]), 0), 1)
    areas = np.prod(others[:, 2:] - others[:, :2], 1) + np.prod(box[2:] - box[:2])
    with np.errstate(invalid="ignore"):
        return np.any((common > 0) & (common / (areas - common) > most))


def suppress(boxes, scores, limit, most, least, is_center):
    kept = []
    for batch in range(scores.shape[0]):
        sides = corners(boxes[batch], is_center)
        for number, score in enumerate(scores[batch]):
            taken = []
            for place in np.argsort(-score, kind="stable"):
                if len(taken) < limit and score[place] > least and not covered(sides[place], sides[taken], most):
                    taken.append(place)
            kept += [(batch, number, place) for place in taken]
    return np.array(kept, np.int64).reshape(-1, 3)


def check_suppression(tool, random, target):
    for is_center in (0, 1):
        tool.compile("g (float[a, n, 4] b, float[a, c, n] s, int64[1] m, float[1] o, float[1] t) => (int64[k, 3] y) { "
                     f"y = NonMaxSuppression<center_point_box = {is_center}>(b, s, m, o, t) }}", target)
        for batch, classes, count, limit in ((1, 1, 0, 5), (1, 1, 1, 5), (2, 3, 40, 3), (1, 2, 700, 1000), (1, 40, 60, 0)):
            # Multiples of 1/4 are exact, and often the same.
            boxes = random.integers(0, 80, (batch, count, 4)).astype(np.float32) / 4
            scores = random.integers(0, 60, (batch, classes, count)).astype(np.float32) / 64
            most, least = np.float32(0.3), np.float32(0.25)
            inputs = {"b": boxes, "s": scores, "m": np.array([limit]), "o": np.array([most]), "t": np.array([least])}
            tool.expect(inputs, suppress(boxes, scores, limit, most, least, is_center),
                        f"NonMaxSuppression of {batch}x{classes}x{count} boxes for {target}")


check_targets(sys.argv[1], check_suppression)
