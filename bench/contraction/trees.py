"""Plans of contractions and others, as text (compiler/dialect/tile/README.md)."""

import re


def get_leaves(plan):
    """The trees and forms of a plan: itself, or those that it chooses from."""
    leaves, end = [], 0
    for found in re.finditer(r"#tile\.(?:tree|convolution|window|map|rows)<", plan):
        if found.start() >= end:
            end, depth = found.end(), 1
            while depth:
                depth += {"<": 1, ">": -1}.get(plan[end], 0)
                end += 1
            leaves.append(plan[found.start() : end])
    return leaves


def with_sizes(tree, height, blocks, panels, depth):
    """At most so many blocks of the micro-kernel's rows, panels together, and steps of a block of the reduced axis."""
    edits = (
        (r"share = <[^>]*>", f"share = <elements = {1 << 30}, most_rows = {blocks * height}, least_tiles = 1>"),
        (r"(axis = 2, step = \d+, dealt = true)(, together = \d+)?", rf"\g<1>, together = {panels}"),
        (r"axis = 3, step = \d+", f"axis = 3, step = {depth}"),
    )
    for pattern, text in edits:
        tree, count = re.subn(pattern, text, tree)
        assert count == 1, (pattern, tree)
    return tree
