"""Operators that order elements."""

from row import Row, fixed, values

ROWS = [
    Row("TopK", [["64x1000", fixed([5])], ["1024x32000", fixed([5])]], outputs=2),
    Row("TopK", [["64x1000", fixed([100])], ["1024x4096", fixed([256])]], variant="of many", outputs=2),
    Row("TopK", [["64x1024", fixed([1024])], ["1024x1024", fixed([1024])]], variant="of all", outputs=2),
    Row("Unique", [[values("16384", 0, 1000)], [values("1048576", 0, 100000)]], ("int64",), outputs=4),
]
